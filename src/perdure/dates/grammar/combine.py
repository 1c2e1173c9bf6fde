"""Joins neighbours: a day with a time, a time with a day, a clock time with a part of the day."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from perdure.dates.calendar import midnight
from perdure.dates.grammar.clock import (
    Said,
    clock,
    clock_node,
    dotted_minutes,
    expected_clock,
    hour_and_minute_words,
    match_of,
    starts_clock,
)
from perdure.dates.grammar.days import nth_weekday_at, nth_weekday_of
from perdure.dates.grammar.numeric import numeric_day
from perdure.dates.grammar.times import clock_range, iso_time, part_name, part_of_day
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node, alts_of, day_node, days_of, opened, pin
from perdure.dates.scan import Scan, memoised

_AT = word_set("at @ around about circa by starting")
_TIME_LEADS = word_set("from between for at")
_AFTER_HOUR = word_set(
    "on in and or for with to from until till by sharp at this next last every each when we i if is was were will please because so but "
    "tonight tonite though then that as it he she they you my"
)
_BEFORE_NUMBER = word_set("building room number $ . : - / , one a episode page gate")
_BOUNDS = {"by": "by", "till": "until", **{word: word for word in ("before", "until", "after", "since")}}


@memoised
def operand(scan: Scan, i: int) -> Match | None:
    """One expression with all its neighbours joined."""
    if (match := _first_operand(scan, i)) is None:
        return None
    for _ in range(4):
        if (longer := _extended(scan, *match)) is None or longer[1] <= match[1]:
            break
        match = longer
    return match


def _first_operand(scan: Scan, i: int) -> Match | None:
    """The atom or range of clock times an operand begins with."""
    match = scan.atom(i) or _timed_nth_weekday(scan, i)
    if scan.words[i] not in _TIME_LEADS and not starts_clock(scan, i):
        return match
    times = clock_range(scan, i) or _plain_times_before_day(scan, i) or _announced_clock(scan, i)
    return times if times is not None and (match is None or times[1] > match[1]) else match


def _timed_nth_weekday(scan: Scan, i: int) -> Match | None:
    """ "first Monday 1pm to 3pm of next month": the time stands inside."""
    lead = nth_weekday_at(scan, i) if scan.words[i] != "the" else None
    if lead is None:
        return None
    k = scan.skip(lead[2], "at", ",")
    times = clock_range(scan, k, announced=True) or match_of(scan, clock(scan, k))
    days = None if times is None else nth_weekday_of(scan, lead[0], lead[1], times[1])
    return None if times is None or days is None else (scan.on_days(times[0], days[0]), days[1])


def _day_at(scan: Scan, i: int) -> Match | None:
    """A single calendar day; "Labor Day weekend" is none."""
    match = scan.day(i)
    return match if match is not None and match[0].kind == "date" else None


def _plain_times_before_day(scan: Scan, i: int) -> Match | None:
    """ "five to seven today", "between 3 and 8 yesterday": numbers that a following day makes times."""
    times = clock_range(scan, i, announced=True)
    return (
        times
        if times is not None and _day_at(scan, scan.skip(times[1], "on", "of", ",")) is not None
        else None
    )


def _announced_clock(scan: Scan, i: int) -> Match | None:
    """ "7 in the morning", "5 this evening", "9 tonight", "at 6.45", "five-thirty tomorrow"."""
    words = scan.words
    if words[i] == "at":
        dotted = scan.digits(i + 1) > 0 and dotted_minutes(scan, i + 1)
        return match_of(scan, expected_clock(scan, i + 1)) if dotted else None
    said = expected_clock(scan, i)
    if said is None or (scan.digits(i) > 2 and words[i + 1] != ":"):
        return None
    value, j = said
    announced = words[i - 1] == "at" and part_name(scan, j) is None and not _counts_noun(scan, i, j)
    telling = words[i - 1] in ("'s", "is") and words[i - 2] == "it" and value.grain == "minute"
    return match_of(scan, said) if announced or telling or _day_or_part_follows(scan, i, j) else None


def _counts_noun(scan: Scan, i: int, j: int) -> bool:
    """Whether a plain number after "at" counts what follows: "at two places", "at one with"."""
    if clock(scan, i) is not None:
        return False
    number, word = scan.numbers[i], scan.words[j]
    if (number or 0) > 12 and scan.digits(i) <= 2 and j == i + 1:
        return True
    if number is None and word in ("with", "of", "time", "point", "end"):
        return True
    return word.isalpha() and word not in _AFTER_HOUR and scan.day(j) is None


def _day_or_part_follows(scan: Scan, i: int, j: int) -> bool:
    if scan.words[i - 1] in _BEFORE_NUMBER:
        return False
    part = part_of_day(scan, scan.skip(j, "at"))
    named = scan.words[j] in ("in", "at", "this", "tonight", "tonite", "early", "late")
    if part is not None and named and scan.digits(i) <= 2:
        return True
    return hour_and_minute_words(scan, i) is not None and scan.day(scan.skip(j, "on")) is not None


def _extended(scan: Scan, node: Node, j: int) -> Match | None:
    if node.kind == "date":
        return _day_then_time(scan, node, j) if "holiday" not in node.tags else None
    if node.kind in ("time", "timerange"):
        return _time_then_part(scan, node, j) or _time_then_day(scan, node, j)
    if node.kind == "datetimerange" and node.part:
        return _part_then_time(scan, node, j) or _part_then_week(scan, node, j)
    undecided = node.clock_open or "day_last" in node.tags
    if node.part or not undecided or node.kind not in ("datetime", "datetimerange"):
        return None
    return _time_then_part(scan, node, j)


def _clock_after(scan: Scan, k: int) -> Said | None:
    """A clock time, announced by "at" or one by its own form."""
    if scan.words[k] in _AT:
        return expected_clock(scan, scan.skip(k + 1, "around", "about"))
    return clock(scan, k)


def _day_then_time(scan: Scan, node: Node, j: int) -> Match | None:
    words = scan.words
    if words[j] == "t" and not scan.spaced[j] and scan.numbers[j + 1] is not None:
        return iso_time(scan, node, j)
    if _ends_list_of_days(scan, j):
        return None
    k = _gap(scan, j)
    other = numeric_day(scan, k) if words[k - 1] == "," else None
    if other is not None and other[0].parts is not None and other[0].parts.year is not None:
        # "tomorrow, 13/04/21, at 7 PM": the date in digits decides.
        return other
    bound = _BOUNDS.get(words[k])
    bounded = expected_clock(scan, k + 1) if bound is not None else None
    if bound is not None and bounded is not None:
        timed, end = _on_pinned(scan, clock_node(scan, bounded[0]), node, bounded[1])
        return opened(timed, bound), end
    if (times := clock_range(scan, scan.skip(k, "at"), announced=True)) is None:
        times = match_of(scan, _clock_after(scan, k))
    if times is None and words[k] not in _AT:
        times = match_of(scan, hour_and_minute_words(scan, k))
    if times is not None:
        return _on_pinned(scan, times[0], node, times[1])
    part = part_of_day(scan, scan.skip(k, "at") if words[k + 1] == "night" else k)
    if part is None or part[0].kind != "timerange":
        return None
    return scan.on_days(part[0], node), part[1]


def _ends_list_of_days(scan: Scan, j: int) -> bool:
    """Whether a comma follows the last of several days: "Monday or Friday, between 9 and 6" is a time of both."""
    words, weekdays = scan.words, scan.lex.weekdays
    return (
        words[j] == ","
        and words[j - 2] in ("or", "and")
        and words[j - 3] in weekdays
        and words[j - 1] in weekdays
    )


def _gap(scan: Scan, j: int) -> int:
    """The index after a comma, a bracketed weekday or a dash between a day and a time."""
    if scan.words[j] == "(" and scan.words[j + 1] in scan.lex.weekdays and scan.words[j + 2] == ")":
        j += 3
    if scan.words[j] == "-" and not scan.spaced[j] and scan.numbers[j - 1] is not None:
        return j
    return scan.skip(j, ",", "-")


def _on_pinned(scan: Scan, times: Node, days: Node, j: int) -> Match:
    """Times on days, pinned by a part of the day that may follow: "Friday at 5 in the afternoon"."""
    node = scan.on_days(times, days)
    pinned = _time_then_part(scan, node, j) if node.clock_open else None
    return pinned or (node, j)


def _time_then_part(scan: Scan, node: Node, j: int) -> Match | None:
    if node.part:
        return _part_at_clock(scan, node, j)
    if (part := part_of_day(scan, scan.skip(j, "at", ","))) is None:
        return None
    if part[0].kind == "timerange":
        return pin(node, part[0]), part[1]
    if node.kind in ("datetime", "datetimerange"):
        return None
    return pin(scan.on_days(node, days_of(part[0])), part[0]), part[1]


def _part_at_clock(scan: Scan, node: Node, j: int) -> Match | None:
    """ "in the morning at 7"."""
    said = _clock_after(scan, j) if scan.words[j] != "by" else None
    return None if said is None else (pin(clock_node(scan, said[0]), node), said[1])


def _time_then_day(scan: Scan, node: Node, j: int) -> Match | None:
    """ "5pm on Friday", "in the morning of the 3rd"."""
    words = scan.words
    k = scan.skip(j, "on", "of", ",", "-", "in", "for")
    if words[j] == "," and words[k] == "on":
        k += 1
    match = _day_at(scan, k)
    if match is None or "holiday" in match[0].tags or not match[0].alts:
        return None
    if words[j] == "-" or (words[j] in ("in", "for") and words[k] != "the"):
        return None
    one_word = k == j and match[1] - k == 1 and "weekday" not in match[0].tags
    if node.part and one_word and node.mod is None:
        return None
    dated = scan.on_days(node, match[0])
    return replace(dated, tags=dated.tags | {"day_last"}), match[1]


def _part_then_time(scan: Scan, node: Node, j: int) -> Match | None:
    """ "tomorrow morning at 7", "this evening from 5 to 7"."""
    k = scan.skip(j, ",")
    times = clock_range(scan, scan.skip(k, "at"), announced=True)
    bound = _BOUNDS.get(scan.words[k]) if times is None else None
    if times is None:
        times = match_of(scan, _clock_after(scan, k))
    if times is None:
        return None
    timed = pin(scan.on_days(times[0], days_of(node)), node)
    return (opened(timed, bound) if bound is not None else timed), times[1]


def _part_then_week(scan: Scan, node: Node, j: int) -> Match | None:
    """ "Wednesday evening next week"."""
    j = scan.skip(j, "of")
    steps = scan.steps(j)
    if steps is None or scan.words[j + 1] != "week" or "weekday" not in node.tags:
        return None
    first, day = node.alts[0], node.starts[0]
    delta = scan.weekday_in_week(day.weekday(), steps).starts[0] - midnight(day)
    return replace(node, alts=[first.moved(delta)]), j + 2


def half_of_named_day(scan: Scan, i: int) -> Match | None:
    """ "early in the day Wednesday", "later in today", "late in the day"."""
    words = scan.words
    early = words[i] in ("early", "earlier")
    if not early and words[i] not in ("late", "later"):
        return None
    j = scan.skip(i + 1, "in")
    if scan.at(j, "the", "day"):
        days, end = _day_at(scan, scan.skip(j + 2, "on", ",")) or (day_node([scan.today]), j + 2)
    else:
        match = _day_at(scan, j) if words[j] != "the" else None
        if match is None or part_name(scan, match[1]) is not None:
            return None
        days, end = match
    half = timedelta(hours=12)
    halves = [(day, day + half) if early else (day + half, day + 2 * half) for day in days.starts]
    return Node("datetimerange", "part_of_day", alts_of(halves), mod="start" if early else "end"), end
