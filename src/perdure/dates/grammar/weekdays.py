"""Weekdays: "next Friday", "Tuesday of last week", "Friday the 26th", "the first Monday of May", "two Fridays ago"."""

from __future__ import annotations

from perdure.dates.build import calendar_day, calendar_month, day_node, plain_weekday, weekday_in_week
from perdure.dates.calendar import DAY, WEEK, nth_weekday
from perdure.dates.grammar.days import named_day, numbered_weekday
from perdure.dates.grammar.months import month_at, year_after
from perdure.dates.grammar.numbers import count, ordinal
from perdure.dates.grammar.numeric import numeric_day
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan, memoised

_AMBIGUOUS = frozenset(("sun", "sat", "mon", "wed", "thu", "fri", "wednes"))
_BEFORE = word_set(
    "on next last this every each until by from to or and , ( week - between since before after : previous of & / past coming"
)


@memoised
def weekday_at(scan: Scan, i: int) -> tuple[int, int] | None:
    """A weekday's number and the index after its name, with the dot of "Fri."."""
    weekday = scan.lex.weekdays.get(scan.words[i])
    if weekday is None or (i and scan.words[i - 1] == "$"):
        return None
    j = i + 1
    if scan.words[i] in _AMBIGUOUS:
        if scan.words[j] == "." and not scan.spaced[j] and scan.words[j + 1] in scan.lex.months:
            j += 1
        if not _clearly_weekday(scan, i, j):
            return None
    if scan.words[j] == "'s":
        j += 1
    return weekday, j


def _clearly_weekday(scan: Scan, i: int, j: int) -> bool:
    following = scan.words[j]
    if following == "the" and ordinal(scan, j + 1) is not None:
        return True
    if following == "-" and not scan.spaced[j] and not scan.spaced[j + 1] and scan.words[j + 1].isalpha():
        return scan.words[j + 1] in scan.lex.weekdays
    if (
        scan.size == 1
        or scan.numbers[j] is not None
        or following in scan.lex.months
        or following in scan.lex.parts_of_day
    ):
        return True
    return (i > 0 and scan.words[i - 1] in _BEFORE) or (following in (",", "(") and scan.capitalised(i))


def on_weekday_next_week(scan: Scan, i: int) -> Match | None:
    """ "on Friday next week" as one expression."""
    found = weekday_at(scan, i + 1) if scan.words[i] == "on" else None
    if found is None or not (scan.at(scan.skip(found[1], "of"), "next", "week")):
        return None
    return weekday_in_week(scan, found[0], 1), scan.skip(found[1], "of") + 2


def weekday(scan: Scan, i: int) -> Match | None:
    """A weekday with all that can stand before and after it."""
    lead = _lead(scan, i)
    found = weekday_at(scan, lead[1])
    if found is None:
        return None
    how, _ = lead
    number, j = found
    dated = _date_after(scan, number, j, how)
    if dated is not None:
        return dated
    if how is None:
        week = _week_after(scan, number, j)
        if week is not None:
            return week
        return plain_weekday(scan, number), j
    return _shifted(scan, number, how), j


def _lead(scan: Scan, i: int) -> tuple[str | None, int]:
    words = scan.words
    if words[i] == "this" and words[i + 1] in ("past", "last", "previous"):
        return "recent", i + 2
    if words[i] == "this" and words[i + 1] in ("coming", "upcoming", "next", "following"):
        return "soon", i + 2
    if words[i] in ("coming", "upcoming"):
        return "soon", i + 1
    if words[i] in scan.lex.shifts:
        return {-1: "last", 0: "this", 1: "next"}[scan.lex.shifts[words[i]]], i + 1
    return None, i


def _shifted(scan: Scan, number: int, how: str) -> Node:
    gap = (number - scan.now.weekday()) % 7
    if how == "recent":
        return day_node([scan.today + DAY * gap - WEEK])
    if how == "soon":
        return day_node([scan.today + DAY * (gap or 7)])
    return weekday_in_week(scan, number, {"last": -1, "this": 0, "next": 1}[how])


def _date_after(scan: Scan, number: int, j: int, how: str | None) -> Match | None:
    """A calendar date that follows the weekday and decides."""
    k = scan.skip(j, ",")
    bracket = scan.words[k] == "("
    k = k + 1 if bracket else scan.skip(k, "the") if scan.words[k + 1] in scan.lex.months else k
    found = named_day(scan, k) or numeric_day(scan, k)
    if found is not None:
        node, end = found
        if bracket and scan.words[end] != ")":
            return None
        if (
            how is not None
            and node.parts is not None
            and node.parts.year is None
            and node.parts.month
            and node.parts.day
        ):
            node = calendar_day(scan, scan.now.year, node.parts.month, node.parts.day) or node
        return node, end + 1 if bracket else end
    return None if how is not None else _numbered(scan, number, j)


def _numbered(scan: Scan, number: int, j: int) -> Match | None:
    if scan.words[j] == "the" or (scan.words[j] == "," and scan.words[j + 1] == "the"):
        k = j + 1 if scan.words[j] == "," else j
        day = ordinal(scan, k + 1)
        if day is None or not 1 <= day[0] <= 31:
            return None
        this_month = calendar_day(scan, scan.now.year, scan.now.month, day[0])
        if (
            this_month is not None
            and this_month.alts
            and this_month.alts[0].start is not None
            and this_month.alts[0].start.weekday() == number
        ):
            return this_month, day[1]
        node = numbered_weekday(scan, number, day[0])
        return None if node is None else (node, day[1])
    day = ordinal(scan, j)
    if day is None and scan.digits(j) in (1, 2) and _ends_number(scan, j + 1):
        day = (scan.numbers[j] or 0, j + 1)
    if day is None or not 1 <= day[0] <= 31:
        return None
    node = numbered_weekday(scan, number, day[0])
    return None if node is None else (node, day[1])


def _ends_number(scan: Scan, j: int) -> bool:
    word = scan.words[j]
    return word in ("", "!", "?", ",", "between", "from", "at", ";", ")") or (
        word == "." and (scan.spaced[j + 1] or j + 1 >= scan.size)
    )


def _week_after(scan: Scan, number: int, j: int) -> Match | None:
    """ "Tuesday of last week", "Wednesday next week"."""
    words = scan.words
    k = scan.skip(scan.skip(j, ",", "of", "in"), "the")
    if words[k] in scan.lex.shifts and words[k + 1] == "week":
        return weekday_in_week(scan, number, scan.lex.shifts[words[k]]), k + 2
    if scan.at(k, "week", "after", "next"):
        return weekday_in_week(scan, number, 2), k + 3
    if scan.at(k, "week", "before", "last"):
        return weekday_in_week(scan, number, -2), k + 3
    return None


def week_then_weekday(scan: Scan, i: int) -> Match | None:
    """ "next week Wednesday", "next week on Tuesday"."""
    words = scan.words
    if words[i] not in scan.lex.shifts or words[i + 1] != "week":
        return None
    j = scan.skip(scan.skip(i + 2, ",", "'s"), "on")
    found = weekday_at(scan, j)
    if found is None:
        return None
    return weekday_in_week(scan, found[0], scan.lex.shifts[words[i]]), found[1]


def ordinal_weekday(scan: Scan, i: int) -> Match | None:
    """ "the first Monday of next month", "last Friday in October 2019"."""
    lead = nth_weekday_at(scan, i)
    return None if lead is None else nth_weekday_of(scan, lead[0], lead[1], lead[2])


def nth_weekday_at(scan: Scan, i: int) -> tuple[int, int, int] | None:
    """ "the first Monday": its number, its weekday and the index after it."""
    j = scan.skip(i, "the")
    nth = (-1, j + 1) if scan.words[j] == "last" else ordinal(scan, j)
    if nth is None or nth[0] > 5:
        return None
    found = weekday_at(scan, nth[1])
    return None if found is None else (nth[0], found[0], found[1])


def nth_weekday_of(scan: Scan, nth: int, weekday: int, k: int) -> Match | None:
    """The nth weekday of the month or year that follows "of"."""
    if scan.words[k] not in ("of", "in"):
        return None
    months = _months_of(scan, k + 1)
    if months is None:
        return None
    node, end = months
    days = []
    for alt in node.alts:
        assert alt.start is not None
        month = 12 if nth < 0 and node.grain == "year" else alt.start.month
        day = nth_weekday(alt.start.year, month, weekday, nth)
        if day is not None:
            days.append(day)
    return (day_node(days), end) if days else None


def _months_of(scan: Scan, k: int) -> Match | None:
    month = month_at(scan, k)
    if month is not None:
        year = year_after(scan, month[1])
        if year is not None:
            return calendar_month(scan, year[0], month[0]), year[1]
        return calendar_month(scan, None, month[0]), month[1]
    found = scan.period(k)
    return found if found is not None and found[0].grain in ("month", "year") else None


def counted_weekdays(scan: Scan, i: int) -> Match | None:
    """ "two Fridays ago", "a couple of Mondays from now"."""
    counted = count(scan, i)
    if counted is None or counted[0] != int(counted[0]) or not 1 <= counted[0] <= 500:
        return None
    amount, j = int(counted[0]), counted[1]
    number = scan.lex.plural_weekdays.get(scan.words[j], scan.lex.weekdays.get(scan.words[j]))
    if number is None:
        return None
    gap = (number - scan.now.weekday()) % 7
    if scan.words[j + 1] in ("ago", "back", "earlier"):
        return day_node([scan.today + DAY * gap - WEEK * amount]), j + 2
    if scan.at(j + 1, "from", "now") or scan.at(j + 1, "from", "today"):
        return day_node([scan.today + DAY * (gap or 7) + WEEK * (amount - 1)]), j + 3
    return None
