"""The week, month, quarter, ... that contains a moment, moved by a number of units."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import (
    DAY,
    WEEK,
    add_months,
    add_years,
    half_start,
    month_start,
    quarter_start,
    week_start,
    year_start,
)
from perdure.dates.nodes import Node, Parts, period_node

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
