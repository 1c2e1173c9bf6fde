"""Instants given by callers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.time import AsOf, Window, parse_instant
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
