"""Calendar days in words: "May 9", "the 09th of May", "january first two thousand", "the 15th day of next month"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import calendar_day, day_node, day_of_month
from perdure.dates.calendar import DAY, is_date
from perdure.dates.grammar.clock import expected_clock
from perdure.dates.grammar.months import month_at, year_after
from perdure.dates.grammar.numbers import cardinal, ordinal, small_cardinal, year_words
from perdure.dates.grammar.numeric import continues, inside_number
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan, memoised

_TODAY = {"today": 0, "otd": 0, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1, "yesterday": -1}


def relative_day(scan: Scan, i: int) -> Match | None:
    """ "today", "the day after tomorrow", "the next day", "the day before"."""
    words = scan.words
    if words[i] in _TODAY:
        return _single(scan, _TODAY[words[i]], i + 1)
    if words[i] in ("current", "present") and words[i + 1] == "date":
        return _single(scan, 0, i + 2)
    j = scan.skip(i, "the")
    if words[j] == "day":
        return _the_day(scan, i, j)
    if words[j] in ("next", "following") and words[j + 1] == "day":
        return _single(scan, 1, j + 2)
    if words[j] in ("previous", "last") and words[j + 1] == "day" and words[j + 2] != "of":
        return _single(scan, -1, j + 2)
    if words[i] == "this" and words[i + 1] == "day":
        return _single(scan, 0, i + 2)
    return None


def _the_day(scan: Scan, i: int, j: int) -> Match | None:
    words = scan.words
    if words[j + 1] in ("after", "before", "following"):
        sign = -1 if words[j + 1] == "before" else 1
        base = _TODAY.get(words[j + 2])
        if base is not None:
            return _single(scan, base + sign, j + 3)
        if i < j and (words[j + 2] in ("", ".", ",", "!", "?") or words[j + 2] == "last"):
            return _single(scan, sign, j + 2)
        return None
    if i < j and words[j + 1] not in ("of", "when", "that", "the", "-") and not _described(scan, i):
        return _single(scan, 0, j + 1)
    return None


def _described(scan: Scan, i: int) -> bool:
    """Whether "the day" is part of a phrase such as "all the day" or "end of the day"."""
    return i > 0 and scan.words[i - 1] in ("all", "in", "during", "through", "end", "late")


def _single(scan: Scan, days: int, j: int) -> Match:
    return day_node([scan.today + DAY * days]), j


@memoised
def named_day(scan: Scan, i: int) -> Match | None:
    """A day and a month in either order, with or without a year."""
    return _month_first(scan, i) or _day_first(scan, i)


def _month_first(scan: Scan, i: int) -> Match | None:
    month = month_at(scan, i)
    if month is None:
        return None
    number, j = month
    if scan.words[j] in ("/", "-") and not scan.spaced[j] and not scan.spaced[j + 1]:
        j += 1
    j = scan.skip(j, "the")
    day = ordinal(scan, j) or _day_number(scan, j)
    if day is None or not 1 <= day[0] <= 31:
        return None
    value, k = day
    year_follows = scan.words[k] == "/" and scan.digits(k + 1) == 4
    if scan.numbers[k - 1] is not None and (
        _unit_follows(scan, k) or (continues(scan, k, "/.,:") and not year_follows)
    ):
        return None
    return _finish(scan, number, value, k)


def _unit_follows(scan: Scan, k: int) -> bool:
    return scan.words[k] in (
        "am",
        "pm",
        "%",
        "times",
        "people",
        "years",
        "days",
        "weeks",
        "months",
        "hours",
        "minutes",
    )


def _day_number(scan: Scan, j: int) -> tuple[int, int] | None:
    """A day as a plain number, not a year or a longer number."""
    if scan.numbers[j] is not None:
        return (scan.numbers[j] or 0, j + 1) if scan.digits(j) <= 2 else None
    spoken = small_cardinal(scan, j)
    if spoken is None or not 2 <= spoken[0] <= 31 or scan.words[spoken[1]] in ("thousand", "hundred"):
        return None
    return None if year_words(scan, j) is not None else spoken


def _day_first(scan: Scan, i: int) -> Match | None:
    j = scan.skip(i, "the")
    if inside_number(scan, j):
        return None
    day = ordinal(scan, j) or cardinal(scan, j)
    if day is None or not 1 <= day[0] <= 31 or scan.digits(j) > 2:
        return None
    value, k = day
    if j > i and scan.numbers[j] is None:
        return None
    described = scan.words[k] == "day"
    if described:
        k += 1
    k = scan.skip(k, "of")
    if scan.words[k] in ("/", "-") and not scan.spaced[k] and not scan.spaced[k + 1]:
        k += 1
    if described and scan.words[k - 1] == "of":
        return _day_of_period(scan, i, value, k)
    month = month_at(scan, k)
    if month is None:
        return None
    return _finish(scan, month[0], value, month[1])


def _day_of_period(scan: Scan, i: int, value: int, k: int) -> Match | None:
    month = month_at(scan, k)
    if month is not None:
        return _finish(scan, month[0], value, month[1]) if scan.words[i] != "the" else None
    found = scan.period(k)
    if found is None or found[0].grain not in ("month", "year"):
        return None
    node, j = found
    days = []
    for alt in node.alts:
        assert alt.start is not None
        if node.grain == "year":
            days.append(alt.start + DAY * (value - 1))
        elif is_date(alt.start.year, alt.start.month, value):
            days.append(alt.start.replace(day=value))
    return day_node(days), j


def _finish(scan: Scan, month: int, day: int, j: int) -> Match | None:
    year = year_after(scan, j)
    if year is not None:
        node = calendar_day(scan, year[0], month, day)
        return None if node is None else (node, year[1])
    node = calendar_day(scan, None, month, day)
    return None if node is None else (node, j)


def bare_ordinal_day(scan: Scan, i: int) -> Match | None:
    """ "the 18th", "29th", "the 17" before a time."""
    j = scan.skip(i, "the")
    day = ordinal(scan, j)
    if day is not None and scan.numbers[j] is not None and 1 <= day[0] <= 31:
        if j == i and not _led(scan, i):
            return None
        if _names_something(scan, day[1]):
            return None
        return day_of_month(scan, day[0]), day[1]
    return _bare_number_day(scan, i, j)


def _led(scan: Scan, i: int) -> bool:
    """Whether the word before, or a date before "and", makes a day of a bare ordinal."""
    previous = scan.words[i - 1] if i else ""
    if previous in ("and", "to", "-", "or"):
        return i > 1 and scan.words[i - 2] in ("st", "nd", "rd", "th")
    return previous in ("on", "until", "by", "till", "through", "since", "before", "after")


def _bare_number_day(scan: Scan, i: int, j: int) -> Match | None:
    """ "on the 15", "on 27", "the 17 from 2pm": numbers that only their surroundings make days."""
    number = scan.numbers[j]
    if number is None or scan.digits(j) > 2 or not 1 <= number <= 31 or inside_number(scan, j):
        return None
    following = scan.words[j + 1]
    if j > i and following in ("from", "between", "at") and expected_clock(scan, j + 2) is not None:
        return day_of_month(scan, number), j + 1
    ends = following in ("", ",", "!", "?", ";") or (
        following == "." and (scan.spaced[j + 2] or j + 2 >= scan.size)
    )
    if ends and i and scan.words[i - 1] == "on":
        return day_of_month(scan, number), j + 1
    return None


def _names_something(scan: Scan, k: int) -> bool:
    """Whether a noun follows that the ordinal counts: "the 3rd floor"."""
    word = scan.words[k]
    if word in ("to", "and", "or", "-"):
        another = ordinal(scan, scan.skip(k + 1, "the"))
        if another is not None:
            return scan.words[another[1]].isalpha() and _names_something(scan, another[1])
    return word.isalpha() and word not in _AFTER_DAY and word not in scan.lex.parts_of_day


_AFTER_DAY = word_set(
    "at from between to until till through and or for with in on around about before after by if is was when we i he she "
    "they it that which as please works would will my this next last so then but except because"
)


def numbered_weekday(scan: Scan, weekday: int, day: int) -> Node | None:
    """ "Tue 13th": the last and the next month whose 13th is a Tuesday."""
    past = _search(scan, weekday, day, -1)
    future = _search(scan, weekday, day, 1)
    days = [found for found in (past, future) if found is not None]
    return day_node(days, f"XXXX-WXX-{weekday + 1}") if days else None


def _search(scan: Scan, weekday: int, day: int, step: int) -> datetime | None:
    index = scan.now.year * 12 + scan.now.month - 1
    for _ in range(400):
        year, month = divmod(index, 12)
        if is_date(year, month + 1, day):
            found = datetime(year, month + 1, day)
            if found.weekday() == weekday and (found < scan.today if step < 0 else found >= scan.today):
                return found
        index += step
    return None
