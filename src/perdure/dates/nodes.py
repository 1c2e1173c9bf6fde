"""What readers build: nodes, and what days, periods, times and distances are relative to the time of speaking.

A node is an expression with its possible readings in naive local time. This module knows no words of any language:
English readers and the templates of other languages both build with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from perdure.dates.calendar import (
    DAY,
    UNIT_MONTHS,
    WEEK,
    add_business_days,
    add_months,
    is_date,
    midnight,
    unit_bounds,
    unit_start,
    week_start,
)
from perdure.dates.lexicon import english
from perdure.dates.model import DateOptions, Kind

DAY_SECONDS = 86400
FINE_UNITS = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
"""Units below a day: lengths of these are elapsed time, all others are calendar time."""
_UNIT_DAYS = {"day": 1, "night": 1, "week": 7, "weekend": 2, "fortnight": 14}
_UNIT_SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "month": 30 * DAY_SECONDS, "quarter": 90 * DAY_SECONDS,
    "year": 365 * DAY_SECONDS, "decade": 3650 * DAY_SECONDS, "century": 36500 * DAY_SECONDS,
    **{unit: days * DAY_SECONDS for unit, days in _UNIT_DAYS.items()},
}  # fmt: skip
_UNIT_CODES = {
    "second": ("T", 1, "S"), "minute": ("T", 1, "M"), "hour": ("T", 1, "H"), "day": ("", 1, "D"), "night": ("", 1, "D"),
    "week": ("", 1, "W"), "weekend": ("", 1, "WE"), "fortnight": ("", 2, "W"), "month": ("", 1, "M"),
    "quarter": ("", 3, "M"), "year": ("", 1, "Y"), "decade": ("", 10, "Y"), "century": ("", 100, "Y"),
}  # fmt: skip
_MOMENTS = ("time", "datetime")
_MID_MONTH = 15
_TIMED: dict[Kind, Kind] = {"time": "timerange", "timerange": "timerange", "datetime": "datetimerange",
                            "datetimerange": "datetimerange"}  # fmt: skip


class Alt(NamedTuple):
    """One reading: `start` and `stop` by TIMEX, `end` the exclusive end of the window.

    `begin` is the window's start where it differs: "two years ago" names a day but means a year.
    """

    start: datetime | None
    stop: datetime | None
    end: datetime | None
    begin: datetime | None = None

    def moved(self, delta: timedelta) -> Alt:
        """The reading moved as a whole."""
        return Alt(*(None if value is None else value + delta for value in self))


class Parts(NamedTuple):
    """What was said of a calendar date, so that ranges can complete it."""

    year: int | None
    month: int | None
    day: int | None


@dataclass(slots=True)
class Node:
    """An expression; alternatives are ordered past before future, morning before afternoon."""

    kind: Kind
    grain: str
    alts: list[Alt]
    mod: str | None = None
    parts: Parts | None = None
    timex: str = ""
    seconds: float | None = None
    part: str = ""
    clock_open: bool = False
    tags: frozenset[str] = field(default_factory=frozenset)

    @property
    def starts(self) -> list[datetime]:
        """Where the readings begin, without those that are open."""
        return [alt.start for alt in self.alts if alt.start is not None]

    @property
    def bounds(self) -> list[tuple[datetime, datetime]]:
        """Start and stop of the readings that have both."""
        return [(alt.start, alt.stop) for alt in self.alts if alt.start is not None and alt.stop is not None]


Match = tuple[Node, int]
"""What a reader returns: the node, and the index of the first token after it."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time as it was said."""

    months: float = 0
    days: float = 0
    seconds: float = 0
    business: int = 0
    grain: str = "day"
    timex: str = ""
    total: float = 0


def make_length(amount: float, unit: str) -> Length:
    """A length from a count and a unit."""
    return Length(
        months=UNIT_MONTHS.get(unit, 0) * amount,
        days=_UNIT_DAYS.get(unit, 0) * amount,
        seconds=_UNIT_SECONDS[unit] * amount if unit in FINE_UNITS else 0,
        grain={"night": "day", "weekend": "day", "fortnight": "week"}.get(unit, unit),
        timex=length_timex(amount, unit),
        total=amount * _UNIT_SECONDS[unit],
    )


def length_timex(amount: float, unit: str) -> str:
    """ "P3D", "PT1.5H"."""
    prefix, factor, letter = _UNIT_CODES[unit]
    shown = amount * factor
    return f"P{prefix}{int(shown) if shown == int(shown) else shown}{letter}"


def day_node(days: Iterable[datetime], timex: str = "", parts: Parts | None = None, *tags: str) -> Node:
    """A calendar day with its possible dates."""
    alts = [Alt(day, None, day + DAY) for day in dict.fromkeys(days)]
    return Node("date", "day", alts, parts=parts, timex=timex, tags=frozenset(tags))


def alts_of(pairs: Iterable[tuple[datetime, datetime]]) -> list[Alt]:
    """Readings that begin and end at each of some pairs."""
    return [Alt(start, stop, stop) for start, stop in dict.fromkeys(pairs)]


def period_node(
    pairs: Iterable[tuple[datetime, datetime]],
    grain: str,
    timex: str = "",
    parts: Parts | None = None,
    *tags: str,
) -> Node:
    """A range of days with its possible bounds."""
    return Node("range", grain, alts_of(pairs), parts=parts, timex=timex, tags=frozenset(tags))


def calendar_year(year: int) -> Node:
    """A year by number."""
    start = datetime(year, 1, 1)
    return period_node([(start, add_months(start, 12))], "year", f"{year:04}", Parts(year, None, None))


def on_day(part: Node, days: int) -> Node:
    """A part of the reference day, moved by days."""
    return replace(part, kind="datetimerange", alts=[alt.moved(DAY * days) for alt in part.alts])


def days_of(node: Node) -> Node:
    """The days on which a node's readings begin."""
    return replace(day_node(midnight(start) for start in node.starts), tags=node.tags)


def pin(node: Node, part: Node) -> Node:
    """The readings of an open clock time that fit a part of the day."""
    if not node.clock_open:
        return node
    kept = [alt for alt in node.alts if alt.start is not None and _fits(alt.start.hour, part.part)]
    return replace(node, alts=kept or node.alts, clock_open=not kept)


def _fits(hour: int, part: str) -> bool:
    """Whether an hour belongs to the half of the day that a part names."""
    if part in ("morning", "breakfasttime", "brunchtime"):
        return hour < 12
    if part in ("night", "nighttime"):
        return hour >= 18 or hour < 6
    if part in ("lunchtime", "daytime"):
        return 7 <= hour < 18
    return hour >= 12


def opened(node: Node, mod: str) -> Node:
    """The open range on one side of a node: before, until, since or after it; "by" is before it or on it."""
    return replace(
        node,
        kind=_TIMED.get(node.kind, "range"),
        alts=list(dict.fromkeys(_open(alt, node, mod) for alt in node.alts)),
        mod="before" if mod == "by" else mod,
    )


def _open(alt: Alt, node: Node, mod: str) -> Alt:
    start, stop, end, _ = alt
    if mod == "since":
        return Alt(start, None, None)
    if mod in ("before", "by", "until"):
        bound = stop if start is None or "portion_end" in node.tags else start
        return Alt(
            None, bound, _upper_edge(alt, node, bound) if mod == "before" or node.kind in _MOMENTS else end
        )
    bound = start if node.kind in ("date", "datetime", "time") or "portion_start" in node.tags else stop
    return Alt(bound, None, None, end)


def _upper_edge(alt: Alt, node: Node, bound: datetime | None) -> datetime | None:
    """Where the window before a node ends: before the middle of a month on its 15th day."""
    middle = "portion_mid" in node.tags and node.grain == "month"
    return alt.start.replace(day=_MID_MONTH) if middle and alt.start is not None else bound


class Reference:
    """What a reading depends on besides the text: when it was said, the caller's options, the English word tables."""

    __slots__ = ("lex", "now", "options", "today", "zone")

    def __init__(self, said_at: datetime, options: DateOptions) -> None:
        self.now = said_at.replace(tzinfo=None)
        self.today = midnight(self.now)
        self.zone = said_at.tzinfo or UTC
        self.lex = english()
        self.options = options

    def calendar_day(self, year: int | None, month: int, day: int) -> Node | None:
        """A day by numbers; without a year its last and its next occurrence; a day such as 30 February has no reading."""
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            return None
        parts = Parts(year, month, day)
        if year is not None:
            days = [datetime(year, month, day)] if is_date(year, month, day) else []
            return day_node(days, f"{year:04}-{month:02}-{day:02}", parts)
        # Eight years reach the next leap day, also over a year such as 1900.
        years = range(self.now.year - 8, self.now.year + 9)
        days = [datetime(each, month, day) for each in years if is_date(each, month, day)]
        return day_node(nearest(days, self.now), f"XXXX-{month:02}-{day:02}", parts)

    def day_match(self, year: int | None, month: int, day: int, end: int) -> Match | None:
        """A day by numbers as a reader returns it."""
        node = self.calendar_day(year, month, day)
        return None if node is None else (node, end)

    def day_of_month(self, day: int) -> Node:
        """ "The 18th": of the last and the next month that has such a day."""
        months = [add_months(unit_start("month", self.now), step) for step in range(-3, 4)]
        days = [month.replace(day=day) for month in months if is_date(month.year, month.month, day)]
        return day_node(nearest(days, self.now), f"XXXX-XX-{day:02}", Parts(None, None, day))

    def calendar_month(self, year: int | None, month: int) -> Node:
        """A month by numbers; without a year the last and the next one."""
        now = self.now
        if year is not None:
            years, shown = [year], f"{year:04}"
        else:
            years, shown = [now.year - (month >= now.month), now.year + (month < now.month)], "XXXX"
        pairs = [(start, add_months(start, 1)) for start in (datetime(each, month, 1) for each in years)]
        return period_node(pairs, "month", f"{shown}-{month:02}", Parts(year, month, None))

    def shifted_month(self, month: int, steps: int) -> Node:
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
        alt = Alt(now, None, now + FINE_UNITS["second"])
        return Node("datetime", "second", [alt], timex=timex, tags=frozenset(tags))

    def unit_node(self, unit: str, steps: int) -> Node:
        """The unit `steps` away from the running one, e.g. last week."""
        start, stop = unit_bounds(unit, self.now, steps)
        month = start.month if unit == "month" else None
        parts = Parts(start.year, month, None) if unit in ("month", "year") else None
        return period_node([(start, stop)], unit, unit_timex(unit, start, stop), parts, "relative")


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
