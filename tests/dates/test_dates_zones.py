"""Time zones, changes of the clocks and the edges of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from perdure.dates import read_dates

BERLIN = ZoneInfo("Europe/Berlin")


def window(text: str, reference: datetime) -> tuple[datetime | None, datetime | None]:
    found = read_dates(text, reference)[0].window
    assert found is not None
    return found.start, found.end


def test_naive_is_taken_as_utc_and_aware_comes_out() -> None:
    start, end = window("yesterday", datetime(2023, 6, 14, 10))
    assert (start, end) == (datetime(2023, 6, 13, tzinfo=UTC), datetime(2023, 6, 14, tzinfo=UTC))


def test_days_are_days_of_the_reference_zone() -> None:
    start, end = window("today", datetime(2023, 6, 14, 0, 30, tzinfo=BERLIN))
    assert start == datetime(2023, 6, 13, 22, tzinfo=UTC)
    assert end == datetime(2023, 6, 14, 22, tzinfo=UTC)


def test_a_day_with_a_change_of_clocks_has_its_real_length() -> None:
    start, end = window("yesterday", datetime(2023, 3, 27, 12, tzinfo=BERLIN))
    assert start is not None
    assert end is not None
    assert end.astimezone(UTC) - start.astimezone(UTC) == timedelta(hours=23)


def test_hours_ago_are_elapsed_hours() -> None:
    start, _ = window("5 hours ago", datetime(2023, 3, 26, 6, tzinfo=BERLIN))
    assert start is not None
    assert start.astimezone(UTC) == datetime(2023, 3, 25, 23, tzinfo=UTC)


def test_leap_days() -> None:
    span = read_dates("on February 29", datetime(2023, 6, 14))[0]
    assert [value.start for value in span.values] == [
        datetime(2020, 2, 29, tzinfo=UTC),
        datetime(2024, 2, 29, tzinfo=UTC),
    ]
    assert window("a year ago", datetime(2024, 2, 29))[0] == datetime(2023, 1, 1, tzinfo=UTC)
    assert window("one month from 31 January 2023", datetime(2024, 2, 29))[0] == datetime(
        2023, 2, 28, tzinfo=UTC
    )


@pytest.mark.parametrize("reference", [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59)])
def test_the_edges_of_the_calendar_do_not_fail(reference: datetime) -> None:
    for text in (
        "yesterday",
        "tomorrow",
        "last century",
        "next decade",
        "in 3 hours",
        "100 years ago",
        "next Friday",
        "in March",
    ):
        for span in read_dates(text, reference):
            assert span.text


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="language"):
        read_dates("yesterday", datetime(2023, 1, 1), language="xx")
