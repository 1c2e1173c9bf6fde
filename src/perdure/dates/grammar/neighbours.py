"""Days and units next to another date: "the week before Easter", "the Friday after Thanksgiving"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import day_node, period_node, unit_node
from perdure.dates.calendar import DAY, WEEK, week_start
from perdure.dates.grammar.weekdays import weekday_at
from perdure.dates.nodes import Match
from perdure.dates.scan import Scan

_UNITS = frozenset(("week", "weekend", "month", "quarter", "year", "decade"))


def unit_near(scan: Scan, i: int) -> Match | None:
    """ "the week before Easter", "the month after her arrival in May 2020" (only where a date follows)."""
    j = scan.skip(i, "the")
    unit = scan.lex.units.get(scan.words[j])
    if unit not in _UNITS or scan.words[j] != unit:
        return None
    found = _base(scan, j + 1)
    if found is None:
        return None
    bases, sign, end = found
    if unit in ("week", "weekend"):
        return period_node([_week_near(unit, base, sign) for base in bases], unit), end
    nodes = [unit_node(unit, base, sign) for base in bases]
    pairs = [(alt.start, alt.stop) for node in nodes for alt in node.alts if alt.start and alt.stop]
    return period_node(pairs, unit), end


def _week_near(unit: str, base: datetime, sign: int) -> tuple[datetime, datetime]:
    """The seven days before or after a day; the last weekend that is over before it, or the first after it."""
    if unit == "week":
        return (base - WEEK, base) if sign < 0 else (base + DAY, base + DAY + WEEK)
    saturday = week_start(base) + DAY * 5
    if sign < 0:
        saturday -= WEEK
    elif saturday <= base:
        saturday += WEEK
    return saturday, saturday + 2 * DAY


def day_near(scan: Scan, i: int) -> Match | None:
    """ "the day before Christmas", "the Sunday after Thanksgiving"."""
    j = scan.skip(i, "the")
    weekday = weekday_at(scan, j)
    if scan.words[j] != "day" and weekday is None:
        return None
    found = _base(scan, j + 1 if weekday is None else weekday[1])
    if found is None or (weekday is not None and scan.words[weekday[1]] == "from"):
        return None
    bases, sign, end = found
    if weekday is None:
        return day_node([base + DAY * sign for base in bases]), end
    return day_node([_next_weekday(base, weekday[0], sign) for base in bases]), end


def _next_weekday(base: datetime, weekday: int, sign: int) -> datetime:
    gap = ((weekday - base.weekday()) * sign) % 7 or 7
    return base + DAY * gap * sign


def _base(scan: Scan, k: int) -> tuple[list[datetime], int, int] | None:
    """The dates behind "before" or "after", with the direction and the index after them."""
    words = scan.words
    if words[k] in ("before", "after", "following", "preceding"):
        j = k + 1
    elif scan.at(k, "prior", "to"):
        j = k + 2
    else:
        return None
    found = scan.atom(j)
    if found is None or found[0].kind not in ("date", "range") or found[0].mod is not None:
        return None
    starts = [alt.start for alt in found[0].alts if alt.start is not None]
    if not starts or (words[j] in ("next", "last") and found[1] == j + 1):
        return None
    return starts, -1 if words[k] in ("before", "prior", "preceding") else 1, found[1]
