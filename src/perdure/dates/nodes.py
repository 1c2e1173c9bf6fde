"""Nodes, and how they are built from numbers: this module knows no words of any language.

A node is an expression with its possible readings in naive local time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from perdure.dates.calendar import DAY, UNIT_MONTHS, add_years, midnight
from perdure.dates.model import Kind

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


def period_node(pairs: Iterable[tuple[datetime, datetime]], grain: str, timex: str = "", *tags: str) -> Node:
    """A range of days with its possible bounds."""
    alts = [Alt(start, stop, stop) for start, stop in dict.fromkeys(pairs)]
    return Node("range", grain, alts, timex=timex, tags=frozenset(tags))


def calendar_year(year: int) -> Node:
    """A year by number."""
    start = datetime(year, 1, 1)
    node = period_node([(start, add_years(start, 1))], "year", f"{year:04}")
    node.parts = Parts(year, None, None)
    return node


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
    """The open range on one side of a node: before, until, since or after it."""
    return replace(
        node,
        kind=_TIMED.get(node.kind, "range"),
        alts=list(dict.fromkeys(_open(alt, node, mod) for alt in node.alts)),
        mod=mod,
    )


def _open(alt: Alt, node: Node, mod: str) -> Alt:
    start, stop, end, _ = alt
    if mod == "since":
        return Alt(start, None, None)
    if mod in ("before", "until"):
        bound = stop if start is None or "portion_end" in node.tags else start
        return Alt(None, bound, bound if mod == "before" else end)
    bound = start if node.kind in ("date", "datetime", "time") or "portion_start" in node.tags else stop
    return Alt(bound, None, None, end)
