"""Days in words: "today", "May 9", "the 3rd", "last Easter", "next Friday", "the first Monday of May"."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from perdure.dates.calendar import DAY, WEEK, add_months, is_date, nth_weekday, unit_start, week_start
from perdure.dates.grammar.clock import expected_clock
from perdure.dates.grammar.months import month_at, year_after
from perdure.dates.grammar.numbers import count, day_number, ordinal, small_cardinal, year_words
from perdure.dates.grammar.numeric import continues, inside_number, numeric_day
from perdure.dates.holidays import holiday_date
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Parts, day_node, nearest, period_node
from perdure.dates.scan import Scan, memoised

_TODAY = {"today": 0, "otd": 0, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1, "yesterday": -1}
_UNITS_AFTER = word_set("am pm % times people years days weeks months hours minutes")
_AFTER_DAY = word_set(
    "at from between to until till through and or for with in on around about before after by if is was when we i he she "
    "they it that which as please works would will my this next last so then but except because our his her their your its the a an "
    "there everyone everybody nobody someone you not only still should can could might may must were are has have had did does do since "
    "unless while where who what how if instead too again already just"
)
_LEADS = word_set("on until by till through since before after")
_AMBIGUOUS = word_set("sun sat mon wed thu fri wednes")
_BEFORE = word_set(
    "on next last this every each until by from to or and , ( week - between since before after : previous of & / past coming"
)
_OWNERS = word_set("my your his her its our their 's")
_RECENT = word_set("past last previous")
_SOON = word_set("coming upcoming next following")


def relative_day(scan: Scan, i: int) -> Match | None:
    """ "today", "the day after tomorrow", "the next day", "the day before"."""
    words = scan.words
    if words[i] in _TODAY:
        return _days_away(scan, _TODAY[words[i]], i + 1)
    if words[i] in ("current", "present") and words[i + 1] == "date":
        return _days_away(scan, 0, i + 2)
    j = scan.skip(i, "the")
    if words[j] == "day":
        return _the_day(scan, i, j)
    if words[j + 1] != "day":
        return None
    if words[j] in ("next", "following"):
        return _days_away(scan, 1, j + 2)
    if words[j] in ("previous", "last") and words[j + 2] != "of" and not _owned(words[i - 1]):
        return _days_away(scan, -1, j + 2)
    return _days_away(scan, 0, i + 2) if words[i] == "this" else None


def _owned(word: str) -> bool:
    """Whether a word tells whose day it is: "her last day" is no yesterday."""
    return word in _OWNERS


def _the_day(scan: Scan, i: int, j: int) -> Match | None:
    words = scan.words
    if words[j + 1] in ("after", "before", "following"):
        sign = -1 if words[j + 1] == "before" else 1
        if words[j + 2] in _TODAY:
            return _days_away(scan, _TODAY[words[j + 2]] + sign, j + 3)
        alone = i < j and words[j + 2] in ("", ".", ",", "!", "?", "last")
        return _days_away(scan, sign, j + 2) if alone else None
    described = words[i - 1] in ("all", "in", "during", "through", "end", "late")
    if i == j or described or words[j + 1] in ("of", "when", "that", "the", "-"):
        return None
    return _days_away(scan, 0, j + 1)


def _days_away(scan: Scan, days: int, j: int) -> Match:
    return day_node([scan.today + DAY * days]), j


@memoised
def named_day(scan: Scan, i: int) -> Match | None:
    """A day and a month in either order, with or without a year."""
    return _month_first(scan, i) or _day_first(scan, i)


def _month_first(scan: Scan, i: int) -> Match | None:
    if (month := month_at(scan, i)) is None:
        return None
    j = scan.skip(_after_sign(scan, month[1]), "the")
    day = ordinal(scan, j) or _plain_day(scan, j)
    if day is None or not 1 <= day[0] <= 31:
        return None
    value, k = day
    if scan.numbers[k - 1] is not None:
        year_follows = scan.words[k] == "/" and scan.digits(k + 1) == 4
        if scan.words[k] in _UNITS_AFTER or (continues(scan, k, "/.,:") and not year_follows):
            return None
    return _with_year(scan, month[0], value, k)


def _after_sign(scan: Scan, j: int) -> int:
    """The index after the sign of "May/9" or "9-May"."""
    return j + 1 if scan.words[j] in ("/", "-") and scan.tight(j) else j


def _plain_day(scan: Scan, j: int) -> tuple[int, int] | None:
    """A day as a plain number, not a year or a longer number."""
    number = scan.numbers[j]
    if number is not None:
        return (number, j + 1) if scan.digits(j) <= 2 else None
    spoken = small_cardinal(scan, j)
    if spoken is None or not 2 <= spoken[0] <= 31 or scan.words[spoken[1]] in ("thousand", "hundred"):
        return None
    return None if year_words(scan, j) is not None else spoken


def _day_first(scan: Scan, i: int) -> Match | None:
    j = scan.skip(i, "the")
    day = day_number(scan, i) if not inside_number(scan, j) else None
    if day is None or (j > i and scan.numbers[j] is None):
        return None
    value, k = day
    described = scan.words[k] == "day"
    if scan.words[k] == "." and not scan.spaced[k] and scan.numbers[k - 1] is not None:
        # "16. Nov. 2016"
        k = k + 1 if scan.words[k + 1] in scan.lex.months else k
    after = scan.skip(scan.skip(k, "day"), "of")
    k = _after_sign(scan, after)
    if described and scan.words[k - 1] == "of":
        return _day_of_period(scan, i, value, k)
    month = month_at(scan, k)
    if month is not None:
        return _with_year(scan, month[0], value, month[1])
    return _day_of_relative_month(scan, value, after) if ordinal(scan, j) is not None else None


def _day_of_relative_month(scan: Scan, value: int, k: int) -> Match | None:
    """ "the 20th of next month", "the 20th next month", "the 2nd of the month"."""
    linked = scan.words[k - 1] == "of"
    k = scan.skip(k, "the") if linked else k
    steps = 0 if scan.words[k] == "month" and scan.words[k - 1] == "the" else scan.steps(k)
    end = k + 1 if scan.words[k] == "month" else k + 2
    if steps is None or scan.words[end - 1] != "month":
        return None
    start = add_months(unit_start("month", scan.now), steps)
    days = [start.replace(day=value)] if is_date(start.year, start.month, value) else []
    return day_node(days, f"{start:%Y-%m}-{value:02}"), end


def _day_of_period(scan: Scan, i: int, value: int, k: int) -> Match | None:
    """ "the 15th day of next month", "the 100th day of 2019"."""
    month = month_at(scan, k)
    if month is not None:
        return _with_year(scan, month[0], value, month[1]) if scan.words[i] != "the" else None
    if (match := scan.period(k)) is None or match[0].grain not in ("month", "year"):
        return None
    node, j = match
    if node.grain == "year":
        return day_node(start + DAY * (value - 1) for start in node.starts), j
    starts = [start for start in node.starts if is_date(start.year, start.month, value)]
    return day_node(start.replace(day=value) for start in starts), j


def _with_year(scan: Scan, month: int, day: int, j: int) -> Match | None:
    """A day and a month with the year that may follow."""
    year, end = year_after(scan, j) or (None, j)
    return scan.day_match(year, month, day, end)


def bare_ordinal_day(scan: Scan, i: int) -> Match | None:
    """ "the 18th", "29th", "the 17" before a time."""
    j = scan.skip(i, "the")
    day = ordinal(scan, j)
    if day is not None and scan.numbers[j] is None and j > i and scan.words[i - 1] == "on":
        # "on the second": in words only where nothing follows that it could count.
        return (scan.day_of_month(day[0]), day[1]) if _ends_clause(scan, day[1]) else None
    if day is None or scan.numbers[j] is None or not 1 <= day[0] <= 31:
        return _bare_number_day(scan, i, j)
    if (j == i and not _led(scan, i)) or _names_something(scan, day[1]):
        return None
    return scan.day_of_month(day[0]), day[1]


def _led(scan: Scan, i: int) -> bool:
    """Whether the word before, or a date before "and", makes a day of a bare ordinal."""
    if scan.words[i - 1] in ("and", "to", "-", "or"):
        return scan.words[i - 2] in ("st", "nd", "rd", "th")
    return scan.words[i - 1] in _LEADS


def _bare_number_day(scan: Scan, i: int, j: int) -> Match | None:
    """ "on the 15", "on 27", "the 17 from 2pm": numbers that only their neighbours make days."""
    number = scan.numbers[j]
    if number is None or scan.digits(j) > 2 or not 1 <= number <= 31 or inside_number(scan, j):
        return None
    following = scan.words[j + 1]
    timed = j > i and following in ("from", "between", "at") and expected_clock(scan, j + 2) is not None
    if timed or (scan.words[i - 1] == "on" and _ends_clause(scan, j + 1)):
        return scan.day_of_month(number), j + 1
    return None


def _ends_clause(scan: Scan, j: int) -> bool:
    """Whether the text, a sentence or a clause ends at an index; a dot before digits ends none."""
    if scan.words[j] == ".":
        return scan.spaced[j + 1] or j + 1 >= scan.size
    return scan.words[j] in ("", ",", "!", "?", ";")


def _names_something(scan: Scan, k: int) -> bool:
    """Whether a noun follows that the ordinal counts: "the 3rd floor"."""
    word = scan.words[k]
    if word in ("to", "and", "or", "-"):
        another = ordinal(scan, scan.skip(k + 1, "the"))
        if another is not None:
            return scan.words[another[1]].isalpha() and _names_something(scan, another[1])
    return word.isalpha() and word not in _AFTER_DAY and word not in scan.lex.parts_of_day


def holiday(scan: Scan, i: int) -> Match | None:
    """A holiday with what tells its year: "last Easter", "Black Friday 2010", "Labor Day weekend"."""
    steps, j = scan.shifted(i)
    if (named := scan.phrase(j, scan.lex.holidays)) is None:
        return None
    rule, k = named
    after_name = scan.skip(k, "weekend")
    days, end = _holiday_dates(scan, rule, steps, after_name)
    after_year = scan.skip(end, "weekend")
    if not days:
        return None
    if after_name > k or after_year > end:
        return period_node([_weekend_at(day) for day in days], "weekend"), after_year
    if len(days) == 1:
        return day_node(days, f"{days[0]:%Y-%m-%d}", None, "holiday"), end
    parts = Parts(None, days[0].month, days[0].day)
    return day_node(days, f"XXXX-{days[0]:%m-%d}", parts, "holiday"), end


def _holiday_dates(scan: Scan, rule: str, steps: int | None, k: int) -> tuple[list[datetime], int]:
    now = scan.now
    if steps is None:
        year = year_after(scan, k) or scan.year_by_word(scan.skip(scan.skip(k, ","), "of"))
        if year is not None:
            return _in_years(rule, [year[0]]), year[1]
    near = nearest(_in_years(rule, range(now.year - 2, now.year + 3)), now)
    if steps == 0:
        near = _in_years(rule, [now.year])
    elif steps is not None:
        near = [day for day in near if (day < now) == (steps < 0)]
    return near, k


def _in_years(rule: str, years: Iterable[int]) -> list[datetime]:
    return [day for year in years if (day := holiday_date(rule, year)) is not None]


def _weekend_at(day: datetime) -> tuple[datetime, datetime]:
    """The weekend nearest to a day, longer by a Friday or a Monday."""
    saturday = week_start(day) + DAY * 5
    if day.weekday() <= 1:
        saturday -= WEEK
    return (day if day.weekday() == 4 else saturday), saturday + DAY * (3 if day.weekday() == 0 else 2)


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
    dated = scan.numbers[j] is not None or following in lex.months or following in lex.parts_of_day
    if dated or scan.size == 1:
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
    if (named := weekday_at(scan, start)) is None:
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
    day = (ordinal(scan, k + 1) or small_cardinal(scan, k + 1)) if article else ordinal(scan, j)
    if day is None and not article and scan.digits(j) in (1, 2):
        ends = scan.words[j + 1] in ("between", "from", "at", ")") or _ends_clause(scan, j + 1)
        day = (scan.numbers[j] or 0, j + 1) if ends else None
    if day is None or not 1 <= day[0] <= 31:
        return None
    this_month = scan.calendar_day(scan.now.year, scan.now.month, day[0]) if article else None
    if this_month is not None and any(start.weekday() == number for start in this_month.starts):
        return this_month, day[1]
    dates = [date for step in (-1, 1) if (date := _month_with(scan, number, day[0], step)) is not None]
    return (day_node(dates, f"XXXX-WXX-{number + 1}"), day[1]) if dates else None


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
    if (steps := scan.steps(i)) is None or scan.words[i + 1] != "week":
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
    months = [(start.year, 12 if of_december else start.month) for start in node.starts]
    days = [nth_weekday(year, month, weekday, nth) for year, month in months]
    dates = [day for day in days if day is not None]
    return (day_node(dates), end) if dates else None


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
