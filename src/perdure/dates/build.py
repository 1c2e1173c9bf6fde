"""Builds the nodes of days, periods, times and distances from numbers; knows no words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from perdure.dates.calendar import (
    DAY,
    WEEK,
    add_business_days,
    add_months,
    add_years,
    half_start,
    is_date,
    midnight,
    month_start,
    quarter_start,
    week_start,
    year_start,
)
from perdure.dates.nodes import Alt, Length, Node, Parts, Reference


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


def calendar_day(ref: Reference, year: int | None, month: int, day: int) -> Node | None:
    """A day by numbers; without a year its last and its next occurrence; a day such as 30 February has no reading."""
    parts = Parts(year, month, day)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    if year is not None:
        timex = f"{year:04}-{month:02}-{day:02}"
        return day_node([datetime(year, month, day)] if is_date(year, month, day) else [], timex, parts)
    timex = f"XXXX-{month:02}-{day:02}"
    return day_node(_around_now(ref, month, day), timex, parts)


def _around_now(ref: Reference, month: int, day: int) -> list[datetime]:
    """The last and the next date with this month and day."""
    this_year = ref.now.year
    years = [year for year in range(this_year - 8, this_year + 9) if is_date(year, month, day)]
    dates = [datetime(year, month, day) for year in years]
    past = [found for found in dates if found < ref.now]
    future = [found for found in dates if found >= ref.now]
    return past[-1:] + future[:1]


def day_of_month(ref: Reference, day: int) -> Node:
    """ "The 18th": of the last and the next month that has such a day."""
    months = [add_months(month_start(ref.now), step) for step in range(-3, 4)]
    dates = [month.replace(day=day) for month in months if is_date(month.year, month.month, day)]
    past = [found for found in dates if found < ref.now]
    future = [found for found in dates if found >= ref.now]
    return day_node(past[-1:] + future[:1], f"XXXX-XX-{day:02}", Parts(None, None, day))


def calendar_month(ref: Reference, year: int | None, month: int) -> Node:
    """A month by numbers; without a year the last and the next one."""
    if year is not None:
        start = datetime(year, month, 1)
        node = period_node([(start, add_months(start, 1))], "month", f"{year:04}-{month:02}")
    else:
        now = ref.now
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


def shift(ref: Reference, moment: datetime, length: Length, sign: int) -> datetime:
    """A moment moved by a length; hours and smaller are elapsed time, also over a change of clocks."""
    months = length.months * sign
    moved = add_months(moment, int(months)) if months else moment
    rest = months - int(months)
    moved += timedelta(days=length.days * sign + rest * 30)
    if length.business:
        moved = add_business_days(moved, length.business * sign)
    if length.seconds:
        moved = elapsed(ref, moved, timedelta(seconds=length.seconds * sign))
    return moved


def elapsed(ref: Reference, moment: datetime, delta: timedelta) -> datetime:
    """Wall time after an elapsed time in the reference's zone."""
    instant = moment.replace(tzinfo=ref.zone).astimezone(UTC) + delta
    return instant.astimezone(ref.zone).replace(tzinfo=None)


def month_year(now: datetime, month: int, steps: int) -> int:
    """The year of "last March": the nearest such month that is over, or still to come, or of this year."""
    if steps == 0:
        return now.year
    if steps < 0:
        return now.year if month < now.month else now.year - 1
    return now.year if month > now.month else now.year + 1


_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}


def unit_start(unit: str, moment: datetime) -> datetime:
    """The beginning of the unit that contains the moment."""
    if unit in ("week", "fortnight"):
        return week_start(moment)
    if unit == "weekend":
        return week_start(moment) + 5 * DAY
    if unit == "month":
        return month_start(moment)
    if unit == "quarter":
        return quarter_start(moment)
    if unit == "half":
        return half_start(moment)
    if unit == "year":
        return year_start(moment.year)
    return year_start(moment.year // 10 * 10 if unit == "decade" else max(1, moment.year // 100 * 100))


def unit_bounds(unit: str, moment: datetime, steps: int, length: int = 1) -> tuple[datetime, datetime]:
    """Bounds of `length` units, beginning `steps` units from the one that contains the moment."""
    start = unit_start(unit, moment)
    if unit in _MONTHS:
        start = add_months(start, steps * _MONTHS[unit])
        return start, add_months(start, length * _MONTHS[unit])
    if unit == "weekend":
        start += WEEK * steps
        return start, start + 2 * DAY + WEEK * (length - 1)
    size = 2 * WEEK if unit == "fortnight" else WEEK
    start += size * steps
    return start, start + size * length


def unit_node(unit: str, moment: datetime, steps: int) -> Node:
    """The unit `steps` away from the moment's, e.g. last week."""
    start, stop = unit_bounds(unit, moment, steps)
    node = period_node([(start, stop)], unit, unit_timex(unit, start, stop))
    if unit == "month":
        node.parts = Parts(start.year, start.month, None)
    elif unit == "year":
        node.parts = Parts(start.year, None, None)
    node.tags = frozenset(("relative",))
    return node


def unit_timex(unit: str, start: datetime, stop: datetime) -> str:
    """The TIMEX value of a whole unit."""
    year, week, _ = start.isocalendar()
    if unit == "week":
        return f"{year}-W{week:02}"
    if unit == "weekend":
        return f"{year}-W{week:02}-WE"
    if unit == "month":
        return f"{start:%Y-%m}"
    if unit == "year":
        return f"{start.year:04}"
    return f"({start:%Y-%m-%d},{stop:%Y-%m-%d})"


def season_bounds(season: str, year: int, southern: bool) -> tuple[datetime, datetime]:
    """Bounds of a meteorological season; a winter (or southern summer) is named after the year it begins in."""
    first = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}[season]
    if southern:
        first = (first + 5) % 12 + 1
    start = datetime(year, first, 1)
    return start, add_months(start, 3)


def fiscal_bounds(year: int, first_month: int) -> tuple[datetime, datetime]:
    """Bounds of the fiscal year named `year`."""
    start = datetime(year if first_month == 1 else year - 1, first_month, 1)
    return start, add_years(start, 1)


def school_bounds(year: int) -> tuple[datetime, datetime]:
    """September to June, named after the year it ends in."""
    return datetime(year - 1, 9, 1), datetime(year, 7, 1)


def weekday_in_week(ref: Reference, weekday: int, weeks: int) -> Node:
    """A weekday of the week `weeks` away."""
    return day_node([week_start(ref.now) + WEEK * weeks + DAY * weekday])


def plain_weekday(ref: Reference, weekday: int) -> Node:
    """The last and the next such day; today counts as the next."""
    future = ref.today + DAY * ((weekday - ref.now.weekday()) % 7)
    return day_node([future - WEEK, future], f"XXXX-WXX-{weekday + 1}", None, "weekday")


_UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}


_DAYS = {"day": 1, "night": 1, "week": 7, "weekend": 2, "fortnight": 14}


_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


DAY_SECONDS = 86400


_TOTAL = {
    **_SECONDS, **{unit: days * DAY_SECONDS for unit, days in _DAYS.items()},
    "month": 30 * DAY_SECONDS, "quarter": 90 * DAY_SECONDS, "year": 365 * DAY_SECONDS, "decade": 3650 * DAY_SECONDS,
    "century": 36500 * DAY_SECONDS,
}  # fmt: skip


_CODES = {
    "second": "T{}S", "minute": "T{}M", "hour": "T{}H", "day": "{}D", "night": "{}D", "week": "{}W",
    "weekend": "{}WE", "fortnight": "{}W", "month": "{}M", "quarter": "{}M", "year": "{}Y", "decade": "{}Y",
    "century": "{}Y",
}  # fmt: skip


_FACTORS = {"fortnight": 2, "quarter": 3, "decade": 10, "century": 100}


def make_length(amount: float, unit: str) -> Length:
    """A length from a count and a unit."""
    shown = amount * _FACTORS.get(unit, 1)
    code = _CODES[unit].format(int(shown) if shown == int(shown) else shown)
    grain = "day" if unit in ("night", "weekend") else "week" if unit == "fortnight" else unit
    return Length(
        months=_UNIT_MONTHS.get(unit, 0) * amount,
        days=_DAYS.get(unit, 0) * amount,
        seconds=_SECONDS.get(unit, 0) * amount,
        grain=grain,
        timex="P" + code,
        total=amount * _TOTAL[unit],
    )


_FINE = frozenset(("second", "minute", "hour"))


def stretch(ref: Reference, length: Length, steps: int) -> Node:
    """The time before now, or from tomorrow on."""
    if length.grain in _FINE or length.seconds:
        now = ref.now.replace(microsecond=0)
        other = shift(ref, now, length, steps)
        first, last = (other, now) if steps < 0 else (now, other)
        return Node(
            "datetimerange",
            length.grain,
            [Alt(first, last, last)],
            timex=f"({first.isoformat()},{last.isoformat()},{length.timex})",
        )
    if length.business:
        return _business_stretch(ref, length, steps)
    if length.grain in ("quarter", "decade", "century") and length.months == int(length.months):
        size = {"quarter": 3, "decade": 120, "century": 1200}[length.grain]
        amount = int(length.months / size)
        pair = unit_bounds(length.grain, ref.now, 1 if steps > 0 else -amount, amount)
        return period_node([pair], length.grain)
    start = ref.today + DAY if steps > 0 else shift(ref, ref.today, length, -1)
    stop = shift(ref, start, length, 1) if steps > 0 else ref.today
    node = period_node([(start, stop)], length.grain, f"({start:%Y-%m-%d},{stop:%Y-%m-%d},{length.timex})")
    if steps < 0:
        node.alts = [Alt(start, stop, stop + DAY)]
    return node


def _business_stretch(ref: Reference, length: Length, steps: int) -> Node:
    if steps > 0:
        start = add_business_days(ref.today, 1)
        stop = add_business_days(ref.today, length.business) + DAY
    else:
        start, stop = add_business_days(ref.today, -length.business), ref.today
    return period_node([(start, stop)], "day")


def moved_from_now(ref: Reference, length: Length, sign: int) -> Node:
    """Now moved by a length: a moment for hours and smaller, else a day."""
    if length.grain in _FINE or length.seconds:
        moment = shift(ref, ref.now, length, sign).replace(microsecond=0)
        return Node(
            "datetime", length.grain, [Alt(moment, None, moment + GRAIN_LENGTH.get(length.grain, DAY))]
        )
    day = shift(ref, ref.today, length, sign)
    begin, end = rough_window(day, length)
    node = day_node([day])
    node.grain = length.grain if length.grain in ("week", "month", "year", "decade", "century") else "day"
    node.alts = [Alt(day, None, end, begin)]
    return node


def rough_window(day: datetime, length: Length) -> tuple[datetime, datetime]:
    """What "two years ago" means: the unit around the day it names."""
    if length.grain in ("week", "month", "year", "decade", "century"):
        return unit_bounds(length.grain, day, 0)
    return day, day + DAY


_SECOND = timedelta(seconds=1)


def part_node(ref: Reference, name: str, mod: str | None = None) -> Node:
    """A part of any day, on the reference day."""
    low, high, code = ref.lex.parts_of_day[name]
    start, end = ref.today + timedelta(hours=low), ref.today + timedelta(hours=high)
    if mod == "start":
        end = start + timedelta(hours=2)
    elif mod == "end":
        start += timedelta(hours=2)
    elif mod == "mid":
        start, end = start + timedelta(hours=1), end - timedelta(hours=1)
    stop = end - _SECOND if high == 24 and mod != "start" else end
    return Node("timerange", "part_of_day", [Alt(start, stop, end)], mod=mod, part=name, timex="T" + code)


def on_day(part: Node, days: int) -> Node:
    """A part of the reference day, moved by days."""
    return part.changed(kind="datetimerange", alts=[moved(alt, DAY * days) for alt in part.alts])


def moved(alt: Alt, delta: timedelta) -> Alt:
    """A reading moved as a whole."""
    start, stop, end, begin = (None if value is None else value + delta for value in alt)
    return Alt(start, stop, end, begin)


_TIMED = {
    "time": "timerange",
    "timerange": "timerange",
    "datetime": "datetimerange",
    "datetimerange": "datetimerange",
}


def opened(node: Node, mod: str) -> Node:
    """The open range on one side of a node."""
    alts = [_open(alt, node, mod) for alt in node.alts]
    return node.changed(
        kind=_TIMED.get(node.kind, "range"),
        alts=list(dict.fromkeys(alts)),
        mod=mod,
        tags=node.tags | ({f"inner_{node.mod}"} if node.mod else set()),
    )


def _open(alt: Alt, node: Node, mod: str) -> Alt:
    start, stop, end, _ = alt
    portion = "portion_end" in node.tags
    if mod == "before":
        bound = stop if portion else start if start is not None else stop
        return Alt(None, bound, bound)
    if mod == "until":
        return Alt(None, stop if portion or start is None else start, end)
    if mod == "since":
        return Alt(start, None, None)
    after_portion_start = "portion_start" in node.tags
    bound = start if node.kind in ("date", "datetime", "time") or after_portion_start else stop
    return Alt(bound, None, None, end)


def fits(hour: int, part: str) -> bool:
    """Whether an hour belongs to the half of the day that a part names."""
    if part in ("morning", "breakfasttime", "brunchtime"):
        return hour < 12
    if part in ("night", "nighttime"):
        return hour >= 18 or hour < 6
    if part in ("lunchtime", "daytime"):
        return 7 <= hour < 18
    return hour >= 12


def pin(node: Node, part: Node) -> Node:
    """The readings of an open clock time that fit a part of the day."""
    if not node.clock_open:
        return node
    kept = [alt for alt in node.alts if alt.start is not None and fits(alt.start.hour, part.part)]
    return node.changed(alts=kept or node.alts, clock_open=not kept)


def on_days(ref: Reference, time: Node, days: Node) -> Node:
    """A time or range of times on each possible day."""
    alts = []
    for alt in time.alts:
        for day in days.alts:
            assert day.start is not None
            alts.append(moved(alt, midnight(day.start) - ref.today))
    kind = "datetime" if time.kind in ("time", "datetime") else "datetimerange"
    timex = days.timex + time.timex if not alts else ""
    return time.changed(
        kind=kind, alts=list(dict.fromkeys(alts)), timex=timex, tags=time.tags | days.tags | {"dated"}
    )


def days_of(node: Node) -> Node:
    """The days on which a node's readings begin."""
    starts: list[datetime] = [midnight(alt.start) for alt in node.alts if alt.start is not None]
    return Node("date", "day", [Alt(day, None, day + DAY) for day in dict.fromkeys(starts)], tags=node.tags)
