"""Holidays: "Christmas", "last Easter", "Black Friday 2010", "Independence Day of this year", "Labor Day weekend"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import day_node, period_node
from perdure.dates.calendar import DAY, week_start
from perdure.dates.grammar.months import year_after
from perdure.dates.holidays import holiday_date
from perdure.dates.nodes import Match, Node, Parts
from perdure.dates.scan import Scan


def holiday_at(scan: Scan, i: int) -> tuple[str, int] | None:
    """A holiday's rule and the index after its name."""
    entries = scan.lex.holidays.get(scan.words[i])
    if entries is None:
        return None
    for words, rule in entries:
        if scan.at(i, *words):
            return rule, i + len(words)
    return None


def holiday(scan: Scan, i: int) -> Match | None:
    """A holiday with what tells its year."""
    words = scan.words
    steps = scan.lex.shifts.get(words[i])
    j = i + 1 if steps is not None else i
    if steps == 0 and scan.lex.shifts.get(words[j]):
        steps, j = scan.lex.shifts[words[j]], j + 1
    found = holiday_at(scan, j)
    if found is None:
        return None
    rule, k = found
    weekend = words[k] == "weekend"
    k = k + 1 if weekend else k
    days, k = _days(scan, rule, steps, k)
    if words[k] == "weekend":
        weekend, k = True, k + 1
    if not days:
        return None
    if weekend:
        return _weekend(days), k
    return _day(days), k


def _days(scan: Scan, rule: str, steps: int | None, k: int) -> tuple[list[datetime], int]:
    year = _year(scan, k) if steps is None else None
    if year is not None:
        day = holiday_date(rule, year[0])
        return ([day] if day else []), year[1]
    now = scan.now
    near = [day for step in range(-2, 3) if (day := holiday_date(rule, now.year + step)) is not None]
    past = [day for day in near if day < now][-1:]
    future = [day for day in near if day >= now][:1]
    if steps is None:
        return past + future, k
    if steps == 0:
        day = holiday_date(rule, now.year)
        return ([day] if day else []), k
    return (past if steps < 0 else future), k


def _year(scan: Scan, k: int) -> tuple[int, int] | None:
    found = year_after(scan, k)
    if found is not None:
        return found
    j = scan.skip(scan.skip(k, ","), "of")
    steps = scan.lex.shifts.get(scan.words[j])
    if steps is not None and scan.words[j + 1] == "year":
        return scan.now.year + steps, j + 2
    return None


def _day(days: list[datetime]) -> Node:
    known = len(days) == 1
    timex = f"{days[0]:%Y-%m-%d}" if known else f"XXXX-{days[0]:%m-%d}"
    year = days[0].year if known else None
    return day_node(days, timex, Parts(year, days[0].month, days[0].day) if not known else None, "holiday")


def _weekend(days: list[datetime]) -> Node:
    """The weekend nearest to the holiday, longer by a holiday next to it."""
    pairs = []
    for day in days:
        saturday = week_start(day) + DAY * 5
        if day.weekday() <= 1:
            saturday -= DAY * 7
        start, stop = saturday, saturday + DAY * 2
        pairs.append(
            (min(start, day) if day.weekday() == 4 else start, stop + DAY if day.weekday() == 0 else stop)
        )
    return period_node(pairs, "weekend")
