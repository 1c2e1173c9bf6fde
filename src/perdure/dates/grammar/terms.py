"""Quarters, halves, numbered weeks, weeks of a date, decades and centuries."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import (
    WEEK,
    add_months,
    add_years,
    iso_week,
    week_start,
    weeks_in_year,
    year_start,
)
from perdure.dates.grammar.numbers import ordinal
from perdure.dates.grammar.numeric import inside_number
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node, period_node
from perdure.dates.scan import Scan

_BEFORE_DECADE = word_set("the mid early late of - in")
_BEFORE_DASH = word_set("mid early late pre s")


def quarter(scan: Scan, i: int) -> Match | None:
    """ "Q1", "q1-2019", "2017 q1", "the first quarter of the year", "FY18 Q3"."""
    return _term_at(scan, i, "quarter", 3)


def half(scan: Scan, i: int) -> Match | None:
    """ "H2", "2019-H2", "the first half of 2019"."""
    return _term_at(scan, i, "half", 6)


def _term_at(scan: Scan, i: int, word: str, months: int) -> Match | None:
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
    if number is None or number[0] > 12 // months or scan.words[number[1]] != word:
        return None
    return number[0], number[1] + 1


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
    return (number, k + 1) if number is not None else scan.year_by_word(k)


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
    spelled = _spelled(scan, j, word, months)
    if spelled is None:
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
    start = iso_week(year, number)
    return period_node([(start, start + WEEK)], "week", f"{year}-W{number:02}")


def week_of(scan: Scan, i: int) -> Match | None:
    """ "w/c Feb 4", "the week of May 3rd", "the week starting on February 4"."""
    j = scan.skip(i, "the")
    if scan.at(j, "w", "/", "c") or scan.at(j, "w", "/", "b"):
        k = j + 3
    elif scan.words[j] == "week" and scan.words[j + 1] in ("of", "starting", "beginning", "commencing"):
        k = scan.skip(j + 2, "on", "from")
    else:
        return None
    match = scan.day(k)
    if match is None or match[0].kind != "date":
        return None
    starts = [week_start(day) for day in match[0].starts]
    return period_node([(start, start + WEEK) for start in starts], "week", match[0].timex), match[1]


def decade(scan: Scan, i: int) -> Match | None:
    """ "1990s", "the 90s", "the nineties", "15th century", "the 1800s"."""
    words, decades = scan.words, scan.lex.decades
    century = _century(scan, i)
    if century is not None:
        return century
    j = scan.skip(i, "the")
    if words[j] in ("early", "mid", "late", "-"):
        return None
    if words[j] in decades and "the" in (words[i], words[i - 1]):
        return _years(1900 + decades[words[j]], 10), j + 1
    if words[j] in ("nineteen", "eighteen") and words[j + 1] in decades:
        return _years((1900 if words[j] == "nineteen" else 1800) + decades[words[j + 1]], 10), j + 2
    apostrophe = words[j] in ("'", "’", "‘") and not scan.spaced[j + 1]
    j = j + 1 if apostrophe else j
    number, width = scan.numbers[j], scan.digits(j)
    if number is None or number % 10 or inside_number(scan, j):
        return None
    if words[j - 1] == "-" and not scan.spaced[j] and words[j - 2] not in _BEFORE_DASH:
        return None
    k = j + 2 if words[j + 1] in ("'", "’") and words[j + 2] == "s" and not scan.spaced[j + 2] else j + 1
    if words[k] not in ("s", "'s") or (scan.spaced[k] and width != 4):
        return None
    if width == 4 and 1000 <= number <= 2199:
        return (_years(number, 100) if number % 100 == 0 and number < 2000 else _years(number, 10)), k + 1
    if width == 2 and (apostrophe or j > i or words[i - 1] in _BEFORE_DECADE):
        return _years((1900 if number >= 20 else 2000) + number, 10), k + 1
    return None


def _century(scan: Scan, i: int) -> Match | None:
    number = ordinal(scan, i)
    if number is None or scan.words[number[1]] not in ("century", "cent") or not 1 <= number[0] <= 21:
        return None
    end = number[1] + 1
    if scan.words[end] in ("bc", "bce"):
        return None
    first = (number[0] - 1) * 100
    start, stop = year_start(max(first, 1)), year_start(first + 100)
    return period_node([(start, stop)], "century", f"({start:%Y-%m-%d},{stop:%Y-%m-%d},P100Y)"), end


def _years(first: int, length: int) -> Node:
    """The ten or hundred years from a year on."""
    start, stop = datetime(first, 1, 1), add_years(datetime(first, 1, 1), length)
    if length == 100:
        return period_node([(start, stop)], "century")
    return period_node([(start, stop)], "decade", f"({start:%Y-%m-%d},{stop:%Y-%m-%d},P10Y)")
