"""Ranges and bounds: "from Nov to March", "between 3 and 12 of Sept", "before 2018", "around 3", "2012 or later"."""

from __future__ import annotations

from dataclasses import replace

from perdure.dates.calendar import DAY, add_months, is_date, unit_start
from perdure.dates.grammar.clock import expected_clock, match_of
from perdure.dates.grammar.days import weekday_at
from perdure.dates.grammar.months import month_at, year_after
from perdure.dates.grammar.numbers import day_number, ordinal
from perdure.dates.grammar.numeric import glued, inside_number
from perdure.dates.grammar.portions import portion
from perdure.dates.grammar.times import connector, meal, now
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Alt, Match, Node, day_node, days_of, opened
from perdure.dates.scan import Scan

_TIMED = frozenset(("time", "datetime", "datetimerange", "timerange"))
_DATED = frozenset(("datetime", "datetimerange"))
_PORTIONS = (None, "start", "mid", "end")
AROUND = word_set("around circa")
_ROUGHLY = word_set("around about approximately circa")
_AFTER_HOUR = frozenset(("", ".", ",", "!", "?", "on", "today", "tomorrow", "tonight"))
_ENDS = frozenset(("", ".", ",", "!", "?", ";"))
_SUBJECTS = word_set("i we you he she they it")


def date_range(scan: Scan, i: int) -> Match | None:
    """A range with two ends."""
    lead = scan.words[i]
    within = _days_of_week(scan, i) or _days_then_week(scan, i) or _month_then_days(scan, i)
    if within is not None:
        return within
    if lead == "in":
        # "in 2014-2018": after "in" only years make a range.
        match = _two_ends(scan, i + 1, False) if scan.digits(i + 1) == 4 else None
        return match if match is None or not match[0].alts or match[0].grain == "year" else None
    if lead in ("from", "between"):
        return _two_ends(scan, i + 1, lead == "between")
    return _two_ends(scan, i + 2 if scan.at(i, "starting", "from") else i, False)


def _days_of_week(scan: Scan, i: int) -> Match | None:
    """ "next week from Monday to Thursday", "this week between Wednesday and Friday"."""
    steps = scan.steps(i)
    if steps is None or scan.words[i + 1] != "week" or scan.words[i + 2] not in ("from", "between"):
        return None
    first = weekday_at(scan, i + 3)
    after = None if first is None else connector(scan, first[1], scan.words[i + 2] == "between")
    second = None if after is None else weekday_at(scan, after)
    if first is None or second is None or second[0] <= first[0]:
        return None
    return _weekdays_of(scan, first[0], second[0], steps), second[1]


def _days_then_week(scan: Scan, i: int) -> Match | None:
    """ "Monday to Wednesday of next week", "between Tue and Thu this week"."""
    lead = scan.words[i]
    first = weekday_at(scan, i + 1 if lead in ("from", "between") else i)
    after = None if first is None else connector(scan, first[1], lead == "between")
    second = None if after is None else weekday_at(scan, after)
    if first is None or second is None or second[0] <= first[0]:
        return None
    week = scan.skip(second[1], "of", "in")
    steps = scan.steps(week)
    if steps is None or scan.words[week + 1] != "week":
        return None
    return _weekdays_of(scan, first[0], second[0], steps), week + 2


def _weekdays_of(scan: Scan, first: int, last: int, steps: int) -> Node:
    """From one weekday to another of the week that lies so many weeks ahead."""
    start, stop = (scan.weekday_in_week(number, steps).starts[0] for number in (first, last))
    return Node("range", "day", [Alt(start, stop, stop + DAY)])


def _month_then_days(scan: Scan, i: int) -> Match | None:
    """ "June from 3 to 9", "Feb between 2-7 2018"."""
    month = month_at(scan, i)
    if month is None or scan.words[month[1]] not in ("from", "between"):
        return None
    first = day_number(scan, month[1] + 1)
    after = None if first is None else connector(scan, first[1], scan.words[month[1]] == "between")
    second = None if after is None else day_number(scan, after)
    if first is None or second is None or scan.words[second[1]] in ("am", "pm", ":"):
        return None
    year, end = year_after(scan, second[1]) or (None, second[1])
    return _in_month(scan, year, month[0], first[0], second[0], end)


def _two_ends(scan: Scan, j: int, between: bool) -> Match | None:
    days = _days_of_one_month(scan, j, between)
    if days is not None:
        return days
    if (first := _endpoint(scan, j)) is None:
        return None
    node, k = first
    if scan.words[k] == "," and connector(scan, k + 1, between) and scan.words[k + 1] != "-":
        k += 1
    if (after := connector(scan, k, between)) is None:
        return None
    if scan.words[after] == "date" and node.kind in ("date", "range"):
        second: Match | None = (day_node([scan.today]), after + 1)
    else:
        short = _second_day(scan, node, after)
        if short is not None:
            return short
        second = _endpoint(scan, after)
    joined = None if second is None else _join(scan, node, second[0])
    return None if second is None or joined is None else (joined, second[1])


def _endpoint(scan: Scan, j: int) -> Match | None:
    """An end of a range; "the end of March" is the moment when March ends."""
    k = scan.skip(j, "the")
    part = portion(scan, k)
    if part is not None and scan.words[k] in ("end", "beginning", "start", "middle"):
        return _edge(part[0]), part[1]
    match = scan.operand(j)
    if match is not None:
        return match
    if k == j:
        return now(scan, j)
    match = scan.operand(k)
    return match if match is not None and match[0].kind in ("range", "date") else _bare_day(scan, k)


def _edge(part: Node) -> Node:
    edges = [stop if part.mod == "end" else start for start, stop in part.bounds]
    if part.mod == "mid" and part.grain == "month":
        edges = [edge.replace(day=16) for edge in edges]
    return Node("range", part.grain, [Alt(edge, None, edge) for edge in edges])


def _bare_day(scan: Scan, k: int) -> Match | None:
    """ "the twenty-seventh" where a date is expected."""
    day = ordinal(scan, k)
    return (scan.day_of_month(day[0]), day[1]) if day is not None and 1 <= day[0] <= 31 else None


def _days_of_one_month(scan: Scan, j: int, between: bool) -> Match | None:
    """ "3 and 12 of Sept", "9 to 12 of June", "3-5 May", "4-23 next month"."""
    first = day_number(scan, j) if not inside_number(scan, j) else None
    after = connector(scan, first[1], between) if first is not None else None
    second = day_number(scan, after) if after is not None else None
    if first is None or second is None:
        return None
    k = scan.skip(second[1], "of", "in")
    month = month_at(scan, k)
    if month is not None:
        year, end = year_after(scan, month[1]) or (None, month[1])
        return _in_month(scan, year, month[0], first[0], second[0], end)
    k = scan.skip(k, "the")
    steps, end = scan.steps(k), k + 2
    if scan.words[k] == "month" and scan.words[k - 1] == "the":
        steps, end = 0, k + 1
    if steps is None or scan.words[end - 1] != "month":
        return None
    start = add_months(unit_start("month", scan.now), steps)
    return _in_month(scan, start.year, start.month, first[0], second[0], end)


def _in_month(scan: Scan, year: int | None, month: int, low: int, high: int, end: int) -> Match | None:
    if high <= low:
        return None
    first, last = scan.calendar_day(year, month, low), scan.calendar_day(year, month, high)
    if first is None or last is None or not first.alts or not last.alts:
        return None
    starts = [start for start in first.starts if is_date(start.year, month, high)]
    alts = [Alt(start, start.replace(day=high), start.replace(day=high) + DAY) for start in starts]
    prefix = f"{year:04}-{month:02}" if year else f"XXXX-{month:02}"
    timex = f"({prefix}-{low:02},{prefix}-{high:02},P{high - low}D)"
    return Node("range", "day", alts, timex=timex), end


def _second_day(scan: Scan, node: Node, after: int) -> Match | None:
    """ "november 19-20", "april ninth through seventeenth", "May 3 to 5, 2020"."""
    parts = node.parts
    if node.kind != "date" or "holiday" in node.tags:
        return None
    if parts is None or parts.day is None or parts.month is None:
        return None
    if (number := day_number(scan, after)) is None:
        return None
    high, end = number
    following = scan.words[end]
    if following in (":", "/") and scan.digits(end + 1) > 0 and not scan.spaced[end + 1]:
        return None
    if month_at(scan, scan.skip(end, "of")) is not None or following in ("am", "pm"):
        return None
    if glued(scan, end) and scan.digits(end + 1):
        return None
    year: int | None = parts.year
    if year is None:
        year, end = year_after(scan, end) or (None, end)
    return _in_month(scan, year, parts.month, parts.day, high, end)


def _join(scan: Scan, first: Node, second: Node) -> Node | None:
    """The range between two nodes, where the kinds allow one."""
    if first.mod not in _PORTIONS or second.mod not in _PORTIONS:
        return None
    if first.kind in _TIMED or second.kind in _TIMED:
        return _join_times(scan, first, second)
    if not {first.kind, second.kind} <= {"date", "range"}:
        return None
    a, b = first.parts, second.parts
    if a is not None and b is not None and a.month and b.month and a.year is None and b.year:
        # The first end takes the year of the second, or the year before it.
        first = scan.in_year(first, b.year - ((a.month, a.day or 0) > (b.month, b.day or 31)))
    return _pair(first, second)


def _pair(first: Node, second: Node) -> Node | None:
    """Matches past with past and future with future, so that the range runs forward."""
    if not first.alts or not second.alts:
        return None
    past = _ordered(first.alts[0], second.alts[0], second.alts[-1], None)
    future = _ordered(first.alts[-1], second.alts[-1], None, first.alts[0])
    alts = list(dict.fromkeys(alt for alt in (past, future) if alt is not None))
    if not alts:
        return None
    if second.mod is not None:
        alts = [alt._replace(stop=alt.end) for alt in alts]
    return Node("range", first.grain if first.grain == second.grain else "day", alts)


def _ordered(first: Alt, second: Alt, later: Alt | None, earlier: Alt | None) -> Alt | None:
    """The range between two readings; where they stand in the wrong order, with the other reading of one end."""
    if first.start is None or second.start is None:
        return None
    if second.start >= first.start:
        same = second.start == first.start and second.stop is None and first.stop is None
        return None if same else Alt(first.start, second.start, second.end)
    if later is not None and later.start is not None and later.start >= first.start:
        return Alt(first.start, later.start, later.end)
    if earlier is not None and earlier.start is not None and earlier.start <= second.start:
        return Alt(earlier.start, second.start, second.end)
    return None


def _join_times(scan: Scan, first: Node, second: Node) -> Node | None:
    """Ranges with a moment at an end: a day is borrowed from the other end or from today."""
    if "now" in first.tags and second.kind == "date":
        coming = [alt for alt in second.alts if alt.start is not None and alt.start >= scan.today]
        return _pair(days_of(first), replace(second, alts=coming or second.alts))
    if "now" in second.tags and first.kind in ("date", "range"):
        return _pair(first, days_of(second))
    if first.kind == "time" and second.kind in _DATED:
        first = scan.on_days(first, days_of(second) if "day_last" in second.tags else day_node([scan.today]))
    elif first.kind in _DATED and second.kind == "time":
        second = scan.on_days(second, days_of(first))
    if first.kind not in _DATED or second.kind not in _DATED:
        return None
    alts = []
    for start in first.starts:
        later = next((alt for alt in second.alts if alt.start is not None and alt.start > start), None)
        if later is not None:
            alts.append(Alt(start, later.start, later.end))
    return Node("datetimerange", second.grain, list(dict.fromkeys(alts))) if alts else None


def bounded(scan: Scan, i: int) -> Match | None:
    """An expression behind a bound or an approximation."""
    word = scan.words[i]
    if word in AROUND:
        return _approximate(scan, i + 1)
    if (phrase := scan.phrase(i, scan.lex.bounds)) is None:
        return None
    mod, j = phrase
    match = _target(scan, scan.skip(j, *_ROUGHLY), word)
    if match is None or match[0].kind in ("duration", "recurring"):
        return None
    kind = match[0].kind
    if (word == "by" and kind == "timerange") or (word in ("starting", "beginning") and kind == "time"):
        return None
    return opened(match[0], mod), match[1]


def _target(scan: Scan, k: int, word: str) -> Match | None:
    match = scan.operand(k)
    if match is None and scan.words[k] == "the":
        match = scan.operand(k + 1)
    return match or meal(scan, k) or _expected_hour(scan, k, word)


def _expected_hour(scan: Scan, k: int, word: str) -> Match | None:
    """ "after 3" stays open to doubt: a number is a time only in "by 5" forms with nothing counted."""
    if word not in ("by", "until", "till") or scan.digits(k) not in (1, 2):
        return None
    return match_of(scan, expected_clock(scan, k)) if scan.words[k + 1] in _AFTER_HOUR else None


def _approximate(scan: Scan, j: int) -> Match | None:
    match = scan.operand(j) or scan.operand(scan.skip(j, "the"))
    if match is None or match[0].mod is not None:
        return None
    node, end = match
    bare_day = node.kind == "date" and node.parts is not None and node.parts.month is None
    if bare_day or node.kind not in ("date", "datetime", "time", "range"):
        return None
    return replace(node, mod="around"), end


def from_then_on(scan: Scan, i: int) -> Match | None:
    """ "from 2014 on", "from next Monday onwards", "from July on I work in Rome"."""
    match = scan.operand(scan.skip(i + 1, "the")) if scan.words[i] == "from" else None
    if match is None or match[0].kind not in ("date", "range", "datetime") or match[0].mod is not None:
        return None
    node, end = match
    onwards = scan.words[end] in ("onward", "onwards", "forward", "forwards")
    ends = scan.words[end + 1] in _ENDS or scan.words[end + 1] in _SUBJECTS
    if onwards or (scan.words[end] == "on" and ends):
        return opened(node, "since"), end + 1
    return None


def _trailing_bound(scan: Scan, node: Node, j: int) -> Match | None:
    """ "year 2012 or later", "3 pm or later on Monday"."""
    phrase = scan.phrase(j, scan.lex.bounds_after) if node.mod is None else None
    if phrase is None:
        return None
    mod, end = phrase
    if scan.words[end] == "than":
        return None
    if scan.words[end - 1] in ("after", "before") and scan.words[end] not in _ENDS:
        return None
    days = scan.day(scan.skip(end, "on")) if node.kind == "time" else None
    if days is not None and days[0].kind == "date":
        return opened(scan.on_days(node, days[0]), mod), days[1]
    return opened(node, mod), end


def anything(scan: Scan, i: int) -> Match | None:
    """A range or an operand with an optional trailing bound."""
    match = from_then_on(scan, i) or date_range(scan, i)
    plain = scan.operand(i)
    if match is None or (plain is not None and plain[1] > match[1]):
        match = plain
    return None if match is None else _trailing_bound(scan, *match) or match
