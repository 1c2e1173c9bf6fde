"""Dates in digits: 2018-09-23, 23.04.2022, 10/1/2018, 7/6, 22/Jan/2019, 2016 10 16, 20180923."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import is_date
from perdure.dates.grammar.numbers import two_digit_year
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Parts, day_node
from perdure.dates.scan import Scan, memoised

_DATE_LEADS = word_set(
    "on by from since until till before after between next this last friday saturday sunday monday"
)
_DOTTED_LEADS = word_set("on dated until till due")
_AFTER_DATE = word_set(
    "at from between to until till through and or for with in on around before after by is was if we i he she they"
)


def glued(scan: Scan, i: int) -> bool:
    """Whether a sign of a date in digits stands at an index, without spaces around it."""
    return scan.words[i] in ("/", "-", ".") and scan.tight(i)


def inside_number(scan: Scan, i: int) -> bool:
    """Whether the number at an index continues a longer one, such as a price or a telephone number."""
    if i == 0 or scan.spaced[i]:
        return False
    previous = scan.words[i - 1]
    if previous in ("$", "£", "€", "#", "+", "="):
        return True
    if previous == "-" and _second_date(scan, i):
        return False
    return previous in (".", ",", "/", "-", ":") and scan.digits(i - 2) > 0 and not scan.spaced[i - 1]


def _second_date(scan: Scan, i: int) -> bool:
    """Whether a date in digits follows the dash of a range: 5/1-5/7, 10-1-2018-10-7-2018."""
    if scan.words[i + 1] == "/":
        return True
    dashes = scan.words[i + 1] == "-" and scan.words[i + 3] == "-"
    return dashes and scan.digits(i - 2) == 4 and scan.digits(i + 4) == 4


def continues(scan: Scan, j: int, signs: str = "/.,") -> bool:
    """Whether digits go on at an index, so that what was read is part of something else."""
    word = scan.words[j]
    if word == "%" or (scan.numbers[j] is not None and not scan.spaced[j]):
        return True
    return word != "" and word in signs and scan.tight(j) and scan.digits(j + 1) > 0


def _month_and_day(scan: Scan, first: int, second: int, sign: str) -> tuple[int, int] | None:
    """(month, day) of two numbers, by habit or by what is possible; with dots the day comes first."""
    day_first = sign == "." if scan.options.day_first is None else scan.options.day_first
    habit = (second, first) if day_first else (first, second)
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
    if width > 2 or inside_number(scan, i) or not glued(scan, i + 1):
        return None
    return _day_month_year(scan, i)


def _shifted_day(scan: Scan, i: int) -> Match | None:
    """ "next 5/12": of this year, or the one after now."""
    steps = scan.steps(i)
    if steps is None or scan.words[i + 2] != "/" or not scan.digits(i + 1):
        return None
    match = numeric_day(scan, i + 1)
    if match is None or match[0].parts is None or match[0].parts.year is not None or not match[0].alts:
        return None
    starts = match[0].starts
    year = scan.now.year if steps == 0 else starts[0 if steps < 0 else -1].year
    return scan.in_year(match[0], year), match[1]


def compact_day(scan: Scan, i: int) -> Match | None:
    """20180923."""
    word = scan.words[i]
    if (
        len(word) != 8
        or not (word.isascii() and word.isdigit())
        or continues(scan, i + 1)
        or inside_number(scan, i)
    ):
        return None
    year, month, day = int(word[:4]), int(word[4:6]), int(word[6:])
    if not 1900 <= year <= 2100 or not is_date(year, month, day):
        return None
    return scan.day_match(year, month, day, i + 1)


def _year_first(scan: Scan, i: int) -> Match | None:
    year = scan.numbers[i] or 0
    if not 1000 <= year <= 2999:
        return None
    if glued(scan, i + 1) and glued(scan, i + 3) and scan.words[i + 1] == scan.words[i + 3]:
        return _parts_after_year(scan, year, i + 2, i + 4)
    spaced = 1 <= scan.digits(i + 1) <= 2 and 1 <= scan.digits(i + 2) <= 2
    if spaced and not inside_number(scan, i) and not continues(scan, i + 3, "/.,:-"):
        return _parts_after_year(scan, year, i + 1, i + 2)
    return None


def _parts_after_year(scan: Scan, year: int, a: int, b: int) -> Match | None:
    month = scan.numbers[a] if scan.digits(a) <= 2 else None
    day = scan.numbers[b] if scan.digits(b) <= 2 else None
    months = scan.lex.months
    if scan.words[a] in months:
        month = months[scan.words[a]]
    elif scan.words[b] in months:
        month, day = months[scan.words[b]], month
    elif month is not None and day is not None and month > 12 >= day:
        month, day = day, month
    if month is None or day is None or continues(scan, b + 1, "/"):
        return None
    return scan.day_match(year, month, day, b + 1)


def _day_month_year(scan: Scan, i: int) -> Match | None:
    first, sign = scan.numbers[i] or 0, scan.words[i + 1]
    named = scan.lex.months.get(scan.words[i + 2])
    if named is not None:
        return _named_middle(scan, first, named, i + 3)
    second = scan.numbers[i + 2]
    pair = (
        _month_and_day(scan, first, second, sign) if second is not None and scan.digits(i + 2) <= 2 else None
    )
    if pair is None:
        return None
    if scan.words[i + 3] == sign and glued(scan, i + 3) and scan.digits(i + 4) in (2, 4):
        return None if continues(scan, i + 5, "/.") else _with_year(scan, *pair, i + 4)
    return _without_year(scan, *pair, i)


def _named_middle(scan: Scan, day: int, month: int, j: int) -> Match | None:
    """ "22/Jan/2019", "22-Jan-19", "22/Jan"."""
    width = scan.digits(j + 1)
    if not glued(scan, j) or width not in (2, 4):
        return scan.day_match(None, month, day, j)
    number = scan.numbers[j + 1] or 0
    return scan.day_match(number if width == 4 else two_digit_year(number)[0], month, day, j + 2)


def _with_year(scan: Scan, month: int, day: int, j: int) -> Match | None:
    """The day in the year, of two or four digits, that stands at an index."""
    number = scan.numbers[j] or 0
    if scan.digits(j) == 4:
        return scan.day_match(number, month, day, j + 1)
    years = two_digit_year(number)
    days = [datetime(year, month, day) for year in years if is_date(year, month, day)]
    timex = f"{years[0] if len(years) == 1 else f'XX{number}'}-{month:02}-{day:02}"
    return day_node(days, timex, Parts(years[-1], month, day)), j + 1


def _without_year(scan: Scan, month: int, day: int, i: int) -> Match | None:
    sign, j = scan.words[i + 1], i + 3
    if continues(scan, j, "/.") or (_is_fraction(scan, i, j) if sign == "/" else not _announced(scan, i)):
        return None
    if scan.words[j] == "-" and scan.tight(j) and scan.digits(j + 1) and scan.words[j + 2] != "/":
        return None
    if scan.words[j] == "," and scan.digits(j + 1) == 4 and 1900 <= (scan.numbers[j + 1] or 0) <= 2100:
        return scan.day_match(scan.numbers[j + 1], month, day, j + 2)
    if sign == "/" and scan.words[j] == "," and scan.tight(j) and scan.digits(j + 1) == 2:
        return scan.day_match(two_digit_year(scan.numbers[j + 1] or 0)[0], month, day, j + 2)
    # "04.05. and": the second dot belongs to the date where the sentence goes on.
    goes_on = sign == "." and scan.words[j] == "." and not scan.spaced[j] and scan.words[j + 1].isalpha()
    return scan.day_match(None, month, day, j + 1 if goes_on and not scan.capitalised(j + 1) else j)


def _is_fraction(scan: Scan, i: int, j: int) -> bool:
    """Whether "1/2 cup" or "24/7" is meant: a common fraction that no word makes a date."""
    first, second, previous = scan.numbers[i], scan.numbers[i + 2], scan.words[i - 1]
    if (first, second) == (24, 7) or previous in ("ratio", "scale"):
        return True
    if second not in (2, 3, 4, 5, 8, 16) or previous in _DATE_LEADS:
        return False
    following = scan.words[j]
    return following.isalpha() and scan.spaced[j] and following not in _AFTER_DATE


def _announced(scan: Scan, i: int) -> bool:
    """Whether the words before make a date of "7.6" or "7-6"."""
    previous = scan.words[i - 1]
    if scan.words[i + 1] != ".":
        return previous == "on"
    return (
        previous in _DOTTED_LEADS
        or previous in scan.lex.weekdays
        or (previous == "the" and scan.words[i - 2] == "on")
    )


def numeric_month(scan: Scan, i: int) -> Match | None:
    """ "12-2015", "2015-12", "05/2020"."""
    first, second = scan.numbers[i], scan.numbers[i + 2]
    if first is None or second is None or inside_number(scan, i):
        return None
    widths = scan.digits(i), scan.digits(i + 2)
    if not glued(scan, i + 1) and (scan.words[i + 1] not in ("/", "-") or sum(widths) not in (5, 6)):
        return None
    if widths[0] <= 2 and widths[1] == 4 and scan.words[i + 1] != ".":
        month, year = first, second
    elif widths[0] == 4 and widths[1] <= 2:
        year, month = first, second
    else:
        return None
    if not 1 <= month <= 12 or not 1500 <= year <= 2199 or continues(scan, i + 3, "/.,-:"):
        return None
    return scan.calendar_month(year, month), i + 3
