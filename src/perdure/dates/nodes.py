"""What the grammar builds: a node is an expression with its possible readings, in naive local time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from perdure.dates.calendar import DAY, add_business_days, add_months, add_years, is_date, month_start
from perdure.dates.model import Kind
from perdure.dates.tokens import Scan


class Alt(NamedTuple):
    """One reading: `start` and `stop` by TIMEX, `end` the exclusive end of the window.

    `begin` is the window's start where it differs: "two years ago" names a day but means a year.
    """

    start: datetime | None
    stop: datetime | None
    end: datetime | None
    begin: datetime | None = None


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
    length: Length | None = None
    part: str = ""
    clock_open: bool = False
    tags: frozenset[str] = field(default_factory=frozenset)

    def changed(self, **changes: object) -> Node:
        """A copy with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]


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


Match = tuple[Node, int]


def day_node(days: list[datetime], timex: str = "", parts: Parts | None = None, *tags: str) -> Node:
    """A calendar day with its possible dates."""
    alts = [Alt(day, None, day + DAY) for day in dict.fromkeys(days)]
    return Node("date", "day", alts, parts=parts, timex=timex, tags=frozenset(tags))


def period_node(pairs: list[tuple[datetime, datetime]], grain: str, timex: str = "", *tags: str) -> Node:
    """A range of days with its possible bounds."""
    alts = [Alt(start, stop, stop) for start, stop in dict.fromkeys(pairs)]
    return Node("range", grain, alts, timex=timex, tags=frozenset(tags))


def point_node(moment: datetime, grain: str) -> Node:
    """A moment."""
    moment = moment.replace(microsecond=0)
    return Node("datetime", grain, [Alt(moment, None, moment + GRAIN_LENGTH[grain])])


GRAIN_LENGTH = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}


def calendar_day(scan: Scan, year: int | None, month: int, day: int) -> Node | None:
    """A day by numbers; without a year its last and its next occurrence; a day such as 30 February has no reading."""
    parts = Parts(year, month, day)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    if year is not None:
        timex = f"{year:04}-{month:02}-{day:02}"
        return day_node([datetime(year, month, day)] if is_date(year, month, day) else [], timex, parts)
    timex = f"XXXX-{month:02}-{day:02}"
    return day_node(_around_now(scan, month, day), timex, parts)


def _around_now(scan: Scan, month: int, day: int) -> list[datetime]:
    """The last and the next date with this month and day."""
    this_year = scan.now.year
    years = [year for year in range(this_year - 8, this_year + 9) if is_date(year, month, day)]
    dates = [datetime(year, month, day) for year in years]
    past = [found for found in dates if found < scan.now]
    future = [found for found in dates if found >= scan.now]
    return past[-1:] + future[:1]


def day_of_month(scan: Scan, day: int) -> Node:
    """ "The 18th": of the last and the next month that has such a day."""
    months = [add_months(month_start(scan.now), step) for step in range(-3, 4)]
    dates = [month.replace(day=day) for month in months if is_date(month.year, month.month, day)]
    past = [found for found in dates if found < scan.now]
    future = [found for found in dates if found >= scan.now]
    return day_node(past[-1:] + future[:1], f"XXXX-XX-{day:02}", Parts(None, None, day))


def calendar_month(scan: Scan, year: int | None, month: int) -> Node:
    """A month by numbers; without a year the last and the next one."""
    if year is not None:
        start = datetime(year, month, 1)
        node = period_node([(start, add_months(start, 1))], "month", f"{year:04}-{month:02}")
    else:
        now = scan.now
        past = now.year - 1 if month >= now.month else now.year
        future = now.year + 1 if month < now.month else now.year
        starts = [datetime(past, month, 1), datetime(future, month, 1)]
        node = period_node([(start, add_months(start, 1)) for start in starts], "month", f"XXXX-{month:02}")
    node.parts = Parts(year, month, None)
    return node


def calendar_year(year: int) -> Node:
    """A year by number."""
    start = datetime(year, 1, 1)
    node = period_node([(start, add_years(start, 1))], "year", f"{year:04}")
    node.parts = Parts(year, None, None)
    return node


def shift(scan: Scan, moment: datetime, length: Length, sign: int) -> datetime:
    """A moment moved by a length; hours and smaller are elapsed time, also over a change of clocks."""
    months = length.months * sign
    moved = add_months(moment, int(months)) if months else moment
    rest = months - int(months)
    moved += timedelta(days=length.days * sign + rest * 30)
    if length.business:
        moved = add_business_days(moved, length.business * sign)
    if length.seconds:
        moved = elapsed(scan, moved, timedelta(seconds=length.seconds * sign))
    return moved


def elapsed(scan: Scan, moment: datetime, delta: timedelta) -> datetime:
    """Wall time after an elapsed time in the reference's zone."""
    instant = moment.replace(tzinfo=scan.zone).astimezone(UTC) + delta
    return instant.astimezone(scan.zone).replace(tzinfo=None)
