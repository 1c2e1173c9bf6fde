"""Dates in digits: 2018-09-23, 23.04.2022, 10/1/2018, 7/6, 22/Jan/2019, 2016 10 16, 20180923."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import calendar_day, calendar_month, day_node
from perdure.dates.calendar import is_date
from perdure.dates.grammar.numbers import two_digit_year
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node, Parts
from perdure.dates.scan import Scan, memoised

_SIGNS = frozenset("/-.")
_DATE_LEADS = word_set(
    "on by from since until till before after between next this last friday saturday sunday monday"
)
_AFTER_DATE = word_set(
    "at from between to until till through and or for with in on around before after by is was if we i he she they"
)


def glued(scan: Scan, i: int) -> bool:
    """Whether the sign at an index stands between two tokens without spaces."""
    return scan.words[i] in _SIGNS and not scan.spaced[i] and not scan.spaced[i + 1]


def inside_number(scan: Scan, i: int) -> bool:
    """Whether the number at an index continues a longer one, such as a price or a telephone number."""
    if i == 0 or scan.spaced[i]:
        return False
    previous = scan.words[i - 1]
    if previous in ("$", "£", "€", "#", "+", "="):
        return True
    if previous == "-" and _second_date(scan, i):
        return False
    return (
        previous in (".", ",", "/", "-", ":") and scan.digits(i - 2) > 0 and i >= 2 and not scan.spaced[i - 1]
    )


def _second_date(scan: Scan, i: int) -> bool:
    """Whether a date in digits follows the dash of a range: 5/1-5/7, 10-1-2018-10-7-2018."""
    if scan.words[i + 1] == "/":
        return True
    return (
        scan.digits(i - 2) == 4
        and scan.words[i + 1] == "-"
        and scan.words[i + 3] == "-"
        and scan.digits(i + 4) == 4
    )


def continues(scan: Scan, j: int, signs: str = "/.,") -> bool:
    """Whether digits go on at an index, so that what was read is part of something else."""
    if scan.words[j] == "%" or (scan.numbers[j] is not None and not scan.spaced[j]):
        return True
    return (
        scan.words[j] in signs and not scan.spaced[j] and not scan.spaced[j + 1] and scan.digits(j + 1) > 0
        if scan.words[j]
        else False
    )


def month_first(scan: Scan) -> bool:
    """Whether 3/4 is March 4."""
    return not scan.options.day_first


def order(scan: Scan, first: int, second: int) -> tuple[int, int] | None:
    """(month, day) of two numbers, by habit or by what is possible."""
    habit = (first, second) if month_first(scan) else (second, first)
    for month, day in (habit, habit[::-1]):
        if 1 <= month <= 12 and 1 <= day <= 31:
            return month, day
    return None


@memoised
def numeric_day(scan: Scan, i: int) -> Match | None:
    """A date in digits with or without a year."""
    width = scan.digits(i)
    if not width:
        article = scan.words[i] == "the" and scan.digits(i + 1) in (1, 2) and scan.words[i + 2] in ("/", ".")
        return numeric_day(scan, i + 1) if article else _shifted_day(scan, i)
    if width == 4:
        return _year_first(scan, i)
    if width > 2 or inside_number(scan, i):
        return None
    if glued(scan, i + 1):
        return _day_month_year(scan, i)
    return None


def _shifted_day(scan: Scan, i: int) -> Match | None:
    """ "next 5/12": of this year, or the one after now."""
    steps = scan.lex.shifts.get(scan.words[i])
    if steps is None or scan.words[i + 2] != "/" or not scan.digits(i + 1):
        return None
    found = numeric_day(scan, i + 1)
    if found is None or found[0].parts is None or found[0].parts.year is not None or not found[0].alts:
        return None
    if steps == 0:
        return node_with_year(scan, found[0], scan.now.year), found[1]
    chosen = found[0].alts[0 if steps < 0 else -1].start
    return (node_with_year(scan, found[0], chosen.year), found[1]) if chosen is not None else None


def compact_day(scan: Scan, i: int) -> Match | None:
    """20180923."""
    word = scan.words[i]
    if len(word) != 8 or not (word.isascii() and word.isdigit()) or continues(scan, i + 1):
        return None
    year, month, day = int(word[:4]), int(word[4:6]), int(word[6:])
    if not 1900 <= year <= 2100 or not is_date(year, month, day):
        return None
    return day_node(
        [datetime(year, month, day)], f"{year}-{month:02}-{day:02}", Parts(year, month, day)
    ), i + 1


def _year_first(scan: Scan, i: int) -> Match | None:
    year = scan.numbers[i] or 0
    if not 1000 <= year <= 2999:
        return None
    if glued(scan, i + 1) and glued(scan, i + 3) and scan.words[i + 1] == scan.words[i + 3]:
        return _parts_after_year(scan, year, i + 2, i + 4)
    spaced = scan.digits(i + 1) and scan.digits(i + 1) <= 2 and scan.digits(i + 2) and scan.digits(i + 2) <= 2
    if spaced and not inside_number(scan, i) and not continues(scan, i + 3, "/.,:-"):
        return _parts_after_year(scan, year, i + 1, i + 2)
    return None


def _parts_after_year(scan: Scan, year: int, a: int, b: int) -> Match | None:
    first = scan.numbers[a] if scan.digits(a) <= 2 else None
    second = scan.numbers[b] if scan.digits(b) <= 2 else None
    named_first, named_second = scan.lex.months.get(scan.words[a]), scan.lex.months.get(scan.words[b])
    month, day = first, second
    if named_first is not None:
        month = named_first
    elif named_second is not None:
        month, day = named_second, first
    if month is None or day is None:
        return None
    if month > 12 >= day and named_first is None and named_second is None:
        month, day = day, month
    if continues(scan, b + 1, "/"):
        return None
    node = calendar_day(scan, year, month, day)
    return None if node is None else (node, b + 1)


def _day_month_year(scan: Scan, i: int) -> Match | None:
    first, sign = scan.numbers[i] or 0, scan.words[i + 1]
    named = scan.lex.months.get(scan.words[i + 2])
    if named is not None:
        return _named_middle(scan, first, named, i)
    second = scan.numbers[i + 2]
    if second is None or scan.digits(i + 2) > 2:
        return None
    pair = order(scan, first, second)
    if pair is None:
        return None
    if scan.words[i + 3] == sign and glued(scan, i + 3) and scan.digits(i + 4) in (2, 4):
        return _with_year(scan, pair, i)
    return _without_year(scan, pair, sign, i)


def _named_middle(scan: Scan, day: int, month: int, i: int) -> Match | None:
    j, year = i + 3, None
    if glued(scan, j) and scan.digits(j + 1) == 4:
        year, j = scan.numbers[j + 1], j + 2
    elif glued(scan, j) and scan.digits(j + 1) == 2:
        year, j = two_digit_year(scan.numbers[j + 1] or 0)[0], j + 2
    node = calendar_day(scan, year, month, day)
    return None if node is None else (node, j)


def _with_year(scan: Scan, pair: tuple[int, int], i: int) -> Match | None:
    number = scan.numbers[i + 4] or 0
    if continues(scan, i + 5, "/."):
        return None
    month, day = pair
    if scan.digits(i + 4) == 4:
        node = calendar_day(scan, number, month, day)
        return None if node is None else (node, i + 5)
    years = two_digit_year(number)
    days = [datetime(year, month, day) for year in years if is_date(year, month, day)]
    timex = f"{years[0] if len(years) == 1 else f'XX{number}'}-{month:02}-{day:02}"
    return day_node(days, timex, Parts(years[-1], month, day)), i + 5


def _without_year(scan: Scan, pair: tuple[int, int], sign: str, i: int) -> Match | None:
    j = i + 3
    if continues(scan, j, "/.") or (sign != "/" and not _announced(scan, i)):
        return None
    if scan.words[j] == "-" and glued(scan, j) and scan.digits(j + 1) and scan.words[j + 2] != "/":
        return None
    if sign == "/" and _is_fraction(scan, i, j):
        return None
    month, day = pair
    year = None
    if scan.words[j] == "," and scan.digits(j + 1) == 4 and 1900 <= (scan.numbers[j + 1] or 0) <= 2100:
        year, j = scan.numbers[j + 1], j + 2
    node = calendar_day(scan, year, month, day)
    return None if node is None else (node, j)


def _is_fraction(scan: Scan, i: int, j: int) -> bool:
    """Whether "1/2 cup" or "24/7" is meant: a common fraction that no word makes a date."""
    first, second = scan.numbers[i], scan.numbers[i + 2]
    if (first, second) == (24, 7):
        return True
    following = scan.words[j]
    if i and scan.words[i - 1] in ("ratio", "scale"):
        return True
    if second not in (2, 3, 4, 5, 8, 16) or (i and scan.words[i - 1] in _DATE_LEADS):
        return False
    return following.isalpha() and scan.spaced[j] and following not in _AFTER_DATE


def _announced(scan: Scan, i: int) -> bool:
    """Whether the words before make a date of "7.6" or "7-6"."""
    previous = scan.words[i - 1] if i else ""
    return previous == "on" or (scan.words[i + 1] == "." and previous in scan.lex.weekdays)


def numeric_month(scan: Scan, i: int) -> Match | None:
    """ "12-2015", "2015-12", "05/2020"."""
    if inside_number(scan, i) or not glued(scan, i + 1):
        return None
    first, second = scan.numbers[i], scan.numbers[i + 2]
    if first is None or second is None or continues(scan, i + 3, "/.,-:"):
        return None
    if scan.digits(i) <= 2 and scan.digits(i + 2) == 4 and scan.words[i + 1] != ".":
        month, year = first, second
    elif scan.digits(i) == 4 and scan.digits(i + 2) in (1, 2):
        year, month = first, second
    else:
        return None
    if not 1 <= month <= 12 or not 1500 <= year <= 2199:
        return None
    return calendar_month(scan, year, month), i + 3


def node_with_year(scan: Scan, node: Node, year: int) -> Node:
    """The same day or month in a given year."""
    assert node.parts is not None
    assert node.parts.month is not None
    if node.parts.day is None:
        return calendar_month(scan, year, node.parts.month)
    return calendar_day(scan, year, node.parts.month, node.parts.day) or node
