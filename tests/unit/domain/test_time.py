"""Instants given by callers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.time import Window, parse_instant
from perdure.errors import InvalidInput


@pytest.mark.parametrize("value", [b"2024-05-01", 5, "yesterday", "", ["2024"], "0001-01-01T00:00:00+25:00"])
def test_what_is_no_instant_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_instant(value, "timestamp")
    assert refused.value.field == "timestamp"


def test_a_window_that_ends_before_it_starts_is_refused_with_its_times() -> None:
    with pytest.raises(InvalidInput, match=r"got '2024-05-02T00:00:00\+00:00 to 2024-05-01T00:00:00\+00:00'"):
        Window(datetime(2024, 5, 2, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC))
