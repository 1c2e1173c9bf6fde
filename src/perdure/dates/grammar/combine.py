"""Joins neighbours: a day with a time, a time with a day, a clock time with a part of the day."""

from __future__ import annotations

from datetime import timedelta

from perdure.dates.build import days_of, moved, on_days, opened, pin, weekday_in_week
from perdure.dates.calendar import DAY
from perdure.dates.grammar.clock import (
    Clock,
    clock,
    clock_node,
    expected_clock,
    hour_and_minute_words,
    starts_clock,
)
from perdure.dates.grammar.clockranges import clock_range
from perdure.dates.grammar.dayparts import part_name, part_of_day
from perdure.dates.grammar.isotimes import iso_time
from perdure.dates.grammar.numeric import numeric_day
from perdure.dates.grammar.weekdays import nth_weekday_at, nth_weekday_of
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan, memoised

_AT = frozenset(("at", "@", "around", "about", "circa", "by", "starting"))
_TIME_LEADS = frozenset(("from", "between", "for", "at"))
_AFTER_HOUR = word_set(
    "on in and or for with to from until till by sharp at this next last every each when we i if is was were will please because so but "
    "tonight tonite though then that as it he she they you my"
)
_BOUNDS = {
    "before": "before",
    "by": "before",
    "until": "until",
    "till": "until",
    "after": "after",
    "since": "since",
}


@memoised
def operand(scan: Scan, i: int) -> Match | None:
    """One expression with all its neighbours joined."""
    found = start_of_operand(scan, i)
    if found is None:
        return None
    for _ in range(4):
        longer = _extended(scan, *found)
        if longer is None or longer[1] <= found[1]:
            break
        found = longer
    return found


def start_of_operand(scan: Scan, i: int) -> Match | None:
    """The atom or range of clock times an operand begins with."""
    found = scan.atom(i) or timed_nth_weekday(scan, i)
    if scan.words[i] not in _TIME_LEADS and not starts_clock(scan, i):
        return found
    times = clock_range(scan, i) or plain_times_before_day(scan, i) or announced_clock(scan, i)
    if times is not None and (found is None or times[1] > found[1]):
        return times
    return found


def timed_nth_weekday(scan: Scan, i: int) -> Match | None:
    """ "first Monday 1pm to 3pm of next month": the time stands inside."""
    lead = nth_weekday_at(scan, i) if scan.words[i] != "the" else None
    if lead is None:
        return None
    k = scan.skip(lead[2], "at", ",")
    times = clock_range(scan, k, announced=True)
    if times is None:
        value = clock(scan, k)
        times = None if value is None else (clock_node(scan, value[0]), value[1])
    if times is None:
        return None
    days = nth_weekday_of(scan, lead[0], lead[1], times[1])
    return None if days is None else (on_days(scan, times[0], days[0]), days[1])


def plain_times_before_day(scan: Scan, i: int) -> Match | None:
    """ "five to seven today", "between 3 and 8 yesterday": numbers that a following day makes times."""
    found = clock_range(scan, i, announced=True)
    if found is None:
        return None
    following = scan.day(scan.skip(found[1], "on", ","))
    return found if following is not None and following[0].kind == "date" else None


def announced_clock(scan: Scan, i: int) -> Match | None:
    """ "7 in the morning", "5 this evening", "9 tonight", "at 6.45", "five-thirty tomorrow"."""
    words = scan.words
    if words[i] == "at":
        dotted = (
            scan.digits(i + 1) and words[i + 2] == "." and scan.digits(i + 3) == 2 and not scan.spaced[i + 2]
        )
        found = expected_clock(scan, i + 1) if dotted else None
        return None if found is None else (clock_node(scan, found[0]), found[1])
    found = expected_clock(scan, i)
    if found is None or (scan.digits(i) > 2 and scan.words[i + 1] != ":"):
        return None
    value, j = found
    announced = i > 0 and words[i - 1] == "at" and part_name(scan, j) is None and not _counts_noun(scan, i, j)
    telling = i > 1 and words[i - 1] in ("'s", "is") and words[i - 2] == "it" and value.grain == "minute"
    if not announced and not telling and not _day_or_part_follows(scan, i, j):
        return None
    return clock_node(scan, value), j


def _counts_noun(scan: Scan, i: int, j: int) -> bool:
    """Whether a plain number after "at" counts what follows: "at two places", "at one with"."""
    if clock(scan, i) is not None:
        return False
    if (scan.numbers[i] or 0) > 12 and scan.digits(i) <= 2 and j == i + 1:
        return True
    word = scan.words[j]
    if words_of_number(scan, i) and word in ("with", "of", "time", "point", "end"):
        return True
    return word.isalpha() and word not in _AFTER_HOUR and scan.day(j) is None


def words_of_number(scan: Scan, i: int) -> bool:
    """Whether a number is written in words."""
    return scan.numbers[i] is None


def _day_or_part_follows(scan: Scan, i: int, j: int) -> bool:
    if i and scan.words[i - 1] in (
        "building",
        "room",
        "number",
        "$",
        ".",
        ":",
        "-",
        "/",
        ",",
        "one",
        "a",
        "episode",
        "page",
        "gate",
    ):
        return False
    part = part_of_day(scan, scan.skip(j, "at"))
    named = scan.words[j] in ("in", "at", "this", "tonight", "tonite", "early", "late")
    if part is not None and named and (scan.numbers[i] is None or scan.digits(i) <= 2):
        return True
    return hour_and_minute_words(scan, i) is not None and scan.day(scan.skip(j, "on")) is not None


def _extended(scan: Scan, node: Node, j: int) -> Match | None:
    if node.kind == "date" and "holiday" not in node.tags:
        return _day_then_time(scan, node, j)
    if node.kind in ("time", "timerange"):
        return _time_then_part(scan, node, j) or _time_then_day(scan, node, j)
    if (
        node.kind in ("datetime", "datetimerange")
        and not node.part
        and (node.clock_open or "day_last" in node.tags)
    ):
        return _time_then_part(scan, node, j)
    if node.kind == "datetimerange" and node.part:
        return _part_then_time(scan, node, j) or _part_then_week(scan, node, j)
    return None


def _gap(scan: Scan, j: int) -> int:
    """The index after a comma, a bracketed weekday or a dash between a day and a time."""
    if scan.words[j] == "(" and scan.words[j + 1] in scan.lex.weekdays and scan.words[j + 2] == ")":
        j += 3
    if scan.words[j] == "-" and not scan.spaced[j] and scan.numbers[j - 1] is not None:
        return j
    return scan.skip(j, ",", "-")


def _day_then_time(scan: Scan, node: Node, j: int) -> Match | None:
    if scan.words[j] == "t" and not scan.spaced[j] and scan.numbers[j + 1] is not None:
        return iso_time(scan, node, j)
    k = _gap(scan, j)
    other = _nearer_day(scan, k)
    if other is not None:
        return other
    mod = _BOUNDS.get(scan.words[k])
    if mod is not None:
        bounded = expected_clock(scan, k + 1)
        if bounded is not None:
            return _open_time(scan, node, bounded[0], bounded[1], mod)
    times = clock_range(scan, scan.skip(k, "at"), announced=True)
    if times is not None:
        return _part_after(scan, on_days(scan, times[0], node), times[1])
    announced = scan.words[k] in _AT
    m = scan.skip(k + 1, "about", "around") if announced else k
    value = expected_clock(scan, m) if announced else clock(scan, m) or hour_and_minute_words(scan, m)
    if value is not None:
        return _part_after(scan, on_days(scan, clock_node(scan, value[0]), node), value[1])
    part = part_of_day(scan, scan.skip(k, "at") if scan.words[k + 1] == "night" else k)
    if part is not None and part[0].kind == "timerange":
        return on_days(scan, part[0], node), part[1]
    return None


def _nearer_day(scan: Scan, k: int) -> Match | None:
    """ "tomorrow, 13/04/21, at 7 PM": the date in digits decides."""
    if scan.words[k - 1] != ",":
        return None
    found = numeric_day(scan, k)
    return (
        found
        if found is not None and found[0].parts is not None and found[0].parts.year is not None
        else None
    )


def _part_after(scan: Scan, node: Node, j: int) -> Match:
    """Lets a following part of the day pin the time: "Friday at 5 in the afternoon"."""
    found = _time_then_part(scan, node, j) if node.clock_open else None
    return found if found is not None else (node, j)


def _open_time(scan: Scan, days: Node, value: Clock, j: int, mod: str) -> Match:
    timed, end = _part_after(scan, on_days(scan, clock_node(scan, value), days), j)
    return opened(timed, mod), end


def _time_then_part(scan: Scan, node: Node, j: int) -> Match | None:
    part = part_of_day(scan, scan.skip(j, "at", ",") if scan.words[j] != "," else j + 1)
    if part is None or node.part:
        return _part_at_clock(scan, node, j) if node.part else None
    if "clock_range" in node.tags and node.part:
        return None
    if part[0].kind == "datetimerange":
        if node.kind in ("datetime", "datetimerange"):
            return None
        return pin(on_days(scan, node, days_of(part[0])), part[0]), part[1]
    return pin(node, part[0]), part[1]


def _part_at_clock(scan: Scan, node: Node, j: int) -> Match | None:
    """ "in the morning at 7"."""
    if scan.words[j] not in _AT:
        value = clock(scan, j)
    else:
        value = expected_clock(scan, scan.skip(j + 1, "around", "about"))
    if value is None or scan.words[j] == "by":
        return None
    return pin(clock_node(scan, value[0]), node), value[1]


def _time_then_day(scan: Scan, node: Node, j: int) -> Match | None:
    k = scan.skip(j, "on", "of", ",", "-", "in", "for")
    if scan.words[j] == "," and scan.words[k] == "on":
        k += 1
    found = scan.day(k)
    if found is None or found[0].kind != "date" or "holiday" in found[0].tags or not found[0].alts:
        return None
    if scan.words[j] == "-" or (scan.words[j] in ("in", "for") and scan.words[k] not in ("the",)):
        return None
    if (
        node.part
        and scan.words[j] != "of"
        and found[1] - k == 1
        and "weekday" not in found[0].tags
        and k == j
    ):
        return None
    combined = on_days(scan, node, found[0])
    return combined.changed(tags=combined.tags | {"day_last"}), found[1]


def _part_then_time(scan: Scan, node: Node, j: int) -> Match | None:
    k = scan.skip(j, ",")
    times = clock_range(scan, scan.skip(k, "at"), announced=True)
    if times is not None:
        return pin(on_days(scan, times[0], days_of(node)), node), times[1]
    announced = scan.words[k] in _AT
    value = expected_clock(scan, scan.skip(k + 1, "around", "about")) if announced else clock(scan, k)
    if value is None:
        return None
    mod = _BOUNDS.get(scan.words[k])
    timed = pin(on_days(scan, clock_node(scan, value[0]), days_of(node)), node)
    if mod is not None:
        return opened(timed, mod), value[1]
    return timed, value[1]


def _part_then_week(scan: Scan, node: Node, j: int) -> Match | None:
    """ "Wednesday evening next week"."""
    j = scan.skip(j, "of")
    steps = scan.lex.shifts.get(scan.words[j])
    if steps is None or scan.words[j + 1] != "week" or "weekday" not in node.tags:
        return None
    first = node.alts[0]
    assert first.start is not None
    target = weekday_in_week(scan, first.start.weekday(), steps).alts[0].start
    assert target is not None
    delta = target - first.start.replace(hour=0, minute=0, second=0, microsecond=0)
    return node.changed(alts=[moved(first, delta)]), j + 2


def half_of_named_day(scan: Scan, i: int) -> Match | None:
    """ "early in the day Wednesday", "later in today", "late in the day"."""
    words = scan.words
    early = words[i] in ("early", "earlier")
    if not early and words[i] not in ("late", "later"):
        return None
    j = scan.skip(i + 1, "in")
    if words[j] == "the" and words[j + 1] == "day":
        k = scan.skip(j + 2, "on", ",")
        found = scan.day(k)
        days, end = (found[0], found[1]) if found is not None and found[0].kind == "date" else (None, j + 2)
    else:
        found = scan.day(j)
        if (
            found is None
            or found[0].kind != "date"
            or words[j] == "the"
            or part_name(scan, found[1]) is not None
        ):
            return None
        days, end = found
    base = days if days is not None else Node("date", "day", [Alt(scan.today, None, scan.today + DAY)])
    alts = []
    for alt in base.alts:
        assert alt.start is not None
        noon = alt.start + timedelta(hours=12)
        first, last = (alt.start, noon) if early else (noon, alt.start + DAY)
        alts.append(Alt(first, last, last))
    return Node("datetimerange", "part_of_day", alts, mod="start" if early else "end"), end
