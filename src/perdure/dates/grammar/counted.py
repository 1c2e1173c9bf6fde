"""Counted stretches: "last 3 months", "next four business days", "the last week of July", "rest of the week"."""

from __future__ import annotations

from datetime import datetime, timedelta

from perdure.dates.build import elapsed, make_length, period_node, stretch, unit_bounds, unit_start
from perdure.dates.calendar import (
    DAY,
    WEEK,
    add_months,
    first_week_of_month,
    iso_week,
    last_week_of_month,
    weeks_in_year,
)
from perdure.dates.grammar.durations import length_at, single_length
from perdure.dates.grammar.numbers import count, ordinal
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan, memoised

_MODALS = word_set("will would can could should may might must to not did does")


@memoised
def last_units(scan: Scan, i: int) -> Match | None:
    """ "last 3 months", "past few days", "next couple weeks", "5 upcoming years", "13 last minutes"."""
    words = scan.words
    steps = scan.lex.shifts.get(words[i])
    if words[i] == "last" and i and words[i - 1] in _MODALS:
        return None
    j = i + 1
    if steps == 0 and scan.lex.shifts.get(words[j]):
        steps, j = scan.lex.shifts[words[j]], j + 1
    if steps:
        if words[j] in ("a", "an"):
            return None
        found = length_at(scan, j) if words[j] != "half" else None
        if found is None or scan.words[found[1]] in ("ago", "later"):
            return _without_tail(scan, steps, j)
        return stretch(scan, found[0], steps), found[1]
    counted = count(scan, i)
    if counted is None or words[i] in ("a", "an"):
        return None
    amount, k = counted
    steps = scan.lex.shifts.get(words[k])
    unit = scan.lex.units.get(words[k + 1])
    if not steps or unit is None or amount > 10_000 or unit in ("night",) or not words[k + 1].endswith("s"):
        return None
    return stretch(scan, make_length(amount, unit), steps), k + 2


def _without_tail(scan: Scan, steps: int, j: int) -> Match | None:
    """ "last 3 months and 2 weeks and 2 days ago": only the first length belongs to "last"."""
    single = single_length(scan, j) if scan.words[j] != "half" else None
    if single is None or scan.words[single[1]] in ("ago", "later"):
        return None
    return stretch(scan, single[0], steps), single[1]


def part_of_period(scan: Scan, i: int) -> Match | None:
    """ "the last week of July", "first ten days of last year", "the 9th month of next year", "the second week of 2021"."""
    j = scan.skip(i, "the")
    last = scan.words[j] in ("last", "final")
    number = (-1, j + 1) if last else ordinal(scan, j)
    if number is None:
        return None
    nth, k = number
    amount = 1
    counted = count(scan, k) if (last or nth == 1) and scan.words[k] not in ("a", "an", "half") else None
    if counted is not None:
        amount, k = int(counted[0]), counted[1]
    unit = scan.lex.units.get(scan.words[k])
    if unit not in ("day", "week", "month", "weekend", "quarter", "year") or not _whole_follows(scan, k + 1):
        return None
    found = scan.period(scan.skip(k + 1, "of", "in"))
    if (
        found is None
        or found[0].grain not in ("week", "month", "year", "quarter", "season", "decade")
        or not 1 <= amount <= 400
    ):
        return None
    node, end = found
    pairs = [pair for alt in node.alts if (pair := _slice(alt, node.grain, unit, nth, amount)) is not None]
    if not pairs:
        return None
    grain = unit if amount == 1 else node.grain
    if unit == "day" and amount == 1 and i < j and scan.words[k + 2] in scan.lex.months:
        return None
    if unit == "day" and amount == 1:
        return Node("date", "day", [Alt(start, None, stop) for start, stop in pairs]), end
    return period_node(pairs, grain), end


def _whole_follows(scan: Scan, k: int) -> bool:
    """Whether "of" or "next year" follows the unit."""
    return scan.words[k] in ("of", "in") or (
        scan.words[k] in scan.lex.shifts and scan.words[k + 1] in ("month", "year", "quarter")
    )


def _slice(alt: Alt, whole: str, unit: str, nth: int, amount: int) -> tuple[datetime, datetime] | None:
    assert alt.start is not None
    assert alt.stop is not None
    if unit == "week":
        return _weeks(alt.start, alt.stop, whole, nth, amount)
    if unit == "weekend":
        return _weekends(alt.start, alt.stop, nth)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        start = alt.stop - DAY * amount if nth < 0 else alt.start + DAY * (nth - 1)
        stop = start + DAY * amount
    else:
        start = (
            add_months(alt.stop, -months * amount) if nth < 0 else add_months(alt.start, months * (nth - 1))
        )
        stop = add_months(start, months * amount)
    return (start, stop) if alt.start <= start and stop <= alt.stop else None


def _weeks(
    first: datetime, stop: datetime, whole: str, nth: int, amount: int
) -> tuple[datetime, datetime] | None:
    if whole == "year":
        start = iso_week(
            first.year,
            weeks_in_year(first.year) - amount + 1 if nth < 0 else min(nth, weeks_in_year(first.year)),
        )
    elif nth < 0:
        end_month = stop - DAY
        start = last_week_of_month(end_month.year, end_month.month) - WEEK * (amount - 1)
    else:
        start = first_week_of_month(first.year, first.month) + WEEK * (nth - 1)
        if start >= stop:
            return None
    return start, start + WEEK * amount


def _weekends(first: datetime, stop: datetime, nth: int) -> tuple[datetime, datetime] | None:
    saturday = unit_start("weekend", first)
    if saturday < first:
        saturday += WEEK
    if nth < 0:
        saturday = unit_start("weekend", stop - DAY)
        if saturday >= stop:
            saturday -= WEEK
    else:
        saturday += WEEK * (nth - 1)
    return (saturday, saturday + 2 * DAY) if saturday < stop else None


def rest_of(scan: Scan, i: int) -> Match | None:
    """ "rest of the week", "remaining of the month", "remainder of this year", "the rest of the day"."""
    words = scan.words
    if words[i] not in ("rest", "remaining", "remainder", "balance") or words[i + 1] != "of":
        return None
    j = scan.skip(scan.skip(i + 2, "the", "this", "my", "our"), "current")
    unit = scan.lex.units.get(words[j])
    if unit == "day":
        end = scan.today + DAY
        now = scan.now.replace(microsecond=0)
        return Node("datetimerange", "day", [Alt(now, end - timedelta(seconds=1), end)]), j + 1
    if unit not in ("week", "month", "quarter", "year", "decade"):
        return None
    _, stop = unit_bounds(unit, scan.now, 0)
    # TIMEX counts the rest to the last day.
    shown = stop - DAY
    return Node("range", unit, [Alt(scan.today, shown, stop)]), j + 1


def to_date(scan: Scan, i: int) -> Match | None:
    """ "year to date", "ytd", "month to date", "to date"."""
    words = scan.words
    unit = {"ytd": "year", "mtd": "month", "qtd": "quarter"}.get(words[i])
    j = i + 1
    if unit is None:
        unit = words[i] if words[i] in ("week", "month", "quarter", "year") else None
        if unit is None:
            return _until_now(scan, i)
        if words[i + 1] == "-" and words[i + 2] == "to":
            j = i + 5
            if not scan.at(i + 1, "-", "to", "-", "date"):
                return None
        elif scan.at(i + 1, "to", "date"):
            j = i + 3
        else:
            return None
    start = unit_start(unit, scan.now)
    return Node("range", unit, [Alt(start, scan.today, scan.today + DAY)], timex=f"{start:%Y}"), j


def _until_now(scan: Scan, i: int) -> Match | None:
    words = scan.words
    if (
        not scan.at(i, "to", "date")
        or (i and words[i - 1] in ("up", "equals", "equal"))
        or words[i + 2] in ("from", "with", "a", "the", "her", "him")
    ):
        return None
    return Node(
        "range",
        "day",
        [Alt(None, scan.today, elapsed(scan, scan.now, DAY * 0))],
        mod="before",
        timex="PRESENT_REF",
    ), i + 2
