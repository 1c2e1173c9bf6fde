"""Named periods: months, years, "last week", "this fiscal year", "the weekend"."""

from __future__ import annotations

from perdure.dates.build import (
    GRAIN_LENGTH,
    calendar_month,
    calendar_year,
    elapsed,
    fiscal_bounds,
    month_year,
    period_node,
    school_bounds,
    unit_node,
)
from perdure.dates.calendar import DAY
from perdure.dates.grammar.months import month_alone, month_at, year_after
from perdure.dates.grammar.numbers import two_digit_year
from perdure.dates.grammar.numeric import numeric_month
from perdure.dates.grammar.seasons import season
from perdure.dates.grammar.stretches import decade, half, quarter, week_number, week_of
from perdure.dates.grammar.years import year
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan, memoised

_WHOLE = frozenset(("week", "month", "quarter", "year", "weekend", "decade", "century", "fortnight"))


@memoised
def period(scan: Scan, i: int) -> Match | None:
    """Any whole period that begins at an index."""
    return (
        named_month(scan, i)
        or numeric_month(scan, i)
        or quarter(scan, i)
        or half(scan, i)
        or week_of(scan, i)
        or season(scan, i)
        or special_year(scan, i)
        or relative_unit(scan, i)
        or week_number(scan, i)
        or decade(scan, i)
        or year(scan, i)
    )


def named_month(scan: Scan, i: int) -> Match | None:
    """ "April", "April 2017", "April of 87", "last March", "the month of May"."""
    words = scan.words
    if scan.at(i, "month", "of") or scan.at(i, "the", "month", "of"):
        return _plain_month(scan, i + 2 if words[i] == "month" else i + 3, forced=True)
    steps = scan.lex.shifts.get(words[i])
    if steps is None or words[i] == "present":
        return _plain_month(scan, i)
    month = month_at(scan, i + 1)
    if month is None or not month_alone(scan, i + 1, month[1]):
        return None
    following = year_after(scan, month[1])
    if following is not None:
        return None
    return calendar_month(scan, month_year(scan.now, month[0], steps), month[0]), month[1]


def _plain_month(scan: Scan, i: int, forced: bool = False) -> Match | None:
    month = month_at(scan, i)
    if month is None:
        return None
    number, j = month
    following = year_after(scan, j)
    if following is not None:
        return calendar_month(scan, following[0], number), following[1]
    other = _year_by_word(scan, j)
    if other is not None:
        return calendar_month(scan, other[0], number), other[1]
    if not forced and not month_alone(scan, i, j):
        return None
    return calendar_month(scan, None, number), j


def _year_by_word(scan: Scan, j: int) -> tuple[int, int] | None:
    """ "of last year", "next year", "this year"."""
    k = scan.skip(j, "of", ",")
    steps = scan.lex.shifts.get(scan.words[k])
    if steps is None or scan.words[k + 1] != "year":
        return None
    return scan.now.year + steps, k + 2


def special_year(scan: Scan, i: int) -> Match | None:
    """ "fiscal year 2008", "FY18", "this school year", "cy 2008", "calendar year"."""
    words = scan.words
    steps = scan.lex.shifts.get(words[i])
    j = i + 1 if steps is not None else i
    if words[j] in ("fiscal", "financial", "school", "calendar", "academic") and words[j + 1] == "year":
        name, k = words[j], j + 2
    elif words[j] in ("fy", "cy", "sy"):
        name, k = {"fy": "fiscal", "cy": "calendar", "sy": "school"}[words[j]], j + 1
    else:
        return None
    k = scan.skip(k, "'", "of")
    width = scan.digits(k)
    if width in (2, 4) and steps is None:
        number = scan.numbers[k] or 0
        return _special(scan, name, number if width == 4 else two_digit_year(number)[-1], True), k + 1
    if words[j] in ("cy", "sy") and steps is None:
        return None
    k = j + 1 if words[j] in ("fy", "cy", "sy") else j + 2
    return _special(scan, name, scan.now.year + (steps or 0), steps is not None), k


def _special(scan: Scan, name: str, number: int, known: bool) -> Node:
    if name == "calendar":
        return calendar_year(number)
    first = scan.options.fiscal_year_start
    school = name in ("school", "academic")
    if school and known and scan.now.month >= 9 and number == scan.now.year:
        bounds = school_bounds(number + 1)
    elif school:
        bounds = school_bounds(number)
    else:
        bounds = fiscal_bounds(
            number + (1 if first > 1 and scan.now.month >= first and not known else 0), first
        )
    return period_node(
        [bounds], "year", ("SY" if school else "FY") + (f"{number:04}" if known else "XXXX"), "unresolved"
    )


@memoised
def relative_unit(scan: Scan, i: int) -> Match | None:
    """ "last week", "the month", "that weekend", "next hour", "the week after next"."""
    words = scan.words
    far = _week_after_next(scan, i)
    if far is not None:
        return far
    if words[i] == "the":
        return _the_unit(scan, i)
    unit = scan.lex.units.get(words[i])
    if unit == "weekend" and words[i] == "weekend":
        return unit_node("weekend", scan.now, 0), i + 1
    if words[i] in ("same", "that") or scan.at(i, "this", "same"):
        j = i + 1 if words[i] != "this" else i + 2
        return _undefined(scan, j)
    steps = scan.lex.shifts.get(words[i])
    if steps is None:
        return None
    j = i + 1
    if words[i] == "this" and scan.lex.shifts.get(words[j]):
        steps, j = scan.lex.shifts[words[j]], j + 1
    return _shifted(scan, steps, j)


def _shifted(scan: Scan, steps: int, j: int) -> Match | None:
    words = scan.words
    if words[j] in ("working", "work", "business") and words[j + 1] == "week":
        node = unit_node("week", scan.now, steps)
        start = node.alts[0].start
        assert start is not None
        node.alts = [Alt(start, start + 5 * DAY, start + 5 * DAY)]
        return node, j + 2
    unit = scan.lex.units.get(words[j])
    if (
        unit is None
        or (words[j].endswith("s") and words[j] not in ("hrs",))
        or words[j] in ("d", "h", "y", "mo", "min", "sec")
    ):
        return None
    if unit in GRAIN_LENGTH:
        return (_near_moments(scan, unit, steps), j + 1) if steps and words[j + 1] != "of" else None
    if unit not in _WHOLE or (unit == "quarter" and words[j + 1] in ("past", "to")):
        return None
    return unit_node(unit, scan.now, steps), j + 1


def _near_moments(scan: Scan, unit: str, steps: int) -> Node:
    now = scan.now.replace(microsecond=0)
    other = elapsed(scan, now, GRAIN_LENGTH[unit] * steps)
    first, last = (other, now) if steps < 0 else (now, other)
    return Node("datetimerange", unit, [Alt(first, last, last)])


def _the_unit(scan: Scan, i: int) -> Match | None:
    words = scan.words
    if words[i + 1] in scan.lex.shifts and scan.lex.units.get(words[i + 2]) in ("decade", "century"):
        return _shifted(scan, scan.lex.shifts[words[i + 1]], i + 2)
    unit = scan.lex.units.get(words[i + 1])
    if unit not in _WHOLE or words[i + 1] != unit:
        return None
    if (
        words[i + 2]
        in ("of", "after", "before", "that", "when", "prior", "to", "-", "starting", "beginning", "'")
        or scan.numbers[i + 2] is not None
    ):
        return None
    if i and words[i - 1] in ("all", "whole", "throughout"):
        return None
    return unit_node(unit, scan.now, 0), i + 2


def _undefined(scan: Scan, j: int) -> Match | None:
    unit = scan.lex.units.get(scan.words[j])
    if unit not in _WHOLE or scan.words[j] != unit:
        return None
    return unit_node(unit, scan.now, 0).changed(mod="ref_undef"), j + 1


def _week_after_next(scan: Scan, i: int) -> Match | None:
    j = scan.skip(i, "the")
    unit = scan.lex.units.get(scan.words[j])
    if unit not in _WHOLE:
        return None
    if scan.at(j + 1, "after", "next"):
        return unit_node(unit, scan.now, 2), j + 3
    if scan.at(j + 1, "before", "last"):
        return unit_node(unit, scan.now, -2), j + 3
    return None
