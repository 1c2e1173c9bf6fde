"""Writes dates out: windows in words, and texts with the resolved date behind each date that was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Protocol

from perdure.dates.calendar import DAY, WEEK, midnight
from perdure.dates.model import DateOptions, DateSpan, DateWindow
from perdure.dates.statement import StatedTime, stated_times

MOST_RESOLVED = 16
"""Dates of one text that are resolved; each costs a reading of its sentence."""
_MONTHS = "January February March April May June July August September October November December".split()
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
_SEASON_NAMES = ("spring", "summer", "autumn", "fall", "winter")
_PARTS = ("morning", "afternoon", "evening", "night", "lunchtime")
_QUARTERS = {1: "first", 4: "second", 7: "third", 10: "fourth"}
_SPOKEN_YEAR = re.compile(r"(?i)\b(?:1[0-9]|20|21)\d\d\b|\d[/.-]\d+[/.-]\d\d|(?:teen|twenty)\s+\w+ty")
_RELATIVE_WORD = re.compile(
    r"(?i)\b(?:last|past|previous|next|this|coming|following|upcoming|ago|later|from|before|after|today|now)\b"
)


class Bounds(Protocol):
    """Anything with a start and an end; None means open."""

    @property
    def start(self) -> datetime | None: ...

    @property
    def end(self) -> datetime | None: ...


def describe_window(window: Bounds) -> str:
    """A window as an adverbial of time: "in June 2024", "on 7 May 2023", "between 3 and 9 May 2023"."""
    start, end = window.start, window.end
    if start is None:
        return "at some time" if end is None else f"before {_moment(end)}"
    if end is None:
        return f"since {_moment(start)}"
    if start == midnight(start) and end == midnight(end) and end > start:
        return _describe_days(start, end)
    return _describe_times(start, end)


def _month(moment: datetime) -> str:
    return f"{_MONTHS[moment.month - 1]} {moment.year}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {_month(moment)}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M}" if not moment.second else f"{moment:%H:%M:%S}"


def _moment(moment: datetime) -> str:
    """A moment as short as it can be said: "2022", "June 2024", "7 May 2023", "7 May 2023 17:00"."""
    if moment != midnight(moment):
        return f"{_day(moment)} {_clock(moment)}"
    if moment.day > 1:
        return _day(moment)
    return _month(moment) if moment.month > 1 else str(moment.year)


def _describe_days(start: datetime, end: datetime) -> str:
    last = end - DAY
    if start.day != 1 or end.day != 1:
        return f"on {_day(start)}" if last <= start else f"between {_pair(start, last, _day)}"
    if start.month == end.month == 1:
        return _describe_years(start.year, end.year - 1)
    months = (end.year - start.year) * 12 + end.month - start.month
    return f"in {_month(start)}" if months == 1 else f"between {_pair(start, last, _month)}"


def _pair(first: datetime, last: datetime, write: Callable[[datetime], str]) -> str:
    """Two days or months, without the month and the year that they share: "3 and 9 May 2023"."""
    early, late = write(first).split(), write(last).split()
    while early and late and early[-1] == late[-1]:
        early.pop()
        late.pop()
    return f"{' '.join(early)} and {write(last)}"


def _describe_years(first: int, last: int) -> str:
    if first == last:
        return f"in {first}"
    return f"in the {first}s" if last - first == 9 and first % 10 == 0 else f"between {first} and {last}"


def _describe_times(start: datetime, end: datetime) -> str:
    if end - start <= timedelta(hours=1):
        return f"on {_day(start)} at {_clock(start)}"
    ends_day = end == midnight(end) and end.date() - start.date() == DAY
    if start.date() == end.date() or ends_day:
        return f"on {_day(start)} between {_clock(start)} and {'24:00' if ends_day else _clock(end)}"
    return f"between {_day(start)} {_clock(start)} and {_day(end)} {_clock(end)}"


def annotate(text: str, reference: datetime, *, options: DateOptions = DateOptions()) -> str:
    """The text with each relative or incomplete date resolved in brackets behind it: "last spring [spring 2026]".

    No word of the text is changed. Quotations, code, addresses and headings get no brackets, nor do dates with their
    year, texts in other languages than English, and dates after the first `MOST_RESOLVED`: that many make a table.
    """
    pieces: list[str] = []
    position = 0
    for stated in islice(stated_times(text, reference, options=options, quotations=False), MOST_RESOLVED):
        words = _resolved(stated)
        if words is not None and stated.language == "en":
            pieces += [text[position : stated.span.end], f" [{words}]"]
            position = stated.span.end
    return "".join([*pieces, text[position:]])


def _resolved(stated: StatedTime) -> str | None:
    """What stands in the brackets; None where the words themselves say it all, or too little."""
    span = stated.span
    if span.text.lower() in _SEASON_NAMES or span.modifier in ("more_than", "less_than"):
        return None
    if _SPOKEN_YEAR.search(span.text) and not _RELATIVE_WORD.search(span.text):
        return None
    start, end = stated.window.start, stated.window.end
    if start is not None and end is not None:
        return _words(span, start, end)
    if start is not None:
        return _moment(start)
    return None if end is None else _moment(end - DAY if end == midnight(end) else end)


def _words(span: DateSpan, start: datetime, end: datetime) -> str:
    """A window in words, named as it was said: a week, a weekend, a season, a morning."""
    if span.kind in ("datetime", "datetimerange"):
        return _timed_words(span, start, end)
    if span.precision == "week" and end - start == WEEK:
        return f"the week of {_day(start)}"
    if span.precision == "weekend":
        return f"the weekend of {_day(start)}"
    if span.precision == "season" and start.month in _SEASONS and span.modifier is None:
        years = str(start.year) if start.month != 12 else f"{start.year}/{(start.year + 1) % 100:02}"
        return f"{_said(span, _SEASON_NAMES) or _SEASONS[start.month]} {years}"
    if span.precision == "quarter" and start.month in _QUARTERS and (end - start).days < 93:
        return f"the {_QUARTERS[start.month]} quarter of {start.year}"
    return _without_preposition(describe_window(DateWindow(start, end)))


def _without_preposition(phrase: str) -> str:
    return phrase.removeprefix("on ").removeprefix("in ")


def _said(span: DateSpan, names: Iterable[str]) -> str | None:
    """The first of some names that a span contains."""
    return next((name for name in names if name in span.text.lower()), None)


def _timed_words(span: DateSpan, start: datetime, end: datetime) -> str:
    part = _said(span, _PARTS) if span.precision == "part_of_day" else None
    if part is not None:
        return f"the {part} of {_day(start)}"
    if span.kind == "datetime" and span.precision in ("hour", "minute", "second"):
        return f"{_day(start)} at {_clock(start)}"
    return _without_preposition(_describe_times(start, end))
