"""Quarters, halves, numbered weeks, weeks of a date, decades and centuries."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import period_node
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
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan


def _coded(scan: Scan, i: int, letter: str, highest: int) -> tuple[int, int] | None:
    """ "Q3" as a letter with a glued digit."""
    number = scan.numbers[i + 1]
    if (
        scan.words[i] != letter
        or scan.spaced[i + 1]
        or number is None
        or not 1 <= number <= highest
        or scan.digits(i + 1) != 1
        or (not scan.spaced[i + 2] and scan.words[i + 2].isalnum() and scan.words[i + 2] != "fy")
    ):
        return None
    return number, i + 2


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
    number = scan.numbers[k]
    if scan.digits(k) == 4 and number is not None and 1500 <= number <= 2199:
        return number, k + 1
    steps = scan.lex.shifts.get(words[k])
    if steps is not None and words[k + 1] == "year":
        return scan.now.year + steps, k + 2
    return None


def _term(scan: Scan, months: int, number: int, year: int | None) -> Node:
    """The nth quarter or half of a year; without a year of this one and the next, as it is or was."""
    grain = "quarter" if months == 3 else "half"
    if year is not None:
        years, prefix = [year], f"{year:04}"
    else:
        years, prefix = [scan.now.year, scan.now.year + 1], "XXXX"
        if datetime(scan.now.year, (number - 1) * months + 1, 1) > scan.now:
            years = [scan.now.year - 1, scan.now.year]
    starts = [add_months(datetime(each, 1, 1), (number - 1) * months) for each in years]
    first, last = starts[0], add_months(starts[0], months)
    last_year = prefix if last.year == first.year or year is None else f"{last.year:04}"
    timex = f"({prefix}-{first:%m-%d},{last_year}-{last:%m-%d},P{months}M)"
    return period_node([(start, add_months(start, months)) for start in starts], grain, timex)


def _coded_term(scan: Scan, i: int, letter: str, months: int) -> Match | None:
    highest = 12 // months
    code = _coded(scan, i, letter, highest)
    if code is not None:
        if (
            i
            and not scan.spaced[i]
            and not (scan.words[i - 1] == "(" or (scan.words[i - 1] in "-/" and scan.spaced[i - 1]))
        ):
            return None
        year = _year_here(scan, code[1])
        if year is not None:
            return _term(scan, months, code[0], year[0]), year[1]
        return _term(scan, months, code[0], None), code[1]
    if scan.digits(i) == 4 and 1500 <= (scan.numbers[i] or 0) <= 2199:
        after = _coded(scan, scan.skip(i + 1, "-", "/", ","), letter, highest)
        if after is not None:
            return _term(scan, months, after[0], scan.numbers[i]), after[1]
    return None


def _spelled_term(scan: Scan, i: int, word: str, months: int) -> Match | None:
    """ "the first quarter of 2019", "second half of last year", "next year's first quarter", "last year's Q3"."""
    words = scan.words
    j = scan.skip(i, "the")
    owner = _owner_year(scan, j)
    if owner is not None:
        return _owned_term(scan, owner, word, months)
    number = (12 // months, j + 1) if words[j] == "last" else ordinal(scan, j)
    if number is None or number[0] > 12 // months or words[number[1]] != word:
        return None
    end = number[1] + 1
    year = _year_here(scan, end)
    if year is not None:
        return _term(scan, months, number[0], year[0]), year[1]
    if scan.at(end, "of", "the", "year"):
        return _term(scan, months, number[0], None), end + 3
    if words[j] == "last" or words[end] == "of" or word == "half":
        return None
    return _term(scan, months, number[0], None), end


def _owner_year(scan: Scan, j: int) -> tuple[int, int] | None:
    steps = scan.lex.shifts.get(scan.words[j])
    if steps is not None and scan.words[j + 1] in ("years", "year"):
        return scan.now.year + steps, scan.skip(j + 2, "'s", "'")
    if (
        scan.digits(j) == 4
        and 1500 <= (scan.numbers[j] or 0) <= 2199
        and scan.words[j + 1] in ("'", "'s", "s")
    ):
        return scan.numbers[j] or 0, j + 3 if scan.words[j + 1] == "'" and scan.words[j + 2] == "s" else j + 2
    return None


def _owned_term(scan: Scan, owner: tuple[int, int], word: str, months: int) -> Match | None:
    year, k = owner
    number = (12 // months, k + 1) if scan.words[k] == "last" else ordinal(scan, k)
    if number is not None and number[0] <= 12 // months and scan.words[number[1]] == word:
        return _term(scan, months, number[0], year), number[1] + 1
    code = _coded(scan, k, word[0], 12 // months)
    return None if code is None else (_term(scan, months, code[0], year), code[1])


def quarter(scan: Scan, i: int) -> Match | None:
    """ "Q1", "q1-2019", "2017 q1", "the first quarter of the year"."""
    found = (
        _coded_term(scan, i, "q", 3) or _spelled_term(scan, i, "quarter", 3) or _fiscal_first(scan, i, "q", 3)
    )
    return _in_fiscal_year(scan, i, found)


def half(scan: Scan, i: int) -> Match | None:
    """ "H2", "2019-H2", "the first half of 2019"."""
    found = (
        _coded_term(scan, i, "h", 6) or _spelled_term(scan, i, "half", 6) or _fiscal_first(scan, i, "h", 6)
    )
    return _in_fiscal_year(scan, i, found)


def _fiscal_first(scan: Scan, i: int, letter: str, months: int) -> Match | None:
    """ "fiscal Q3 2019", "FY18 Q3", "FY2018Q3"."""
    if scan.words[i] == "fiscal":
        return _coded_term(scan, i + 1, letter, months) if scan.words[i + 1] == letter else None
    width, number = scan.digits(i + 1), scan.numbers[i + 1]
    if scan.words[i] != "fy" or width not in (2, 4) or number is None:
        return None
    code = _coded(scan, scan.skip(i + 2, "-", ","), letter, 12 // months)
    return (
        None
        if code is None
        else (_term(scan, months, code[0], number if width == 4 else 2000 + number), code[1])
    )


def _in_fiscal_year(scan: Scan, i: int, found: Match | None) -> Match | None:
    """Moves a quarter or half to where the fiscal year has it, when one is spoken of."""
    first = scan.options.fiscal_year_start
    if found is None or first == 1 or not {"fiscal", "fy"} & set(scan.words[i : found[1]]):
        return found
    node, end = found
    pairs = [
        (add_months(alt.start, first - 13), add_months(alt.stop, first - 13))
        for alt in node.alts
        if alt.start is not None and alt.stop is not None
    ]
    return period_node(pairs, node.grain), end


def week_number(scan: Scan, i: int) -> Match | None:
    """ "week 10", "week 3 of 2027", "W10"."""
    words = scan.words
    if scan.digits(i) == 4 and words[i + 1] == "-" and words[i + 2] == "w":
        return _iso_week(scan, i)
    if words[i] not in ("week", "w", "wk"):
        return None
    number = scan.numbers[i + 1]
    if number is None or scan.digits(i + 1) > 2 or number == 0 or (words[i] == "w" and scan.spaced[i + 1]):
        return None
    year = (
        _year_here(scan, i + 2)
        if words[i + 2] in ("of", "in", ",", "-", "this", "last", "next") or scan.digits(i + 2) == 4
        else None
    )
    chosen, j = year if year is not None else (scan.now.year, i + 2)
    if number > weeks_in_year(chosen):
        return None
    start = iso_week(chosen, number)
    return period_node([(start, start + WEEK)], "week", f"{chosen}-W{number:02}"), j


def _iso_week(scan: Scan, i: int) -> Match | None:
    """ "2019-W25"."""
    year, number = scan.numbers[i] or 0, scan.numbers[i + 3]
    if number is None or scan.digits(i + 3) != 2 or not 1 <= number <= weeks_in_year(max(year, 1)):
        return None
    start = iso_week(year, number)
    return period_node([(start, start + WEEK)], "week", f"{year}-W{number:02}"), i + 4


def week_of(scan: Scan, i: int) -> Match | None:
    """ "w/c Feb 4", "the week of May 3rd", "the week starting on February 4"."""
    words = scan.words
    j = scan.skip(i, "the")
    if scan.at(j, "w", "/", "c") or scan.at(j, "w", "/", "b"):
        k = j + 3
    elif words[j] == "week" and words[j + 1] in ("of", "starting", "beginning", "commencing"):
        k = scan.skip(j + 2, "on", "from")
    else:
        return None
    found = scan.day(k)
    if found is None or found[0].kind != "date":
        return None
    starts = [week_start(alt.start) for alt in found[0].alts if alt.start is not None]
    return period_node([(start, start + WEEK) for start in starts], "week", found[0].timex), found[1]


def decade(scan: Scan, i: int) -> Match | None:
    """ "1990s", "the 90s", "the nineties", "15th century", "the 1800s"."""
    words = scan.words
    found = _century(scan, i)
    if found is not None:
        return found
    j = scan.skip(i, "the")
    k = scan.skip(scan.skip(j, "early", "mid", "late"), "-")
    if k != j:
        return None
    if words[j] in scan.lex.decades and (j > i or (i and words[i - 1] == "the")):
        return _decade(1900 + scan.lex.decades[words[j]]), j + 1
    if words[j] in ("nineteen", "eighteen") and words[j + 1] in scan.lex.decades:
        return _decade((1900 if words[j] == "nineteen" else 1800) + scan.lex.decades[words[j + 1]]), j + 2
    apostrophe = words[j] in ("'", "’", "‘") and not scan.spaced[j + 1]
    j = j + 1 if apostrophe else j
    number, width = scan.numbers[j], scan.digits(j)
    if number is None or number % 10 or inside_number(scan, j):
        return None
    if (
        j
        and scan.words[j - 1] == "-"
        and not scan.spaced[j]
        and scan.words[j - 2] not in ("mid", "early", "late", "pre", "s")
    ):
        return None
    k = j + 2 if words[j + 1] in ("'", "’") and words[j + 2] == "s" and not scan.spaced[j + 2] else j + 1
    if words[k] not in ("s", "'s") or (scan.spaced[k] and width != 4):
        return None
    if width == 4 and 1000 <= number <= 2199:
        return (_hundred(number) if number % 100 == 0 and number < 2000 else _decade(number)), k + 1
    if width == 2 and (
        apostrophe
        or j > i
        or scan.words[i - 1 if i else 0] in ("the", "mid", "early", "late", "of", "-", "in")
    ):
        return _decade((1900 if number >= 20 else 2000) + number), k + 1
    return None


def _century(scan: Scan, i: int) -> Match | None:
    number = ordinal(scan, i)
    if number is None or scan.words[number[1]] not in ("century", "cent") or not 1 <= number[0] <= 21:
        return None
    if scan.words[number[1] + 1] in ("bc", "bce"):
        return None
    first = (number[0] - 1) * 100
    start = year_start(max(first, 1))
    stop = year_start(first + 100)
    return period_node([(start, stop)], "century", f"({start:%Y-%m-%d},{stop:%Y-%m-%d},P100Y)"), number[1] + 1


def _decade(first: int) -> Node:
    start = datetime(first, 1, 1)
    return period_node(
        [(start, add_years(start, 10))], "decade", f"({start:%Y-%m-%d},{add_years(start, 10):%Y-%m-%d},P10Y)"
    )


def _hundred(first: int) -> Node:
    start = datetime(first, 1, 1)
    return period_node([(start, add_years(start, 100))], "century")
