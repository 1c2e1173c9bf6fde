"""Ranges from one expression to another: "from Nov to March", "between 3 and 12 of Sept", "2014-2018"."""

from __future__ import annotations

from perdure.dates.build import calendar_day, day_node, day_of_month, days_of, on_days
from perdure.dates.calendar import DAY, add_months, is_date, month_start
from perdure.dates.grammar.clockranges import connector
from perdure.dates.grammar.combine import operand
from perdure.dates.grammar.moments import now
from perdure.dates.grammar.months import month_at, year_after
from perdure.dates.grammar.numbers import cardinal, ordinal
from perdure.dates.grammar.numeric import glued, inside_number, node_with_year
from perdure.dates.grammar.portions import portion
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan


def date_range(scan: Scan, i: int) -> Match | None:
    """A range with two ends."""
    lead = scan.words[i]
    if lead in ("from", "between", "in") or (lead == "starting" and scan.words[i + 1] == "from"):
        j = i + 2 if lead == "starting" else i + 1
        if lead == "in" and scan.digits(j) != 4:
            return None
        found = _two_ends(scan, j, lead == "between", True)
        if found is not None and lead == "in" and found[0].alts and not _plain_years(found[0]):
            return None
        return found
    return _two_ends(scan, i, False, False)


def _plain_years(node: Node) -> bool:
    return node.grain == "year"


def _two_ends(scan: Scan, j: int, between: bool, announced: bool) -> Match | None:
    days = _days_of_one_month(scan, j, between, announced)
    if days is not None:
        return days
    first = endpoint(scan, j)
    if first is None:
        return None
    node, k = first
    if scan.words[k] == "," and connector(scan, k + 1, between) and scan.words[k + 1] != "-":
        k += 1
    after = connector(scan, k, between)
    if after is None:
        return None
    if scan.words[after] == "date" and node.kind in ("date", "range"):
        joined = join(scan, node, day_node([scan.today]))
        return None if joined is None else (joined, after + 1)
    short = _second_day(scan, node, after)
    if short is not None:
        return short
    second = endpoint(scan, after)
    if second is None:
        return None
    joined = join(scan, node, second[0])
    return None if joined is None else (joined, second[1])


def endpoint(scan: Scan, j: int) -> Match | None:
    """An end of a range; "the end of March" is the moment when March ends."""
    k = scan.skip(j, "the")
    part = portion(scan, k)
    if part is not None and scan.words[k] in ("end", "beginning", "start", "middle"):
        return _edge(part[0]), part[1]
    found = operand(scan, j)
    if found is not None:
        return found
    if k > j:
        inner = operand(scan, k)
        return inner if inner is not None and inner[0].kind in ("range", "date") else _bare_day(scan, j)
    return now(scan, j) or _bare_day(scan, j)


def _edge(part: Node) -> Node:
    alts = []
    for alt in part.alts:
        assert alt.start is not None
        assert alt.stop is not None
        edge = {
            "start": alt.start,
            "end": alt.stop,
            "mid": alt.start.replace(day=16) if part.grain == "month" else alt.start,
        }[part.mod or "start"]
        alts.append(Alt(edge, None, edge))
    return Node("range", part.grain, alts, tags=frozenset(("edge",)))


def _bare_day(scan: Scan, j: int) -> Match | None:
    """ "the twenty-seventh" where a date is expected."""
    k = scan.skip(j, "the")
    day = ordinal(scan, k)
    if day is None or not 1 <= day[0] <= 31 or k == j:
        return None
    return day_of_month(scan, day[0]), day[1]


def _number(scan: Scan, j: int) -> tuple[int, int] | None:
    k = scan.skip(j, "the")
    found = ordinal(scan, k) or cardinal(scan, k)
    if found is None or not 1 <= found[0] <= 31 or scan.digits(k) > 2:
        return None
    return found


def _days_of_one_month(scan: Scan, j: int, between: bool, announced: bool) -> Match | None:
    """ "3 and 12 of Sept", "9 to 12 of June", "3-5 May"."""
    first = _number(scan, j)
    if first is None or inside_number(scan, j):
        return None
    after = connector(scan, first[1], between)
    if after is None:
        return None
    second = _number(scan, after)
    if second is None:
        return None
    k = scan.skip(second[1], "of", "in")
    month = month_at(scan, k)
    if month is None:
        return _days_of_relative_month(scan, first[0], second[0], scan.skip(k, "the"))
    year = year_after(scan, month[1])
    end = year[1] if year is not None else month[1]
    return _in_month(scan, year[0] if year else None, month[0], first[0], second[0], end)


def _days_of_relative_month(scan: Scan, low: int, high: int, k: int) -> Match | None:
    """ "4-23 next month", "4th until 22nd of this month"."""
    steps = scan.lex.shifts.get(scan.words[k])
    if scan.words[k] == "month" and scan.words[k - 1] == "the":
        steps, k = 0, k - 1
    if steps is None or scan.words[k + 1] != "month":
        return None
    start = add_months(month_start(scan.now), steps)
    return _in_month(scan, start.year, start.month, low, high, k + 2)


def _in_month(scan: Scan, year: int | None, month: int, low: int, high: int, end: int) -> Match | None:
    if high <= low:
        return None
    first, last = calendar_day(scan, year, month, low), calendar_day(scan, year, month, high)
    if first is None or last is None or not first.alts or not last.alts:
        return None
    alts = []
    for alt in first.alts:
        assert alt.start is not None
        if is_date(alt.start.year, month, high):
            stop = alt.start.replace(day=high)
            alts.append(Alt(alt.start, stop, stop + DAY))
    prefix = f"{year:04}" if year else "XXXX"
    timex = f"({prefix}-{month:02}-{low:02},{prefix}-{month:02}-{high:02},P{high - low}D)"
    return Node("range", "day", alts, timex=timex), end


def _second_day(scan: Scan, node: Node, after: int) -> Match | None:
    """ "november 19-20", "april ninth through seventeenth", "May 3 to 5, 2020"."""
    parts = node.parts
    if (
        node.kind != "date"
        or parts is None
        or parts.day is None
        or parts.month is None
        or "holiday" in node.tags
    ):
        return None
    found = _number(scan, after)
    if found is None or scan.digits(after) > 2:
        return None
    high, end = found
    if (
        (scan.words[end] in (":", "/") and scan.digits(end + 1) > 0 and not scan.spaced[end + 1])
        or month_at(scan, scan.skip(end, "of")) is not None
        or scan.words[end] in ("am", "pm")
    ):
        return None
    if glued(scan, end) and scan.digits(end + 1):
        return None
    year = parts.year
    if year is None:
        following = year_after(scan, end)
        if following is not None:
            year, end = following
    return _in_month(scan, year, parts.month, parts.day, high, end)


def join(scan: Scan, first: Node, second: Node) -> Node | None:
    """The range between two nodes, where the kinds allow one."""
    timed = {"time", "datetime", "datetimerange", "timerange"}
    portions = (None, "start", "mid", "end")
    if first.mod not in portions or second.mod not in portions:
        return None
    if first.kind in timed or second.kind in timed:
        return _join_times(scan, first, second)
    if not {first.kind, second.kind} <= {"date", "range"}:
        return None
    first, second = _share_year(scan, first, second)
    return _pair(first, second)


def _share_year(scan: Scan, first: Node, second: Node) -> tuple[Node, Node]:
    """Gives an end without a year the year of the other one."""
    a, b = first.parts, second.parts
    if a is None or b is None or a.month is None or b.month is None:
        return first, second
    if a.year is None and b.year is not None:
        year = b.year if (a.month, a.day or 0) <= (b.month, b.day or 31) else b.year - 1
        return node_with_year(scan, first, year), second
    return first, second


def _pair(first: Node, second: Node) -> Node | None:
    """Matches past with past and future with future, so that the range runs forward."""
    if not first.alts or not second.alts:
        return None
    past = _ordered(first.alts[0], second.alts[0], second.alts[-1], None)
    future = _ordered(first.alts[-1], second.alts[-1], None, first.alts[0])
    alts = list(dict.fromkeys(alt for alt in (past, future) if alt is not None))
    if not alts:
        return None
    grain = first.grain if first.grain == second.grain else "day"
    if second.mod is not None:
        alts = [alt._replace(stop=alt.end) for alt in alts]
    return Node("range", grain, alts)


def _ordered(first: Alt, second: Alt, later: Alt | None, earlier: Alt | None) -> Alt | None:
    if first.start is None or second.start is None:
        return None
    if second.start < first.start:
        return _turned(first, second, later, earlier)
    if second.start == first.start and second.stop is None and first.stop is None:
        return None
    return Alt(first.start, second.start, second.end)


def _turned(first: Alt, second: Alt, later: Alt | None, earlier: Alt | None) -> Alt | None:
    """A range whose ends stood in the wrong order, with the other reading of one end."""
    if (
        later is not None
        and later.start is not None
        and first.start is not None
        and later.start >= first.start
    ):
        return Alt(first.start, later.start, later.end)
    if (
        earlier is not None
        and earlier.start is not None
        and second.start is not None
        and earlier.start <= second.start
    ):
        return Alt(earlier.start, second.start, second.end)
    return None


def _join_times(scan: Scan, first: Node, second: Node) -> Node | None:
    """Ranges with a moment at an end: a day is borrowed from the other end or from today."""
    day_known = {"datetime", "datetimerange"}
    if "now" in first.tags and second.kind == "date":
        return _pair(days_of(first), _future_only(scan, second))
    if "now" in second.tags and first.kind in ("date", "range"):
        return _pair(first, days_of(second))
    if first.kind == "time" and second.kind in day_known:
        base = (
            days_of(second)
            if "day_last" in second.tags
            else days_of(Node("date", "day", [Alt(scan.today, None, None)]))
        )
        first = on_days(scan, first, base)
    elif first.kind in day_known and second.kind == "time":
        second = on_days(scan, second, days_of(first))
    elif first.kind == "time" and second.kind == "time":
        return None
    if first.kind not in day_known or second.kind not in day_known:
        return None
    alts = []
    for a in first.alts:
        for b in second.alts:
            if a.start is not None and b.start is not None and a.start < b.start:
                alts.append(Alt(a.start, b.start, b.end))
                break
    return Node("datetimerange", second.grain, list(dict.fromkeys(alts))) if alts else None


def _future_only(scan: Scan, node: Node) -> Node:
    later = [alt for alt in node.alts if alt.start is not None and alt.start >= scan.today]
    return node.changed(alts=later or node.alts)
