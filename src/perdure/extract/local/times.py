"""Times of a statement: when what it tells happened or is to happen, and which dates its words mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from perdure.dates import DateWindow, StatedTime, read_dates, stated_times
from perdure.domain.fact import PLANNED, UNSURE_DATE
from perdure.domain.time import Window

_YEAR = re.compile(r"\b(?:1\d{3}|20\d\d)\b")
_ANY_TIME = datetime(2100, 1, 1, tzinfo=UTC)
"""Reference for texts without one: dates that name their year read the same against any."""
_DATE_KINDS = frozenset(("date", "range", "datetime", "datetimerange"))
_LONGEST_READ = 2000
_NUMBER = re.compile(r"\d+")
_MOST_NUMBERS = 80
_MOST_DATES = 16
"""Dates of one text that are resolved; each costs a reading of its sentence."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Timing:
    """When the things a text tells happened or are to happen; `window` is None when it does not say."""

    window: Window | None = None
    planned: bool = False
    """Whether it was still ahead when it was said."""
    sure: bool = True
    dates: tuple[tuple[str, str], ...] = ()
    """Words of the text and the date that they mean, where they do not say it in full themselves."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the flags of a fact with this timing."""
        return (PLANNED,) * self.planned + (UNSURE_DATE,) * (not self.sure)


def read_timing(text: str, said_at: datetime | None) -> Timing:
    """Return the time that a text gives for what it tells."""
    read = text[:_LONGEST_READ]
    if sum(1 for _ in _NUMBER.finditer(read)) > _MOST_NUMBERS:
        return Timing()  # Rows of numbers have no one time, and reading each as a date takes long.
    if said_at is None:
        return Timing(_dated_with_year(read))
    stated = list(islice(stated_times(read, said_at), _MOST_DATES))
    if not stated:
        return Timing()
    first = stated[0]
    return Timing(
        _window(first.window),
        planned=first.planned,
        sure=first.sure,
        dates=tuple((one.span.text, meant) for one in stated if one.sure and (meant := _meant(one))),
    )


def _meant(stated: StatedTime) -> str:
    """Return the date in figures; empty where the words give their year and are no reference to another date."""
    window, words = stated.window, stated.span.text
    if _YEAR.search(words) and window.start is not None and str(window.start.year) in words:
        return ""
    if window.start is None:
        return "" if window.end is None else f"until {_figures(window.end - _DAY)}"
    if window.end is None:
        return f"since {_figures(window.start)}"
    return _span(window.start, window.end)


def _span(start: datetime, end: datetime) -> str:
    midnight = (start.hour, start.minute, end.hour, end.minute) == (0, 0, 0, 0)
    if not midnight:
        return f"{_figures(start)} {start:%H:%M}"
    if end - start <= _DAY:
        return _figures(start)
    if start.day == end.day == 1:
        months = (end.year - start.year) * 12 + end.month - start.month
        if months == 1:
            return f"{start:%Y-%m}"
        if months == 12 and start.month == 1:
            return f"{start:%Y}"
    return f"{_figures(start)} to {_figures(end - _DAY)}"


def _figures(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _dated_with_year(text: str) -> Window | None:
    """Return the first date that names its year; None when there is none."""
    if _YEAR.search(text) is None:
        return None
    for span in read_dates(text, _ANY_TIME):
        if span.kind in _DATE_KINDS and span.window is not None and _YEAR.search(span.text):
            return _window(span.window)
    return None


def _window(window: DateWindow | None) -> Window | None:
    return None if window is None else Window(window.start, window.end)
