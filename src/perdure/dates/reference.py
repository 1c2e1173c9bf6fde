"""The time a text was said, and what days, periods, times and distances are relative to it.

This module knows no words of any language: English readers and the templates of other languages both build with it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

from perdure.dates.calendar import (
    DAY,
    UNIT_MONTHS,
    WEEK,
    add_business_days,
    add_months,
    is_date,
    midnight,
    month_start,
    unit_bounds,
    week_start,
)
from perdure.dates.lexicon import Lexicon
from perdure.dates.model import DateOptions
from perdure.dates.nodes import FINE_UNITS, Alt, Length, Match, Node, Parts, day_node, period_node


class Reference:
    """What a reading depends on besides the text: when it was said, the caller's options, the English word tables."""

    __slots__ = ("lex", "now", "options", "today", "zone")

    def __init__(self, now: datetime, zone: tzinfo, lex: Lexicon, options: DateOptions) -> None:
        self.now = now
        self.today = midnight(now)
        self.zone = zone
        self.lex = lex
        self.options = options

    def calendar_day(self, year: int | None, month: int, day: int) -> Node | None:
        """A day by numbers; without a year its last and its next occurrence; a day such as 30 February has no reading."""
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            return None
        # Eight years reach the next leap day, also over a year such as 1900.
        years = [year] if year is not None else range(self.now.year - 8, self.now.year + 9)
        days = [datetime(each, month, day) for each in years if is_date(each, month, day)]
        shown = "XXXX" if year is None else f"{year:04}"
        days = nearest(days, self.now) if year is None else days
        return day_node(days, f"{shown}-{month:02}-{day:02}", Parts(year, month, day))

    def day_match(self, year: int | None, month: int, day: int, end: int) -> Match | None:
        """A day by numbers as a reader returns it."""
        node = self.calendar_day(year, month, day)
        return None if node is None else (node, end)

    def day_of_month(self, day: int) -> Node:
        """ "The 18th": of the last and the next month that has such a day."""
        months = [add_months(month_start(self.now), step) for step in range(-3, 4)]
        days = [month.replace(day=day) for month in months if is_date(month.year, month.month, day)]
        return day_node(nearest(days, self.now), f"XXXX-XX-{day:02}", Parts(None, None, day))

    def calendar_month(self, year: int | None, month: int) -> Node:
        """A month by numbers; without a year the last and the next one."""
        years = (
            [year]
            if year is not None
            else [self.now.year - (month >= self.now.month), self.now.year + (month < self.now.month)]
        )
        starts = [datetime(each, month, 1) for each in years]
        shown = "XXXX" if year is None else f"{year:04}"
        node = period_node(
            [(start, add_months(start, 1)) for start in starts], "month", f"{shown}-{month:02}"
        )
        node.parts = Parts(year, month, None)
        return node

    def month_in(self, month: int, steps: int) -> Node:
        """ "Last March": the nearest such month that is over; "next": still to come; "this": of this year."""
        now = self.now
        away = 0 if steps == 0 else -(month >= now.month) if steps < 0 else int(month <= now.month)
        return self.calendar_month(now.year + away, month)

    def in_year(self, node: Node, year: int) -> Node:
        """The same day or month in a given year."""
        assert node.parts is not None
        assert node.parts.month is not None
        if node.parts.day is None:
            return self.calendar_month(year, node.parts.month)
        return self.calendar_day(year, node.parts.month, node.parts.day) or node

    def weekday_in_week(self, weekday: int, weeks: int) -> Node:
        """A weekday of the week `weeks` away."""
        return day_node([week_start(self.now) + WEEK * weeks + DAY * weekday])

    def plain_weekday(self, weekday: int) -> Node:
        """The last and the next such day; today counts as the next."""
        future = self.today + DAY * ((weekday - self.now.weekday()) % 7)
        return day_node([future - WEEK, future], f"XXXX-WXX-{weekday + 1}", None, "weekday")

    def shift(self, moment: datetime, length: Length, sign: int) -> datetime:
        """A moment moved by a length; hours and smaller are elapsed time, also over a change of clocks."""
        months = length.months * sign
        moved = add_months(moment, int(months)) if months else moment
        moved += timedelta(days=length.days * sign + (months - int(months)) * 30)
        if length.business:
            moved = add_business_days(moved, length.business * sign)
        return self.elapsed(moved, timedelta(seconds=length.seconds * sign)) if length.seconds else moved

    def elapsed(self, moment: datetime, delta: timedelta) -> datetime:
        """Wall time after an elapsed time in the reference's zone."""
        instant = moment.replace(tzinfo=self.zone).astimezone(UTC) + delta
        return instant.astimezone(self.zone).replace(tzinfo=None)

    def time_around_now(self, length: Length, steps: int) -> Node:
        """The hours or minutes that end now, or that begin now."""
        now = self.now.replace(microsecond=0)
        other = self.shift(now, length, steps)
        first, last = (other, now) if steps < 0 else (now, other)
        return Node("datetimerange", length.grain, [Alt(first, last, last)])

    def stretch(self, length: Length, steps: int) -> Node:
        """The time before now, or from tomorrow on."""
        if length.grain in FINE_UNITS or length.seconds:
            node = self.time_around_now(length, steps)
            first, last = node.bounds[0]
            node.timex = f"({first.isoformat()},{last.isoformat()},{length.timex})"
            return node
        if length.business:
            start = add_business_days(self.today, 1 if steps > 0 else -length.business)
            stop = add_business_days(self.today, length.business) + DAY if steps > 0 else self.today
            return period_node([(start, stop)], "day")
        if length.grain in ("quarter", "decade", "century") and length.months == int(length.months):
            amount = int(length.months / UNIT_MONTHS[length.grain])
            pair = unit_bounds(length.grain, self.now, 1 if steps > 0 else -amount, amount)
            return period_node([pair], length.grain)
        start = self.today + DAY if steps > 0 else self.shift(self.today, length, -1)
        stop = self.shift(start, length, 1) if steps > 0 else self.today
        alt = Alt(start, stop, stop if steps > 0 else stop + DAY)
        return Node("range", length.grain, [alt], timex=f"({start:%Y-%m-%d},{stop:%Y-%m-%d},{length.timex})")

    def moved_from_now(self, length: Length, sign: int) -> Node:
        """Now moved by a length: a moment for hours and smaller, else a day, with the whole unit around it as window."""
        grain = length.grain
        if grain in FINE_UNITS or length.seconds:
            moment = self.shift(self.now, length, sign).replace(microsecond=0)
            return Node("datetime", grain, [Alt(moment, None, moment + FINE_UNITS.get(grain, DAY))])
        day = self.shift(self.today, length, sign)
        if grain not in ("week", "month", "year", "decade", "century"):
            return day_node([day])
        begin, end = unit_bounds(grain, day, 0)
        return Node("date", grain, [Alt(day, None, end, begin)])

    def part_node(self, name: str, mod: str | None = None) -> Node:
        """A part of any day, on the reference day."""
        low, high, code = self.lex.parts_of_day[name]
        start, end = self.today + timedelta(hours=low), self.today + timedelta(hours=high)
        if mod == "start":
            end = start + timedelta(hours=2)
        elif mod == "end":
            start += timedelta(hours=2)
        elif mod == "mid":
            start, end = start + timedelta(hours=1), end - timedelta(hours=1)
        stop = end - timedelta(seconds=1) if high == 24 and mod != "start" else end
        return Node("timerange", "part_of_day", [Alt(start, stop, end)], mod=mod, part=name, timex="T" + code)

    def on_days(self, time: Node, days: Node) -> Node:
        """A time or range of times on each possible day."""
        alts = [alt.moved(midnight(day) - self.today) for alt in time.alts for day in days.starts]
        return replace(
            time,
            kind="datetime" if time.kind in ("time", "datetime") else "datetimerange",
            alts=list(dict.fromkeys(alts)),
            timex="" if alts else days.timex + time.timex,
            tags=time.tags | days.tags,
        )

    def now_node(self, timex: str, *tags: str) -> Node:
        """The moment of speaking."""
        now = self.now.replace(microsecond=0)
        return Node(
            "datetime",
            "second",
            [Alt(now, None, now + FINE_UNITS["second"])],
            timex=timex,
            tags=frozenset(tags),
        )

    def unit_node(self, unit: str, steps: int) -> Node:
        """The unit `steps` away from the moment's, e.g. last week."""
        start, stop = unit_bounds(unit, self.now, steps)
        node = period_node([(start, stop)], unit, unit_timex(unit, start, stop), "relative")
        if unit in ("month", "year"):
            node.parts = Parts(start.year, start.month if unit == "month" else None, None)
        return node


def nearest(dates: list[datetime], now: datetime) -> list[datetime]:
    """The last of some dates that is past and the first that is not, of dates in order."""
    return [date for date in dates if date < now][-1:] + [date for date in dates if date >= now][:1]


def unit_timex(unit: str, start: datetime, stop: datetime) -> str:
    """The TIMEX value of a whole unit."""
    year, week, _ = start.isocalendar()
    if unit in ("week", "weekend"):
        return f"{year}-W{week:02}" + ("-WE" if unit == "weekend" else "")
    if unit == "month":
        return f"{start:%Y-%m}"
    if unit == "year":
        return f"{start.year:04}"
    return f"({start:%Y-%m-%d},{stop:%Y-%m-%d})"
