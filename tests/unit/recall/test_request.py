"""What a recall may be asked for: moments without a time zone are UTC, other things are refused by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.fact import Tier
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput
from perdure.recall.request import RecallRequest, read_as_of, read_strings, read_tags, read_tier

NAIVE = datetime(2024, 5, 1)
AWARE = datetime(2024, 5, 1, tzinfo=UTC)


def test_moments_without_a_zone_are_utc() -> None:
    asked = RecallRequest(
        bank="b", query="x", during=Window(NAIVE, None), temporal_window=Window(None, NAIVE), asked_at=NAIVE
    )
    assert asked.during == Window(AWARE, None)
    assert asked.temporal_window == Window(None, AWARE)
    assert asked.asked_at == AWARE
    assert read_as_of(AsOf(valid=NAIVE)) == AsOf(valid=AWARE)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"during": (AWARE, AWARE)}, "during"),
        ({"temporal_window": "2024"}, "temporal_window"),
        ({"asked_at": "2024"}, "query_timestamp"),
    ],
)
def test_what_is_no_time_or_no_list_is_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RecallRequest(bank="b", query="x", **options)
    assert caught.value.field == field


def test_tags_are_a_list() -> None:
    with pytest.raises(InvalidInput, match="tags"):
        read_tags("work", "any", None)
    with pytest.raises(InvalidInput, match="as_of"):
        read_as_of(AsOf(valid="2024"))  # type: ignore[arg-type]


def test_strings_come_in_lists_and_tiers_by_name() -> None:
    assert read_strings("document_ids", ["d1"]) == ("d1",)
    for given in ("d1", [1]):
        with pytest.raises(InvalidInput, match="document_ids"):
            read_strings("document_ids", given)  # type: ignore[arg-type]
    assert read_tier("core") is Tier.CORE
    with pytest.raises(InvalidInput, match="tier"):
        read_tier("central")
