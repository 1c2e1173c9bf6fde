"""Items to retain: what is refused, and by which name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.item import Item
from perdure.errors import InvalidInput

EARLY, LATE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"tags": frozenset({"a", ""})}, "tags"),
        ({"tags": frozenset({" \t"})}, "tags"),
        ({"tags": "ab"}, "tags"),
        ({"document_id": " "}, "document_id"),
        ({"document_id": ""}, "document_id"),
        ({"valid_from": LATE, "valid_to": EARLY}, "valid_to"),
        ({"valid_from": LATE, "valid_to": EARLY.replace(tzinfo=None)}, "valid_to"),
        ({"valid_from": "in spring"}, "valid_from"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Item(content="x", **fields)
    assert refused.value.field == named


def test_what_is_true_for_a_moment_is_taken() -> None:
    assert (
        Item(content="x", valid_from=LATE, valid_to=LATE, document_id="d", tags=frozenset({"a"})).valid_to
        == LATE
    )
