"""Named periods: months, years, seasons, "last week", "this fiscal year", "the weekend"."""

from __future__ import annotations

from dataclasses import replace

from perdure.dates.calendar import DAY, fiscal_bounds, school_bounds, season_bounds
from perdure.dates.grammar.months import month_alone, month_at, year, year_after
from perdure.dates.grammar.numbers import two_digit_year
from perdure.dates.grammar.numeric import numeric_month
from perdure.dates.grammar.terms import decade, half, quarter, week_number, week_of
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import FINE_UNITS, Alt, Match, Node, calendar_year, make_length, period_node
from perdure.dates.scan import Scan, memoised

_WHOLE = word_set("week month quarter year weekend decade century fortnight")
_SHORT_UNITS = word_set("d h y mo min sec")
_AFTER_THE_UNIT = word_set("of after before that when prior to - starting beginning '")
_YEAR_CODES = {"fy": "fiscal", "cy": "calendar", "sy": "school"}
_SEASON_CODES = {"spring": "SP", "summer": "SU", "autumn": "FA", "winter": "WI"}
_SEASON_LEADS = word_set(
    "in during since until till by the whole early late mid of over all through throughout before after around entire"
)
_THE_SEASON_LEADS = word_set("in during of until since by before after")


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
    j = scan.skip(i, "the")
    if scan.at(j, "month", "of"):
        return _plain_month(scan, j + 2, forced=True)
    steps = scan.steps(i)
    if steps is None or scan.words[i] == "present":
        return _plain_month(scan, i)
    month = month_at(scan, i + 1)
    if month is None or not month_alone(scan, i + 1, month[1]) or year_after(scan, month[1]) is not None:
        return None
    return scan.month_in(month[0], steps), month[1]


def _plain_month(scan: Scan, i: int, forced: bool = False) -> Match | None:
    month = month_at(scan, i)
    if month is None:
        return None
    number, j = month
    after = year_after(scan, j) or scan.year_by_word(scan.skip(j, "of", ","))
    if after is not None:
        return scan.calendar_month(after[0], number), after[1]
    return (scan.calendar_month(None, number), j) if forced or month_alone(scan, i, j) else None


def season(scan: Scan, i: int) -> Match | None:
    """A season with what tells its year: "last summer", "spring 2020", "this winter"."""
    words = scan.words
    steps, j = scan.shifted(i)
    j = scan.skip(i, "the") if steps is None else j
    name = scan.lex.seasons.get(words[j])
    if name is None or (j == i + 2 and words[i] != "this"):
        return None
    if steps is not None:
        year = _season_year(scan, name, steps)
        return _season_node(scan, name, [year], f"{year}-{_SEASON_CODES[name]}"), j + 1
    after = year_after(scan, j + 1) or scan.year_by_word(scan.skip(j + 1, "of"))
    if after is not None:
        return _season_node(scan, name, [after[0]], f"{after[0]}-{_SEASON_CODES[name]}"), after[1]
    if words[j] in ("spring", "fall") and words[i - 1] not in (_THE_SEASON_LEADS if j > i else _SEASON_LEADS):
        return None
    begun = _last_begun(scan, name)
    return _season_node(scan, name, [begun, begun + 1], _SEASON_CODES[name]), j + 1


def _season_node(scan: Scan, name: str, years: list[int], timex: str) -> Node:
    southern = scan.options.southern_hemisphere
    return period_node([season_bounds(name, year, southern) for year in years], "season", timex)


def _last_begun(scan: Scan, name: str) -> int:
    """The year of the last (or running) such season."""
    southern = scan.options.southern_hemisphere
    years = range(scan.now.year - 2, scan.now.year + 1)
    return [year for year in years if season_bounds(name, year, southern)[0] <= scan.now][-1]


def _season_year(scan: Scan, name: str, steps: int) -> int:
    begun, this_year = _last_begun(scan, name), scan.now.year

    def runs(year: int) -> bool:
        return season_bounds(name, year, scan.options.southern_hemisphere)[1] > scan.now

    if steps < 0:
        return begun - runs(begun)
    return begun + 1 if steps > 0 else this_year - runs(this_year - 1)


def special_year(scan: Scan, i: int) -> Match | None:
    """ "fiscal year 2008", "FY18", "this school year", "cy 2008", "calendar year"."""
    words = scan.words
    steps = scan.steps(i)
    j = i + 1 if steps is not None else i
    if words[j] in ("fiscal", "financial", "school", "calendar", "academic") and words[j + 1] == "year":
        name, end = words[j], j + 2
    elif words[j] in _YEAR_CODES:
        name, end = _YEAR_CODES[words[j]], j + 1
    else:
        return None
    k = scan.skip(end, "'", "of")
    width = scan.digits(k)
    if width in (2, 4) and steps is None:
        number = scan.numbers[k] or 0
        return _special(scan, name, number if width == 4 else two_digit_year(number)[-1], True), k + 1
    if words[j] in ("cy", "sy") and steps is None:
        return None
    return _special(scan, name, scan.now.year + (steps or 0), steps is not None), end


def _special(scan: Scan, name: str, number: int, named: bool) -> Node:
    """The calendar, school or fiscal year of a number; without a name the running one."""
    if name == "calendar":
        return calendar_year(number)
    shown = f"{number:04}" if named else "XXXX"
    now, first = scan.now, scan.options.fiscal_year_start
    if name in ("school", "academic"):
        begun = named and now.month >= 9 and number == now.year
        return period_node([school_bounds(number + begun)], "year", "SY" + shown)
    begun = not named and 1 < first <= now.month
    return period_node([fiscal_bounds(number + begun, first)], "year", "FY" + shown)


@memoised
def relative_unit(scan: Scan, i: int) -> Match | None:
    """ "last week", "the month", "that weekend", "next hour", "the week after next"."""
    words = scan.words
    far = _week_after_next(scan, i)
    if far is not None:
        return far
    if words[i] == "the":
        return _the_unit(scan, i)
    if words[i] == "weekend":
        return scan.unit_node("weekend", 0), i + 1
    if words[i] in ("same", "that") or scan.at(i, "this", "same"):
        return _undefined(scan, i + 2 if words[i] == "this" else i + 1)
    steps, j = scan.shifted(i)
    if steps is None or (j == i + 2 and words[i] != "this"):
        return None
    return _shifted_unit(scan, steps, j)


def _shifted_unit(scan: Scan, steps: int, j: int) -> Match | None:
    words = scan.words
    if words[j] in ("working", "work", "business") and words[j + 1] == "week":
        node = scan.unit_node("week", steps)
        saturday = node.starts[0] + 5 * DAY
        return replace(node, alts=[Alt(node.starts[0], saturday, saturday)]), j + 2
    unit = scan.unit(j)
    if unit is None or words[j] in _SHORT_UNITS or (words[j].endswith("s") and words[j] != "hrs"):
        return None
    if unit in FINE_UNITS:
        elapsed = steps != 0 and words[j + 1] != "of"
        return (scan.time_around_now(make_length(1, unit), steps), j + 1) if elapsed else None
    if unit not in _WHOLE or (unit == "quarter" and words[j + 1] in ("past", "to")):
        return None
    return scan.unit_node(unit, steps), j + 1


def _whole_unit(scan: Scan, j: int) -> str | None:
    """A unit from a week on, by its full name in the singular."""
    return scan.words[j] if scan.words[j] in _WHOLE else None


def _the_unit(scan: Scan, i: int) -> Match | None:
    words = scan.words
    steps = scan.steps(i + 1)
    if steps is not None and scan.unit(i + 2) in ("decade", "century"):
        return _shifted_unit(scan, steps, i + 2)
    unit = _whole_unit(scan, i + 1)
    if unit is None or words[i + 2] in _AFTER_THE_UNIT or scan.numbers[i + 2] is not None:
        return None
    return None if words[i - 1] in ("all", "whole", "throughout") else (scan.unit_node(unit, 0), i + 2)


def _undefined(scan: Scan, j: int) -> Match | None:
    unit = _whole_unit(scan, j)
    return None if unit is None else (replace(scan.unit_node(unit, 0), mod="ref_undef"), j + 1)


def _week_after_next(scan: Scan, i: int) -> Match | None:
    j = scan.skip(i, "the")
    unit = scan.unit(j)
    if unit not in _WHOLE:
        return None
    steps = 2 if scan.at(j + 1, "after", "next") else -2 if scan.at(j + 1, "before", "last") else 0
    return (scan.unit_node(unit, steps), j + 3) if steps else None
