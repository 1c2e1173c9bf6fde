"""Portions of a period: "early this month", "the end of 2008", "the last week of July", "rest of the week"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from perdure.dates.calendar import DAY, WEEK, add_months, first_week, unit_bounds, unit_start, weeks_in_year
from perdure.dates.grammar.numbers import count, ordinal
from perdure.dates.grammar.times import EARLY
from perdure.dates.nodes import Alt, Match, Node, period_node
from perdure.dates.scan import Scan, memoised

_PREFIXES = {**EARLY, "middle": "mid"}
_NOUNS = {"beginning": "start", "start": "start", "end": "end", "middle": "mid", "close": "end"}
_WEEK_PARTS = {"start": (0, 3), "mid": (1, 5), "end": (3, 7)}
_TO_DATE = {"ytd": "year", "mtd": "month", "qtd": "quarter"}


@memoised
def portion(scan: Scan, i: int) -> Match | None:
    """A portion of a week, month, year or longer period."""
    word = scan.words[i]
    if word in _PREFIXES:
        which, j = _PREFIXES[word], scan.skip(i + 1, "-")
        if word != "mid" or scan.words[j] == "of":
            j = scan.skip(scan.skip(j, "in", "of", "on"), "the")
    elif word in _NOUNS and scan.words[i + 1] == "of":
        which, j = _NOUNS[word], i + 2
        j = j + 1 if scan.words[j] == "the" and scan.words[j + 1] in ("year", "month", "week") else j
    else:
        return None
    if (whole := _whole(scan, j, word in _NOUNS)) is None or whole[0].mod is not None:
        return None
    node, end = whole
    # Thirds for "the end of 2008", halves for "late 2008" and "the end of last year".
    months = 4 if word in _NOUNS and "relative" not in node.tags else 6
    pairs = [_cut(start, stop, node.grain, which, months) for start, stop in node.bounds]
    if word in ("later", "earlier"):
        pairs = [_from_today(scan.today, start, stop, word == "later") for start, stop in pairs]
    portions = period_node(pairs, node.grain, node.timex, node.parts, f"portion_{which}")
    return replace(portions, mod=which), end


def _whole(scan: Scan, j: int, noun: bool) -> Match | None:
    """The period that a portion is of: "the month", "November", "last year"."""
    unit, previous = scan.words[j], scan.words[j - 1]
    if unit in ("year", "month", "week", "quarter", "decade", "century") and scan.numbers[j + 1] is None:
        this = noun or previous in ("the", "of") or (previous in ("mid", "-") and unit == "week")
        return (scan.unit_node(unit, 0), j + 1) if this else None
    match = scan.period(j)
    return match if match is not None and match[0].kind == "range" else None


def _cut(start: datetime, stop: datetime, grain: str, which: str, months: int) -> tuple[datetime, datetime]:
    """The bounds of the start, the middle or the end of a period; `months` are those of a year's portion."""
    if grain == "week":
        low, high = _WEEK_PARTS[which]
        return start + DAY * low, start + DAY * high
    if grain == "month":
        middle = start.replace(day=10), start.replace(day=21)
        first_ends = last_begins = start.replace(day=16)
    elif grain == "year":
        middle = add_months(start, 4), add_months(start, 8)
        first_ends, last_begins = add_months(start, months), add_months(stop, -months)
    else:
        days = (stop - start).days
        middle = start + DAY * (days // 3), stop - DAY * (days // 3)
        first_ends = last_begins = start + DAY * (days // 2)
    return middle if which == "mid" else (start, first_ends) if which == "start" else (last_begins, stop)


def _from_today(today: datetime, start: datetime, stop: datetime, later: bool) -> tuple[datetime, datetime]:
    """ "Later this week" begins today, "earlier this week" ends today."""
    if not start < today < stop:
        return start, stop
    return (today, stop) if later else (start, today)


def part_of_period(scan: Scan, i: int) -> Match | None:
    """ "the last week of July", "first ten days of last year", "the 9th month of next year", "the second week of 2021"."""
    j = scan.skip(i, "the")
    last = scan.words[j] in ("last", "final")
    number = (-1, j + 1) if last else ordinal(scan, j)
    if number is None:
        return None
    nth, k = number
    counted = count(scan, k) if (last or nth == 1) and scan.words[k] not in ("a", "an", "half") else None
    amount, k = (int(counted[0]), counted[1]) if counted is not None else (1, k)
    unit = scan.unit(k)
    if unit not in ("day", "week", "month", "weekend", "quarter", "year") or not _whole_follows(scan, k + 1):
        return None
    whole = scan.skip(k + 1, "of", "in")
    match = (scan.period(whole) or scan.period(scan.skip(whole, "the"))) if 1 <= amount <= 400 else None
    if match is None or match[0].grain not in ("week", "month", "year", "quarter", "season", "decade"):
        return None
    node, end = match
    slices = [_slice(start, stop, node.grain, unit, nth, amount) for start, stop in node.bounds]
    pairs = [pair for pair in slices if pair is not None]
    one_day = unit == "day" and amount == 1
    if not pairs or (one_day and i < j and scan.words[k + 2] in scan.lex.months):
        return None
    if one_day:
        return Node("date", "day", [Alt(start, None, stop) for start, stop in pairs]), end
    return period_node(pairs, unit if amount == 1 else node.grain), end


def _whole_follows(scan: Scan, k: int) -> bool:
    """Whether "of" or "next year" follows the unit."""
    if scan.words[k] in ("of", "in"):
        return True
    return scan.steps(k) is not None and scan.words[k + 1] in ("month", "year", "quarter")


def _slice(
    first: datetime, stop: datetime, whole: str, unit: str, nth: int, amount: int
) -> tuple[datetime, datetime] | None:
    """The nth units of a period, -1 for the last; None where it has not so many."""
    if unit == "week":
        return _weeks(first, stop, whole, nth, amount)
    if unit == "weekend":
        return _weekend(first, stop, nth)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        start = stop - DAY * amount if nth < 0 else first + DAY * (nth - 1)
        end = start + DAY * amount
    else:
        start = add_months(stop, -months * amount) if nth < 0 else add_months(first, months * (nth - 1))
        end = add_months(start, months * amount)
    return (start, end) if first <= start and end <= stop else None


def _weeks(
    first: datetime, stop: datetime, whole: str, nth: int, amount: int
) -> tuple[datetime, datetime] | None:
    if whole == "year":
        weeks = weeks_in_year(first.year)
        start = datetime.fromisocalendar(first.year, weeks - amount + 1 if nth < 0 else min(nth, weeks), 1)
    elif nth < 0:
        start = first_week(add_months(unit_start("month", stop - DAY), 1)) - WEEK * amount
    else:
        start = first_week(unit_start("month", first)) + WEEK * (nth - 1)
        if start >= stop:
            return None
    return start, start + WEEK * amount


def _weekend(first: datetime, stop: datetime, nth: int) -> tuple[datetime, datetime] | None:
    saturday = unit_start("weekend", stop - DAY if nth < 0 else first)
    if nth < 0:
        saturday -= WEEK * (saturday >= stop)
    else:
        saturday += WEEK * (nth - 1 + (saturday < first))
    return (saturday, saturday + 2 * DAY) if saturday < stop else None


def rest_of(scan: Scan, i: int) -> Match | None:
    """ "rest of the week", "remaining of the month", "remainder of this year", "the rest of the day"."""
    if scan.words[i] not in ("rest", "remaining", "remainder", "balance"):
        return None
    j = scan.skip(i + 1, "of")
    if j == i + 1 and (scan.words[i] != "rest" or scan.words[j] not in ("the", "this", "current")):
        return None
    j = scan.skip(scan.skip(j, "the", "this", "my", "our"), "current")
    unit = scan.unit(j)
    if unit == "day":
        now, end = scan.now.replace(microsecond=0), scan.today + DAY
        return Node("datetimerange", "day", [Alt(now, end - timedelta(seconds=1), end)]), j + 1
    if unit not in ("week", "month", "quarter", "year", "decade"):
        return None
    stop = unit_bounds(unit, scan.now, 0)[1]
    # TIMEX counts the rest to the last day.
    return Node("range", unit, [Alt(scan.today, stop - DAY, stop)]), j + 1


def to_date(scan: Scan, i: int) -> Match | None:
    """ "year to date", "ytd", "month-to-date", "to date"."""
    word = scan.words[i]
    if word == "to":
        return _until_now(scan, i)
    unit, j = _TO_DATE.get(word, word), i + 1
    if word not in _TO_DATE:
        j = i + 3 if scan.at(i + 1, "to", "date") else i + 5 if scan.at(i + 1, "-", "to", "-", "date") else i
    if j == i:
        return None
    start = unit_start(unit, scan.now)
    return Node("range", unit, [Alt(start, scan.today, scan.today + DAY)], timex=f"{start:%Y}"), j


def _until_now(scan: Scan, i: int) -> Match | None:
    if not scan.at(i, "to", "date") or scan.words[i - 1] in ("up", "equals", "equal"):
        return None
    if scan.words[i + 2] in ("from", "with", "a", "the", "her", "him"):
        return None
    alt = Alt(None, scan.today, scan.elapsed(scan.now, timedelta(0)))
    return Node("range", "day", [alt], mod="before", timex="PRESENT_REF"), i + 2
