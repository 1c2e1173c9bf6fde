"""Schedules in the five fields of cron, in UTC."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from perdure.errors import InvalidInput

_MONTHS = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_DAYS = {name: number for number, name in enumerate("sun mon tue wed thu fri sat".split())}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
)
_YEARS = 40
"""The longest gap, in years, between two leap days on the same weekday."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed schedule."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Sunday is 0."""
    either_day: bool
    """Whether one match of day of month and day of week suffices: POSIX, if both are restricted."""

    @staticmethod
    def read(expression: str, field: str = "cron") -> Cron:
        """Parse `minute hour day-of-month month day-of-week`, with lists, ranges, steps and names."""
        parts = expression.split() if isinstance(expression, str) else []
        if len(parts) != len(_FIELDS):
            raise InvalidInput(field, "five fields: minute hour day month weekday", expression)
        values = [
            _read_field(part, low, high, names, f"{field} ({name})")
            for part, (name, low, high, names) in zip(parts, _FIELDS, strict=True)
        ]
        cron = Cron(
            values[0],
            values[1],
            values[2],
            values[3],
            frozenset(day % 7 for day in values[4]),
            not parts[2].startswith("*") and not parts[4].startswith("*"),
        )
        if not cron.either_day and all(cron._first_day(month) is None for month in cron.months):
            raise InvalidInput(field, "a day that one of its months has", expression)
        return cron

    def next_after(self, moment: datetime) -> datetime:
        """Return the first moment of the schedule after this one."""
        start = moment.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        day = start.replace(hour=0, minute=0)
        for _ in range(_YEARS * 366 + 1):
            if self._is_day(day):
                for hour in sorted(self.hours):
                    for minute in sorted(self.minutes):
                        if (at := day.replace(hour=hour, minute=minute)) >= start:
                            return at
            day += timedelta(days=1)
        raise ValueError("a schedule that was read has a moment within forty years")

    def _is_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, (day.weekday() + 1) % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week

    def _first_day(self, month: int) -> int | None:
        longest = calendar.monthrange(2000, month)[1]
        return min((day for day in self.days if day <= longest), default=None)


def _read_field(text: str, low: int, high: int, names: dict[str, int], field: str) -> frozenset[int]:
    chosen: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = _read_number(step_text, 1, high, {}, field) if slash else 1
        if span == "*":
            first, last = low, high
        else:
            start, dash, end = span.partition("-")
            first = _read_number(start, low, high, names, field)
            last = _read_number(end, low, high, names, field) if dash else (high if slash else first)
        if first > last:
            raise InvalidInput(field, "a range that does not run backwards", part)
        chosen.update(range(first, last + 1, step))
    return frozenset(chosen)


def _read_number(text: str, low: int, high: int, names: dict[str, int], field: str) -> int:
    value = names.get(text.lower())
    if value is None and text.isascii() and text.isdigit():
        value = int(text)
    if value is None or not low <= value <= high:
        raise InvalidInput(field, f"a number from {low} to {high}", text)
    return value
