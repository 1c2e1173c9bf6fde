"""Writes windows out in words: "in June 2024", "on 7 May 2023", "between 3 and 9 May 2023"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAY = timedelta(days=1)


class Bounds(Protocol):
    """Anything with a start and an end; None means open."""

    @property
    def start(self) -> datetime | None: ...

    @property
    def end(self) -> datetime | None: ...


def month_name(moment: datetime) -> str:
    """The English month."""
    return _MONTHS[moment.month - 1]


def day_text(moment: datetime) -> str:
    """ "7 May 2023"."""
    return f"{moment.day} {month_name(moment)} {moment.year}"


def clock_text(moment: datetime) -> str:
    """ "17:05"."""
    return f"{moment:%H:%M}" if not moment.second else f"{moment:%H:%M:%S}"


def describe_window(window: Bounds) -> str:
    """A window as an adverbial of time, for text that is embedded or shown."""
    start, end = window.start, window.end
    if start is None and end is None:
        return "at some time"
    if start is None:
        assert end is not None
        return f"before {moment_text(end)}"
    if end is None:
        return f"since {moment_text(start)}"
    if _is_midnight(start) and _is_midnight(end) and end > start:
        return _describe_days(start, end)
    return _describe_times(start, end)


def moment_text(moment: datetime) -> str:
    """A moment as short as it can be said: "2022", "June 2024", "7 May 2023", "7 May 2023 17:00"."""
    if not _is_midnight(moment):
        return f"{day_text(moment)} {clock_text(moment)}"
    if moment.day == 1 and moment.month == 1:
        return str(moment.year)
    return f"{month_name(moment)} {moment.year}" if moment.day == 1 else day_text(moment)


def _is_midnight(moment: datetime) -> bool:
    return not (moment.hour or moment.minute or moment.second or moment.microsecond)


def _months_between(start: datetime, end: datetime) -> int | None:
    if start.day != 1 or end.day != 1:
        return None
    return (end.year - start.year) * 12 + end.month - start.month


def _describe_days(start: datetime, end: datetime) -> str:
    months = _months_between(start, end)
    if months is not None and months % 12 == 0 and start.month == 1:
        return _describe_years(start.year, end.year - 1)
    if months == 1:
        return f"in {month_name(start)} {start.year}"
    if months is not None:
        return f"between {_shared_year(start, end - _DAY)}"
    last = end - _DAY
    if last <= start:
        return f"on {day_text(start)}"
    return f"between {_shared_days(start, last)}"


def _describe_years(first: int, last: int) -> str:
    if first == last:
        return f"in {first}"
    if last - first == 9 and first % 10 == 0:
        return f"in the {first}s"
    return f"between {first} and {last}"


def _shared_year(first: datetime, last: datetime) -> str:
    if first.year == last.year:
        return f"{month_name(first)} and {month_name(last)} {last.year}"
    return f"{month_name(first)} {first.year} and {month_name(last)} {last.year}"


def _shared_days(first: datetime, last: datetime) -> str:
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} and {day_text(last)}"
    if first.year == last.year:
        return f"{first.day} {month_name(first)} and {day_text(last)}"
    return f"{day_text(first)} and {day_text(last)}"


def _describe_times(start: datetime, end: datetime) -> str:
    if end - start <= timedelta(hours=1):
        return f"on {day_text(start)} at {clock_text(start)}"
    midnight_end = start.date() + _DAY == end.date() and _is_midnight(end)
    if start.date() == end.date() or midnight_end:
        return f"on {day_text(start)} between {clock_text(start)} and {'24:00' if midnight_end else clock_text(end)}"
    return f"between {day_text(start)} {clock_text(start)} and {day_text(end)} {clock_text(end)}"
