"""Stamps: the date and time that stand before or behind a speaker's name in chats, transcripts and mails.

Numbers such as 05/08/2023 are read by what the whole text shows; where it shows nothing, the stamp has no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import Enum

_MONTH_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari",
    "february feb februar février févr febrero febbraio fevereiro februari",
    "march mar märz mär maerz mars marzo março maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
)
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_WEEKDAYS = (
    "monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun "
    "montag mo dienstag di mittwoch mi donnerstag do freitag fr samstag sonnabend sa sonntag so "
    "lunes martes miércoles jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica"
).split()

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_ISO = r"\d{4}([-/.])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])"
_EAST_ASIAN = r"\d{4}年\s?\d{1,2}月\s?\d{1,2}日(?:\s?\([月火水木金土日一二三四五六]\))?"
_NUMBERS = r"\d{1,2}\s?([./-])\s?\d{1,2}\s?\2\s?(?:\d{4}|\d{2})(?!\d)"
_DAY_MONTH = rf"\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?:{_MONTH})\b\.?,?\s+(?:de\s+|del\s+)?\d{{4}}"
_MONTH_DAY = rf"(?:{_MONTH})\b\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
_DATE = (
    rf"(?:(?:{_WEEKDAY})\b\.?,?\s+)?(?:the\s+)?(?:{_ISO}|{_EAST_ASIAN}|{_NUMBERS}|{_DAY_MONTH}|{_MONTH_DAY})"
)
_ZONE = r"(?:\s?(?:Z|UTC|GMT)?(?:[+-]\d{2}:?\d{2})?)"
_TIME = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,6}})?)?(?:\s?[ap]\.?\s?m\b\.?)?{_ZONE}"
_BETWEEN = r"(?:\s*[,T]\s*|\s+)(?:(?:at|um|à|a\s+las|alle|às|om|·|-|–)\s+)?"
_RELATIVE = r"(?:today|yesterday|heute|gestern|hoy|ayer|aujourd'hui|hier)\s+(?:at|um|a\s+las|à)\s+"


def _unnumbered(pattern: str) -> str:
    """Return the pattern without its groups, so that it can stand inside another one."""
    return pattern.replace(r"([-/.])", r"[-/.]").replace(r"\1", r"[-/.]").replace(r"([./-])", r"[./-]").replace(r"\2", r"[./-]")  # fmt: skip


DATE_PATTERN = f"(?:{_unnumbered(_DATE)})"
STAMP_PATTERN = f"(?:{DATE_PATTERN}{_BETWEEN}{_TIME}|{_TIME}(?:,|\\s+on)?\\s+{DATE_PATTERN}|{DATE_PATTERN}|(?:{_RELATIVE})?{_TIME})"
"""A regular expression without groups; what it matches, `read_stamp` reads. Use with IGNORECASE."""

_READ_TIME = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d{1,6})?)?(?P<half>\s?[ap]\.?\s?m\b\.?)?"
    r"\s?(?:Z|UTC|GMT)?(?P<offset>[+-]\d{2}:?\d{2})?",
    re.IGNORECASE,
)
_READ_ISO = re.compile(r"(?<!\d)(\d{4})[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})(?!\d)")
_READ_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})(?!\d)")
_READ_DAY_MONTH = re.compile(
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?P<month>{_MONTH})\b\.?,?\s+(?:de\s+|del\s+)?(?P<year>\d{{4}})",
    re.IGNORECASE,
)
_READ_MONTH_DAY = re.compile(
    rf"(?P<month>{_MONTH})\b\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})", re.IGNORECASE
)


EARLIEST_YEAR, LATEST_YEAR = 1900, 2200
CLOSER = 5
"""How many times longer a chat must last under the other reading of its dates for the shorter one to be believed."""


class DayOrder(Enum):
    """What the first of two numbers means in a date such as 05/08/2023."""

    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """A date of numbers whose order is still to be decided."""

    first: int
    second: int
    year: int
    separator: str
    padded: bool

    @property
    def shows(self) -> DayOrder:
        """Return what the numbers themselves show: none is a thirteenth month, and dots are a day-first custom."""
        if self.first > 12 >= self.second:
            return DayOrder.DAY_FIRST
        if self.second > 12 >= self.first:
            return DayOrder.MONTH_FIRST
        return DayOrder.DAY_FIRST if self.separator == "." or self.first == self.second else DayOrder.UNSURE

    def on(self, order: DayOrder) -> date | None:
        """Return the day under an order; what the numbers show themselves goes before it."""
        chosen = self.shows if self.shows is not DayOrder.UNSURE else order
        if chosen is DayOrder.UNSURE:
            return None
        day, month = (self.first, self.second) if chosen is DayOrder.DAY_FIRST else (self.second, self.first)
        return _date(self.year, month, day)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A date, a time of day, or both, as written."""

    text: str
    day: date | None = None
    numbers: Numbers | None = None
    clock: time | None = None
    half_day: str = ""
    """`PM` or `pm` as written, of a clock of twelve hours."""

    @property
    def has_date(self) -> bool:
        """Return whether a date is written, readable or not."""
        return self.day is not None or self.numbers is not None

    def moment(self, order: DayOrder, on: date | None = None) -> datetime | None:
        """Return the instant, in UTC unless a zone is written; a time alone needs the day `on`."""
        day = self.day or (self.numbers.on(order) if self.numbers else None) or on
        if day is None:
            return None
        clock = self.clock or time(0, 0, tzinfo=UTC)
        return datetime.combine(day, clock)


def read_stamp(text: str) -> Stamp | None:
    """Return what a text that `STAMP_PATTERN` matches says; None if it is no date or time of the calendar."""
    clock_match = _READ_TIME.search(text)
    clock = _clock(clock_match) if clock_match else None
    if clock_match and clock is None:
        return None
    half = (clock_match["half"] or "").strip() if clock_match else ""
    rest = text[: clock_match.start()] + " " + text[clock_match.end() :] if clock_match else text
    if iso := _READ_ISO.search(rest):
        day = _date(int(iso[1]), int(iso[2]), int(iso[3]))
        return Stamp(text=text, day=day, clock=clock, half_day=half) if day else None
    if named := _READ_DAY_MONTH.search(rest) or _READ_MONTH_DAY.search(rest):
        day = _date(int(named["year"]), MONTHS[named["month"].lower()], int(named["day"]))
        return Stamp(text=text, day=day, clock=clock, half_day=half) if day else None
    if match := _READ_NUMBERS.search(rest):
        numbers = Numbers(
            first=int(match[1]),
            second=int(match[3]),
            year=int(match[4]) + (2000 if len(match[4]) == 2 else 0),
            separator=match[2],
            padded=match[1].startswith("0") or match[3].startswith("0"),
        )
        possible = any(numbers.on(order) for order in (DayOrder.DAY_FIRST, DayOrder.MONTH_FIRST))
        return Stamp(text=text, numbers=numbers, clock=clock, half_day=half) if possible else None
    return Stamp(text=text, clock=clock, half_day=half) if clock else None


def decide_day_order(stamps: Iterable[Stamp]) -> DayOrder:
    """Day or month first, by what all stamps of a text show together.

    A number above 12 decides; else the order in which the dates run on; else the customs of the clock: `2:14 PM` beside
    numbers without a leading zero is written where the month comes first, a clock of 24 hours where the day does. Dates
    without a time that run on either way stay unsure.
    """
    dated = [stamp for stamp in stamps if stamp.numbers is not None and stamp.numbers.separator != "."]
    numbers = [stamp.numbers for stamp in dated if stamp.numbers is not None]
    evident = {one.shows for one in numbers if one.first != one.second} - {DayOrder.UNSURE}
    if len(evident) == 1:
        return evident.pop()
    if evident or not numbers:
        return DayOrder.UNSURE
    by_order = _order_of_running_on(numbers)
    return _custom_of_the_clock(dated) if by_order is DayOrder.UNSURE else by_order


def _order_of_running_on(numbers: Sequence[Numbers]) -> DayOrder:
    """Return the reading under which the dates never go back, or, of three days or more, lie much closer together."""
    readings = {
        order: [day for one in numbers if (day := one.on(order)) is not None]
        for order in (DayOrder.DAY_FIRST, DayOrder.MONTH_FIRST)
    }
    running = [order for order, days in readings.items() if days == sorted(days)]
    if len(running) != 2:
        return running[0] if running else DayOrder.UNSURE
    spans = {order: (days[-1] - days[0]).days for order, days in readings.items()}
    closest, widest = sorted(running, key=lambda order: spans[order])
    several = len(set(readings[closest])) >= 3
    return closest if several and spans[widest] >= CLOSER * spans[closest] else DayOrder.UNSURE


def _custom_of_the_clock(stamps: Sequence[Stamp]) -> DayOrder:
    timed = [stamp for stamp in stamps if stamp.clock is not None and stamp.numbers is not None]
    if not timed:
        return DayOrder.UNSURE
    american = all(
        stamp.half_day.isupper() and stamp.numbers is not None and not stamp.numbers.padded for stamp in timed
    )
    if american:
        return DayOrder.MONTH_FIRST
    return DayOrder.UNSURE if any(stamp.half_day.isupper() for stamp in timed) else DayOrder.DAY_FIRST


def _date(year: int, month: int, day: int) -> date | None:
    """Return the day, if the calendar has it and people could have written it into a chat or a mail."""
    try:
        return date(year, month, day) if EARLIEST_YEAR <= year <= LATEST_YEAR else None
    except ValueError:
        return None


def _clock(match: re.Match[str]) -> time | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    half = (match["half"] or "").strip().lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return time(hour, minute, second, tzinfo=_zone(match["offset"]))


def _zone(offset: str | None) -> timezone:
    if not offset:
        return UTC
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(sign * away) if away < timedelta(hours=24) else UTC
