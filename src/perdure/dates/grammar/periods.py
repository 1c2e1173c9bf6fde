"""Periods: months, seasons, years, "last week", "Q3", "week 10", "the nineties", "this fiscal year"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from perdure.dates.calendar import DAY, WEEK, add_months, season_bounds, week_start, weeks_in_year
from perdure.dates.grammar.months import decade, month_alone, month_at, year, year_after
from perdure.dates.grammar.numbers import ordinal, two_digit_year, year_words
from perdure.dates.grammar.numeric import inside_number, numeric_month
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
        or _year_then_month(scan, i)
        or _term_at(scan, i, "quarter", 3)
        or _term_at(scan, i, "half", 6)
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
    if (steps := scan.steps(i)) is None or scan.words[i] == "present":
        return _plain_month(scan, i)
    month = month_at(scan, i + 1)
    if month is None or not month_alone(scan, i + 1, month[1]) or year_after(scan, month[1]) is not None:
        return None
    return scan.shifted_month(month[0], steps), month[1]


def _plain_month(scan: Scan, i: int, forced: bool = False) -> Match | None:
    if (month := month_at(scan, i)) is None:
        return None
    number, j = month
    after = year_after(scan, j) or scan.year_by_word(scan.skip(j, "of", ","))
    if after is not None:
        return scan.calendar_month(after[0], number), after[1]
    return (scan.calendar_month(None, number), j) if forced or month_alone(scan, i, j) else None


def _year_then_month(scan: Scan, i: int) -> Match | None:
    """ "2016 November", "2016, Nov"."""
    number = scan.year_in_digits(i)
    month = (
        month_at(scan, scan.skip(i + 1, ",")) if number is not None and not inside_number(scan, i) else None
    )
    if number is None or month is None or scan.numbers[month[1]] is not None:
        return None
    named = (
        scan.words[month[1] - 1] not in ("may", "march", "april", "june", "august")
        or scan.words[i + 1] != ","
    )
    return (
        (scan.calendar_month(number, month[0]), month[1])
        if named and scan.capitalised(month[1] - 1)
        else None
    )


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
    if not scan.spaced[j + 1] and scan.numbers[j + 1] is not None:
        return None
    after = year_after(scan, j + 1) or scan.year_by_word(scan.skip(j + 1, "of"))
    if after is not None:
        return _season_node(scan, name, [after[0]], f"{after[0]}-{_SEASON_CODES[name]}"), after[1]
    if words[j] in ("spring", "fall") and words[i - 1] not in (_THE_SEASON_LEADS if j > i else _SEASON_LEADS):
        return None
    begun = _last_begun(scan, name)
    return _season_node(scan, name, [begun, begun + 1], _SEASON_CODES[name]), j + 1


def _season_node(scan: Scan, name: str, years: list[int], timex: str) -> Node:
    return period_node([_season_bounds(scan, name, year) for year in years], "season", timex)


def _season_bounds(scan: Scan, name: str, year: int) -> tuple[datetime, datetime]:
    return season_bounds(name, year, scan.options.southern_hemisphere)


def _last_begun(scan: Scan, name: str) -> int:
    """The year of the last (or running) such season."""
    years = range(scan.now.year - 2, scan.now.year + 1)
    return [year for year in years if _season_bounds(scan, name, year)[0] <= scan.now][-1]


def _season_year(scan: Scan, name: str, steps: int) -> int:
    """The year of "last", "this" or "next" summer."""
    begun, this_year = _last_begun(scan, name), scan.now.year
    if steps < 0:
        return begun if _season_bounds(scan, name, begun)[1] <= scan.now else begun - 1
    if steps > 0:
        return begun + 1
    return this_year if _season_bounds(scan, name, this_year - 1)[1] <= scan.now else this_year - 1


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
        # September to June, named after the year it ends in.
        if named and number == now.year and now.month >= 9:
            number += 1
        return period_node([(datetime(number - 1, 9, 1), datetime(number, 7, 1))], "year", "SY" + shown)
    if not named and 1 < first <= now.month:
        number += 1
    start = datetime(number - (first > 1), first, 1)
    return period_node([(start, add_months(start, 12))], "year", "FY" + shown)


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


def _term_at(scan: Scan, i: int, word: str, months: int) -> Match | None:
    """A quarter or half: "Q1", "2019-H2", "2017 q1", "the first quarter of the year", "FY18 Q3"."""
    match = (
        _coded_term(scan, i, word, months)
        or _spelled_term(scan, i, word, months)
        or _fiscal_first(scan, i, word, months)
    )
    first = scan.options.fiscal_year_start
    if match is None or first == 1 or not {"fiscal", "fy"} & set(scan.words[i : match[1]]):
        return match
    # A quarter or half of a fiscal year lies where the fiscal year has it.
    node, end = match
    moved = [(add_months(start, first - 13), add_months(stop, first - 13)) for start, stop in node.bounds]
    return period_node(moved, node.grain), end


def _code(scan: Scan, i: int, word: str, months: int) -> tuple[int, int] | None:
    """ "Q3" or "H2": the word's first letter with a glued digit."""
    number = scan.numbers[i + 1]
    if scan.words[i] != word[0] or number is None or scan.spaced[i + 1] or scan.digits(i + 1) != 1:
        return None
    following = scan.words[i + 2]
    if not scan.spaced[i + 2] and following.isalnum() and following != "fy":
        return None
    return (number, i + 2) if 1 <= number <= 12 // months else None


def _spelled(scan: Scan, i: int, word: str, months: int) -> tuple[int, int] | None:
    """ "first quarter", "last half"."""
    number = (12 // months, i + 1) if scan.words[i] == "last" else ordinal(scan, i)
    if number is None or number[0] > 12 // months:
        return None
    end = scan.skip(number[1], "-")
    return (number[0], end + 1) if scan.words[end] == word else None


def _year_here(scan: Scan, k: int) -> tuple[int, int] | None:
    """A year that completes a quarter: "2019", "of last year", "-2019", "FY18"."""
    words = scan.words
    k = scan.skip(k, "-", ",", "of", "in", "/")
    k = scan.skip(scan.skip(k, "the"), "fiscal", "calendar")
    if words[k] == "year" and words[k - 1] == "the":
        return None
    if words[k] in ("fy", "cy", "'"):
        k += 1
        if scan.digits(k) == 2:
            return 2000 + (scan.numbers[k] or 0), k + 1
    if words[k] == "year" and scan.digits(k + 1) == 4:
        k += 1
    number = scan.year_in_digits(k)
    if number is not None:
        return number, k + 1
    spoken = year_words(scan, k) if scan.words[k] in scan.lex.cardinals else None
    return spoken or scan.year_by_word(k)


def _term(scan: Scan, months: int, number: int, year: int | None) -> Node:
    """The nth quarter or half of a year; without a year of this one and the next, as it is or was."""
    if year is not None:
        years, prefix = [year], f"{year:04}"
    else:
        coming = datetime(scan.now.year, (number - 1) * months + 1, 1) > scan.now
        years, prefix = [scan.now.year - coming, scan.now.year - coming + 1], "XXXX"
    starts = [add_months(datetime(each, 1, 1), (number - 1) * months) for each in years]
    pairs = [(start, add_months(start, months)) for start in starts]
    first, last = pairs[0]
    last_year = prefix if last.year == first.year or year is None else f"{last.year:04}"
    timex = f"({prefix}-{first:%m-%d},{last_year}-{last:%m-%d},P{months}M)"
    return period_node(pairs, "quarter" if months == 3 else "half", timex)


def _coded_term(scan: Scan, i: int, word: str, months: int) -> Match | None:
    code = _code(scan, i, word, months)
    if code is not None:
        previous = scan.words[i - 1]
        if not scan.spaced[i] and previous != "(" and not (previous in ("-", "/") and scan.spaced[i - 1]):
            return None
        year, end = _year_here(scan, code[1]) or (None, code[1])
        return _term(scan, months, code[0], year), end
    year = scan.year_in_digits(i)
    code = None if year is None else _code(scan, scan.skip(i + 1, "-", "/", ","), word, months)
    return None if code is None else (_term(scan, months, code[0], year), code[1])


def _spelled_term(scan: Scan, i: int, word: str, months: int) -> Match | None:
    """ "the first quarter of 2019", "second half of last year", "next year's first quarter", "last year's Q3"."""
    j = scan.skip(i, "the")
    owner = _owner_year(scan, j)
    if owner is not None:
        year, k = owner
        owned = _spelled(scan, k, word, months) or _code(scan, k, word, months)
        return None if owned is None else (_term(scan, months, owned[0], year), owned[1])
    if (spelled := _spelled(scan, j, word, months)) is None:
        return None
    number, end = spelled
    after = _year_here(scan, end)
    if after is not None:
        return _term(scan, months, number, after[0]), after[1]
    if scan.at(end, "of", "the", "year"):
        return _term(scan, months, number, None), end + 3
    if scan.words[j] == "last" or scan.words[end] == "of" or word == "half":
        return None
    return _term(scan, months, number, None), end


def _owner_year(scan: Scan, j: int) -> tuple[int, int] | None:
    """ "last year's", "2019's"."""
    steps, number = scan.steps(j), scan.year_in_digits(j)
    if steps is not None and scan.words[j + 1] in ("years", "year"):
        return scan.now.year + steps, scan.skip(j + 2, "'s", "'")
    if number is not None and scan.words[j + 1] in ("'", "'s", "s"):
        return number, j + 3 if scan.at(j + 1, "'", "s") else j + 2
    return None


def _fiscal_first(scan: Scan, i: int, word: str, months: int) -> Match | None:
    """ "fiscal Q3 2019", "FY18 Q3", "FY2018Q3"."""
    if scan.words[i] == "fiscal":
        return _coded_term(scan, i + 1, word, months) if scan.words[i + 1] == word[0] else None
    width, number = scan.digits(i + 1), scan.numbers[i + 1]
    if scan.words[i] != "fy" or width not in (2, 4) or number is None:
        return None
    code = _code(scan, scan.skip(i + 2, "-", ","), word, months)
    year = number if width == 4 else 2000 + number
    return None if code is None else (_term(scan, months, code[0], year), code[1])


def week_number(scan: Scan, i: int) -> Match | None:
    """ "week 10", "week 3 of 2027", "W10", "2019-W25"."""
    words = scan.words
    if scan.digits(i) == 4 and scan.at(i + 1, "-", "w"):
        year, number = scan.numbers[i] or 0, scan.numbers[i + 3]
        if number is None or scan.digits(i + 3) != 2 or not 1 <= number <= weeks_in_year(max(year, 1)):
            return None
        return _week(year, number), i + 4
    number = scan.numbers[i + 1]
    if words[i] not in ("week", "w", "wk") or not number or scan.digits(i + 1) > 2:
        return None
    if words[i] == "w" and scan.spaced[i + 1]:
        return None
    dated = words[i + 2] in ("of", "in", ",", "-", "this", "last", "next") or scan.digits(i + 2) == 4
    year, end = (_year_here(scan, i + 2) if dated else None) or (scan.now.year, i + 2)
    return (_week(year, number), end) if number <= weeks_in_year(year) else None


def _week(year: int, number: int) -> Node:
    start = datetime.fromisocalendar(year, number, 1)
    return period_node([(start, start + WEEK)], "week", f"{year}-W{number:02}")


def week_of(scan: Scan, i: int) -> Match | None:
    """ "w/c Feb 4", "the week of May 3rd", "the week starting on February 4", "the weekend of May 5"."""
    j = scan.skip(i, "the")
    if scan.at(j, "w", "/", "c") or scan.at(j, "w", "/", "b"):
        k = j + 3
    elif scan.at(j, "weekend", "of") or (
        scan.words[j] == "week" and scan.words[j + 1] in ("of", "starting", "beginning", "commencing")
    ):
        k = scan.skip(j + 2, "on", "from")
    else:
        return None
    if (match := scan.day(k)) is None or match[0].kind != "date":
        return None
    starts = [week_start(day) for day in match[0].starts]
    if scan.words[j] == "weekend":
        return period_node([(start + 5 * DAY, start + WEEK) for start in starts], "weekend"), match[1]
    return period_node([(start, start + WEEK) for start in starts], "week", match[0].timex), match[1]
