"""Weekdays: "next Friday", "Tuesday of last week", "Friday the 26th", "the first Monday of May", "two Fridays ago"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import DAY, WEEK, is_date, nth_weekday
from perdure.dates.grammar.days import ends_clause, named_day
from perdure.dates.grammar.months import month_at, year_after
from perdure.dates.grammar.numbers import count, ordinal
from perdure.dates.grammar.numeric import numeric_day
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, day_node
from perdure.dates.scan import Scan, memoised

_AMBIGUOUS = word_set("sun sat mon wed thu fri wednes")
_BEFORE = word_set(
    "on next last this every each until by from to or and , ( week - between since before after : previous of & / past coming"
)
_RECENT = word_set("past last previous")
_SOON = word_set("coming upcoming next following")


@memoised
def weekday_at(scan: Scan, i: int) -> tuple[int, int] | None:
    """A weekday's number and the index after its name, with the dot of "Fri."."""
    weekday = scan.lex.weekdays.get(scan.words[i])
    if weekday is None or scan.words[i - 1] == "$":
        return None
    j = i + 1
    if scan.words[i] in _AMBIGUOUS:
        if scan.words[j] == "." and not scan.spaced[j] and scan.words[j + 1] in scan.lex.months:
            j += 1
        if not _clearly_weekday(scan, i, j):
            return None
    return weekday, scan.skip(j, "'s")


def _clearly_weekday(scan: Scan, i: int, j: int) -> bool:
    following, lex = scan.words[j], scan.lex
    if following == "the" and ordinal(scan, j + 1) is not None:
        return True
    if following == "-" and scan.tight(j) and scan.words[j + 1].isalpha():
        return scan.words[j + 1] in lex.weekdays
    if (
        scan.size == 1
        or scan.numbers[j] is not None
        or following in lex.months
        or following in lex.parts_of_day
    ):
        return True
    return scan.words[i - 1] in _BEFORE or (following in (",", "(") and scan.capitalised(i))


def on_weekday_next_week(scan: Scan, i: int) -> Match | None:
    """ "on Friday next week" as one expression."""
    weekday = weekday_at(scan, i + 1) if scan.words[i] == "on" else None
    if weekday is None:
        return None
    j = scan.skip(weekday[1], "of")
    return (scan.weekday_in_week(weekday[0], 1), j + 2) if scan.at(j, "next", "week") else None


def weekday(scan: Scan, i: int) -> Match | None:
    """A weekday with all that can stand before and after it."""
    how, start = _lead(scan, i)
    named = weekday_at(scan, start)
    if named is None:
        return None
    number, j = named
    dated = _date_after(scan, number, j, how)
    if dated is not None:
        return dated
    if how is None:
        return _week_after(scan, number, j) or (scan.plain_weekday(number), j)
    if isinstance(how, int):
        return scan.weekday_in_week(number, how), j
    gap = (number - scan.now.weekday()) % 7
    return day_node([scan.today + DAY * (gap - 7 if how == "recent" else gap or 7)]), j


def _lead(scan: Scan, i: int) -> tuple[str | int | None, int]:
    """How a weekday is introduced: "recent", "soon", or the weeks to its own; and the index after."""
    words = scan.words
    if words[i] == "this" and words[i + 1] in _RECENT:
        return "recent", i + 2
    if words[i] == "this" and words[i + 1] in _SOON:
        return "soon", i + 2
    if words[i] in ("coming", "upcoming"):
        return "soon", i + 1
    steps = scan.steps(i)
    return steps, i if steps is None else i + 1


def _date_after(scan: Scan, number: int, j: int, how: str | int | None) -> Match | None:
    """A calendar date that follows the weekday and decides."""
    k = scan.skip(j, ",")
    bracket = scan.words[k] == "("
    k = k + 1 if bracket else scan.skip(k, "the") if scan.words[k + 1] in scan.lex.months else k
    match = named_day(scan, k) or numeric_day(scan, k)
    if match is None:
        return _numbered(scan, number, j) if how is None else None
    node, end = match
    if bracket and scan.words[end] != ")":
        return None
    parts = node.parts
    if how is not None and parts is not None and parts.year is None and parts.month and parts.day:
        node = scan.in_year(node, scan.now.year)
    return node, end + 1 if bracket else end


def _numbered(scan: Scan, number: int, j: int) -> Match | None:
    """ "Friday the 26th", "Tue 13"."""
    k = scan.skip(j, ",")
    article = scan.words[k] == "the"
    day = ordinal(scan, k + 1 if article else j)
    if day is None and not article and scan.digits(j) in (1, 2) and _ends_number(scan, j + 1):
        day = scan.numbers[j] or 0, j + 1
    if day is None or not 1 <= day[0] <= 31:
        return None
    this_month = scan.calendar_day(scan.now.year, scan.now.month, day[0]) if article else None
    if this_month is not None and any(start.weekday() == number for start in this_month.starts):
        return this_month, day[1]
    dates = [date for step in (-1, 1) if (date := _month_with(scan, number, day[0], step)) is not None]
    return (day_node(dates, f"XXXX-WXX-{number + 1}"), day[1]) if dates else None


def _ends_number(scan: Scan, j: int) -> bool:
    return scan.words[j] in ("between", "from", "at", ")") or ends_clause(scan, j)


def _month_with(scan: Scan, weekday: int, day: int, step: int) -> datetime | None:
    """The 13th of the last or the next month in which it is a Tuesday."""
    index = scan.now.year * 12 + scan.now.month - 1
    for _ in range(400):
        year, month = divmod(index, 12)
        if is_date(year, month + 1, day):
            date = datetime(year, month + 1, day)
            if date.weekday() == weekday and (date < scan.today) == (step < 0):
                return date
        index += step
    return None


def _week_after(scan: Scan, number: int, j: int) -> Match | None:
    """ "Tuesday of last week", "Wednesday next week"."""
    k = scan.skip(scan.skip(j, ",", "of", "in"), "the")
    steps = scan.steps(k)
    if steps is not None and scan.words[k + 1] == "week":
        return scan.weekday_in_week(number, steps), k + 2
    if scan.at(k, "week", "after", "next"):
        return scan.weekday_in_week(number, 2), k + 3
    if scan.at(k, "week", "before", "last"):
        return scan.weekday_in_week(number, -2), k + 3
    return None


def week_then_weekday(scan: Scan, i: int) -> Match | None:
    """ "next week Wednesday", "next week on Tuesday"."""
    steps = scan.steps(i)
    if steps is None or scan.words[i + 1] != "week":
        return None
    weekday = weekday_at(scan, scan.skip(scan.skip(i + 2, ",", "'s"), "on"))
    return None if weekday is None else (scan.weekday_in_week(weekday[0], steps), weekday[1])


def ordinal_weekday(scan: Scan, i: int) -> Match | None:
    """ "the first Monday of next month", "last Friday in October 2019"."""
    lead = nth_weekday_at(scan, i)
    return None if lead is None else nth_weekday_of(scan, *lead)


def nth_weekday_at(scan: Scan, i: int) -> tuple[int, int, int] | None:
    """ "the first Monday": its number, its weekday and the index after it."""
    j = scan.skip(i, "the")
    nth = (-1, j + 1) if scan.words[j] == "last" else ordinal(scan, j)
    if nth is None or nth[0] > 5:
        return None
    weekday = weekday_at(scan, nth[1])
    return None if weekday is None else (nth[0], *weekday)


def nth_weekday_of(scan: Scan, nth: int, weekday: int, k: int) -> Match | None:
    """The nth weekday of the month or year that follows "of"."""
    whole = _month_or_year(scan, k + 1) if scan.words[k] in ("of", "in") else None
    if whole is None:
        return None
    node, end = whole
    of_december = nth < 0 and node.grain == "year"
    days = [
        day
        for start in node.starts
        if (day := nth_weekday(start.year, 12 if of_december else start.month, weekday, nth)) is not None
    ]
    return (day_node(days), end) if days else None


def _month_or_year(scan: Scan, k: int) -> Match | None:
    month = month_at(scan, k)
    if month is not None:
        year, end = year_after(scan, month[1]) or (None, month[1])
        return scan.calendar_month(year, month[0]), end
    match = scan.period(k)
    return match if match is not None and match[0].grain in ("month", "year") else None


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
