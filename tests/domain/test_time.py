"""Instants given by callers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from perdure.domain.time import AsOf, Window, parse_instant, parse_span, parse_utc
from perdure.errors import InvalidInput


@pytest.mark.parametrize("value", [b"2024-05-01", 5, "yesterday", "", ["2024"], "0001-01-01T00:00:00+25:00"])
def test_what_is_no_instant_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_instant(value, "timestamp")
    assert refused.value.field == "timestamp"


def test_a_window_that_ends_before_it_starts_is_refused_with_its_times() -> None:
    with pytest.raises(InvalidInput, match=r"got '2024-05-02T00:00:00\+00:00 to 2024-05-01T00:00:00\+00:00'"):
        Window(datetime(2024, 5, 2, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC))


def test_bounds_and_moments_without_a_zone_are_utc() -> None:
    naive, aware = datetime(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC)
    assert Window(naive, aware) == Window(aware, aware)
    assert AsOf(valid=naive) == AsOf(valid=aware)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Window("2024"), "window.start"),  # type: ignore[arg-type]
        (lambda: Window(None, 2024), "window.end"),  # type: ignore[arg-type]
        (lambda: AsOf(valid="2024"), "as_of.valid"),  # type: ignore[arg-type]
        (lambda: AsOf(known="2024"), "as_of.known"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_moment_is_refused_by_name(make: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert refused.value.field == field


MAY_2, MAY_3 = datetime(2024, 5, 2, tzinfo=UTC), datetime(2024, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_years_at_the_ends_of_the_calendar_are_refused_where_arithmetic_follows(year: str) -> None:
    assert parse_instant(f"{year}-01-01", "x") is not None
    with pytest.raises(InvalidInput, match="as_of: expected a year from 2 to 9998"):
        parse_utc(f"{year}-01-01", "as_of")


def test_a_span_may_be_open_and_includes_its_last_day() -> None:
    assert parse_span(None, None) is None
    assert parse_span("2024-05-02", None) == Window(MAY_2, None)
    assert parse_span(None, "2024-05-02") == parse_span(None, date(2024, 5, 2)) == Window(None, MAY_3)
    assert parse_span(None, "2024-05-02T00:00") == Window(None, MAY_2)
    assert parse_span("2024-05-02", "9999-12-31") == Window(MAY_2, None)


def test_a_span_that_ends_before_it_starts_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInput, match=r"--since: expected a date not after --until \(2024-01-01\)"):
        parse_span("2025-01-01", "2024-01-01", ("--since", "--until"))
