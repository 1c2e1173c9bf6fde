"""Times of a fact: relative dates made absolute, and when it happened."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from perdure.dates import DateWindow, make_absolute, occurred_window, read_dates
from perdure.domain.time import Window
from perdure.ports.extractor import Triple

_YEAR = re.compile(r"\b(?:1\d{3}|20\d\d)\b")
_ANY_TIME = datetime(2100, 1, 1, tzinfo=UTC)
"""Reference for texts without one: dates that name their year read the same against any."""
_DATE_KINDS = frozenset(("date", "range", "datetime", "datetimerange"))
_LONGEST_READ = 2000
_NUMBER = re.compile(r"\d+")
_MOST_NUMBERS = 80


def with_absolute_dates(text: str, said_at: datetime | None) -> str:
    """The text with "yesterday" as a date; as it is when nobody knows when it was said."""
    if said_at is None or len(text) > _LONGEST_READ or _is_table(text):
        return text
    return make_absolute(text, said_at)


def when(text: str, said_at: datetime | None) -> Window | None:
    """When the things a text tells happened; None when it does not say."""
    read = text[:_LONGEST_READ]
    if _is_table(read):
        return None
    if said_at is not None:
        return _window(occurred_window(read, said_at))
    if _YEAR.search(read) is None:
        return None
    for span in read_dates(read, _ANY_TIME):
        if span.kind in _DATE_KINDS and span.window is not None and _YEAR.search(span.text):
            return _window(span.window)
    return None


def _window(window: DateWindow | None) -> Window | None:
    return None if window is None else Window(window.start, window.end)


def _is_table(text: str) -> bool:
    """Whether the text is rows of numbers: they have no one time, and reading each as a date takes long."""
    return sum(1 for _ in _NUMBER.finditer(text)) > _MOST_NUMBERS


def valid_while(triple: Triple | None, occurred: Window | None, said_at: datetime | None) -> Window | None:
    """While a stated relation holds: from when it began, if the text says so and that is past."""
    if triple is None or occurred is None or occurred.start is None:
        return None
    if said_at is not None and occurred.start > said_at:
        return None
    return Window(occurred.start) if triple.single_valued else None
