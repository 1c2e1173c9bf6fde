"""Times of a fact: when it happened or is to happen, and while it holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from perdure.dates import DateWindow, read_dates, stated_time
from perdure.domain.fact import PLANNED, UNSURE_DATE
from perdure.domain.time import Window
from perdure.ports.extractor import Triple

_YEAR = re.compile(r"\b(?:1\d{3}|20\d\d)\b")
_ANY_TIME = datetime(2100, 1, 1, tzinfo=UTC)
"""Reference for texts without one: dates that name their year read the same against any."""
_DATE_KINDS = frozenset(("date", "range", "datetime", "datetimerange"))
_LONGEST_READ = 2000
_NUMBER = re.compile(r"\d+")
_MOST_NUMBERS = 80


@dataclass(frozen=True, slots=True)
class Timing:
    """When the things a text tells happened or are to happen; `window` is None when it does not say."""

    window: Window | None = None
    planned: bool = False
    """Whether it was still ahead when it was said."""
    sure: bool = True

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of a fact with this timing."""
        return (PLANNED,) * self.planned + (UNSURE_DATE,) * (not self.sure)


def read_timing(text: str, said_at: datetime | None) -> Timing:
    """The time that a text gives for what it tells."""
    read = text[:_LONGEST_READ]
    if _is_table(read):
        return Timing()
    if said_at is None:
        return Timing(_dated_with_year(read))
    stated = stated_time(read, said_at)
    if stated is None:
        return Timing()
    return Timing(_window(stated.window), planned=stated.planned, sure=stated.sure)


def _dated_with_year(text: str) -> Window | None:
    """The first date that names its year; None when there is none."""
    if _YEAR.search(text) is None:
        return None
    for span in read_dates(text, _ANY_TIME):
        if span.kind in _DATE_KINDS and span.window is not None and _YEAR.search(span.text):
            return _window(span.window)
    return None


def _window(window: DateWindow | None) -> Window | None:
    return None if window is None else Window(window.start, window.end)


def _is_table(text: str) -> bool:
    """Whether the text is rows of numbers: they have no one time, and reading each as a date takes long."""
    return sum(1 for _ in _NUMBER.finditer(text)) > _MOST_NUMBERS


def valid_while(triple: Triple | None, timing: Timing | None, said_at: datetime | None) -> Window | None:
    """While a stated relation holds: from when it began, if the text says so for sure and that is past."""
    if triple is None or timing is None or timing.window is None or timing.planned or not timing.sure:
        return None
    if triple.single_valued and said_at is not None and read_timing(triple.object, said_at).window:
        return None  # The date is the value itself: "the launch is on 14 October".
    start = timing.window.start
    if start is None or (said_at is not None and start > said_at):
        return None
    return Window(start) if triple.single_valued else None
