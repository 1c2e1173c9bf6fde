"""Ranges of clock times: "5 to 6pm", "between 9.30-4.30pm", "from 10 am for 3 hours", "for 2 hours from 2pm"."""

from __future__ import annotations

from datetime import timedelta

from perdure.dates.build import pin
from perdure.dates.calendar import DAY
from perdure.dates.grammar.clock import Clock, clock, clock_node, expected_clock
from perdure.dates.grammar.dayparts import part_of_day
from perdure.dates.grammar.durations import length_at
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan

CONNECTORS = frozenset(("to", "till", "until", "through", "thru", "til", "-", "–", "—", "~"))
_HALF = timedelta(hours=12)


def connector(scan: Scan, j: int, between: bool) -> int | None:
    """The index after the word that joins the ends of a range."""
    word = scan.words[j]
    if word in CONNECTORS:
        return j + 1
    if between and word in ("and", "&"):
        return j + 1
    if scan.at(j, "up", "to"):
        return j + 2
    return None


def clock_range(scan: Scan, i: int, announced: bool = False) -> Match | None:
    """A range of clock times; plain numbers count only where a time is announced by "from", "between" or a date."""
    words = scan.words
    if words[i] == "for":
        return _length_then_start(scan, i)
    lead = words[i] in ("from", "between")
    j = i + 1 if lead else i
    first = _side(scan, j)
    if first is None:
        return None
    if words[first[1]] == "for" and (lead or announced):
        return _start_then_length(scan, first, lead)
    k = connector(scan, first[1], words[i] == "between")
    if k is None:
        return None
    second = _side(scan, scan.skip(k, "around", "about"))
    if second is None:
        return None
    clear = _is_clear(scan, j, first) or _is_clear(scan, scan.skip(k, "around", "about"), second)
    if not clear and not announced and not (lead and part_follows(scan, second[1])):
        return None
    return range_of(scan, first[0], second[0]), second[1]


def _is_clear(scan: Scan, j: int, side: tuple[Clock, int, bool]) -> bool:
    """Whether an end is a time by its own form, such as 0730 or "nine thirty"."""
    return side[2] or side[0].grain != "hour" or clock(scan, j) is not None


def part_follows(scan: Scan, j: int) -> bool:
    """Whether a part of the day follows: "between 5 and 6 in the afternoon"."""
    return scan.words[j] in ("in", "at", "this") and part_of_day(scan, scan.skip(j, "at")) is not None


def _side(scan: Scan, j: int) -> tuple[Clock, int, bool] | None:
    """One end, with the part of the day that pins it: "3 in the morning"."""
    found = expected_clock(scan, j)
    if found is None:
        return None
    value, k = found
    if scan.words[k] in ("in", "at") and value.open:
        part = part_of_day(scan, k if scan.words[k] == "in" else k + 1)
        if part is not None and part[0].kind == "timerange":
            pinned = pin(clock_node(scan, value), part[0]).alts[0].start
            assert pinned is not None
            return value._replace(hour=pinned.hour, open=False), part[1], True
    return value, k, False


def range_of(scan: Scan, first: Clock, second: Clock) -> Node:
    """The readings of a range whose ends may leave the half of the day open."""
    grain = "minute" if "minute" in (first.grain, second.grain) else first.grain
    start, stop = _offset(first), _offset(second)
    pairs: list[tuple[timedelta, timedelta]] = []
    if first.open and not second.open:
        pairs.append((_last_before(start, stop), stop))
    elif second.open and not first.open:
        pairs.append((start, _first_after(start, stop)))
    elif first.open:
        pairs.append((start, _first_after(start, stop)))
        other = (start + _HALF) % DAY
        pairs.append((other, _first_after(other, stop)))
    else:
        pairs.append((start, stop))
    alts = [_alt(scan, low, high, second.grain) for low, high in pairs]
    return Node(
        "timerange", grain, alts, clock_open=first.open and second.open, tags=frozenset(("clock_range",))
    )


def _offset(value: Clock) -> timedelta:
    return timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)


def _last_before(start: timedelta, stop: timedelta) -> timedelta:
    """The last reading of an open clock time before another time."""
    readings = sorted((start % DAY, (start + _HALF) % DAY))
    return max((reading for reading in readings if reading < stop), default=readings[-1])


def _first_after(start: timedelta, stop: timedelta) -> timedelta:
    """The first reading of an open clock time after another time."""
    for candidate in (stop % _HALF, stop % _HALF + _HALF, stop % _HALF + DAY):
        if candidate > start:
            return candidate
    return stop + DAY


def _alt(scan: Scan, low: timedelta, high: timedelta, grain: str) -> Alt:
    if high <= low:
        high += DAY
    stop = scan.today + high
    return Alt(scan.today + low, stop, stop)


def _start_then_length(scan: Scan, first: tuple[Clock, int, bool], lead: bool) -> Match | None:
    found = length_at(scan, first[1] + 1)
    if found is None or not found[0].seconds:
        return None
    return _lasting(scan, first[0], found[0].seconds), found[1]


def _length_then_start(scan: Scan, i: int) -> Match | None:
    found = length_at(scan, i + 1)
    if (
        found is None
        or not found[0].seconds
        or scan.words[found[1]] not in ("from", "at", "starting", "beginning")
    ):
        return None
    k = scan.skip(found[1] + 1, "at", "from")
    value = expected_clock(scan, k)
    if value is None:
        return None
    return _lasting(scan, value[0], found[0].seconds), value[1]


def _lasting(scan: Scan, first: Clock, seconds: float) -> Node:
    node = clock_node(scan, first)
    alts = []
    for alt in node.alts:
        assert alt.start is not None
        stop = alt.start + timedelta(seconds=seconds)
        alts.append(Alt(alt.start, stop, stop))
    return Node("timerange", "minute", alts, clock_open=first.open, tags=frozenset(("clock_range",)))
