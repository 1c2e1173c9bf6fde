"""Parts of the day, ranges of clock times, "now" and "end of the day": "last night", "5 to 6pm", "from 10 for 3 hours"."""

from __future__ import annotations

from datetime import timedelta, timezone

from perdure.dates.calendar import DAY
from perdure.dates.grammar.clock import Clock, clock, clock_node, expected_clock
from perdure.dates.grammar.numbers import length_at
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Alt, Match, Node, day_node, on_day, pin
from perdure.dates.scan import Scan, memoised

_EARLY = {"early": "start", "late": "end", "later": "end", "mid": "mid", "earlier": "start"}
_PLURALS = word_set("mornings afternoons evenings nights")
_NIGHT_NOUNS = word_set("club - shift life mode sky")
_CONNECTORS = word_set("to till until through thru til - – — ~")
_HALF = timedelta(hours=12)


def part_name(scan: Scan, j: int) -> tuple[str, int] | None:
    """ "morning", "night-time", "lunch time", also in the plural."""
    word = scan.words[j]
    time = scan.skip(j + 1, "-")
    if scan.words[time] == "time":
        name = {"night": "nighttime", "day": "daytime"}.get(word) or scan.lex.meals.get(word)
        return None if name is None else (name, time + 1)
    if word in scan.lex.parts_of_day:
        return word, j + 1
    return (word[:-1], j + 1) if word in _PLURALS else None


@memoised
def part_of_day(scan: Scan, i: int) -> Match | None:
    """A part of the day, of today or of any day."""
    words = scan.words
    if words[i] in ("tonight", "tonite"):
        return on_day(scan.part_node("night"), 0), i + 1
    mod = _EARLY.get(words[i])
    j = scan.skip(i + 1, "-") if mod else i
    dated = _dated_part(scan, j, mod)
    if dated is not None:
        return dated
    inside = words[j] == "in"
    if inside:
        j = scan.skip(j + 1, "the")
        mod = mod or _EARLY.get(words[j])
        j = scan.skip(j + 1, "-") if words[j] in _EARLY else j
    part = part_name(scan, j)
    if part is None or not (inside or _stands_alone(scan, i, j, part[1])):
        return None
    if part[0] == "night" and (mod == "mid" or (words[j] == "nights" and not inside)):
        return None
    return scan.part_node(part[0], mod), part[1]


def _stands_alone(scan: Scan, i: int, j: int, k: int) -> bool:
    """Whether a part is one though "in the" is missing: not in "good morning", "night club"."""
    word, previous = scan.words[j], scan.words[i - 1]
    if previous == "good" or (word in _PLURALS and previous not in scan.lex.weekdays):
        return False
    return word != "night" or scan.words[k] not in _NIGHT_NOUNS


def _dated_part(scan: Scan, j: int, mod: str | None) -> Match | None:
    """ "this morning", "last night", "next evening", "late this morning"."""
    if (steps := scan.steps(j)) is None:
        return None
    k = j + 1
    if mod is None and scan.words[k] in _EARLY:
        mod, k = _EARLY[scan.words[k]], k + 1
    if (part := part_name(scan, k)) is None or scan.words[k].endswith("s"):
        return None
    return on_day(scan.part_node(part[0], mod), steps), part[1]


def meal(scan: Scan, i: int) -> Match | None:
    """ "lunch" where a time is expected: "before lunch"."""
    name = scan.lex.meals.get(scan.words[i])
    return None if name is None else (scan.part_node(name), i + 1)


def now(scan: Scan, i: int) -> Match | None:
    """ "now", "right now", "at present", "at this time", "at the moment", "as soon as possible"."""
    words = scan.words
    if scan.at(i, "as", "soon", "as", "possible"):
        return scan.now_node("FUTURE_REF"), i + 4
    if words[i] == "now":
        j = i if words[i + 1] == "that" or scan.at(i + 1, "and", "then") else i + 1
    elif words[i] in ("asap", "currently", "nowadays"):
        j = i + 1
    elif scan.at(i, "right", "now") or scan.at(i, "just", "now") or scan.at(i, "at", "present"):
        j = i + 2
    else:
        this = scan.at(i, "at", "this") and words[i + 2] in ("time", "moment", "minute")
        j = i + 3 if this or (scan.at(i, "at", "the") and words[i + 2] in ("moment", "minute")) else i
    return (scan.now_node("PRESENT_REF", "now"), j) if j > i else None


def end_of_day(scan: Scan, i: int) -> Match | None:
    """ "end of the day", "the eod", "end of the Sunday", "end of tomorrow"."""
    j = scan.skip(i, "the")
    k = scan.skip(scan.skip(j + 2, "the"), "my", "our")
    if scan.words[j] == "eod":
        days, end = day_node([scan.today]), j + 1
    elif not scan.at(j, "end", "of"):
        return None
    elif scan.words[k] == "day":
        days, end = day_node([scan.today]), k + 1
    else:
        if (match := scan.day(k)) is None or match[0].kind != "date":
            return None
        days, end = match
    last = timedelta(hours=23, minutes=59, seconds=59)
    return Node("datetime", "second", [Alt(day + last, None, day + DAY) for day in days.starts]), end


def iso_time(scan: Scan, days: Node, j: int) -> Match | None:
    """ "T10:30:00Z" after a day: by the 24-hour clock, brought from its own zone into the reference's."""
    if (said := clock(scan, j + 1)) is None:
        return None
    value, k = said
    timed = scan.on_days(clock_node(scan, value._replace(open=False)), days)
    offset, end = _zone_offset(scan, k)
    if offset is not None:
        zone = timezone(offset)
        local = [
            start.replace(tzinfo=zone).astimezone(scan.zone).replace(tzinfo=None) for start in timed.starts
        ]
        timed.alts = [
            alt.moved(there - here) for alt, here, there in zip(timed.alts, timed.starts, local, strict=True)
        ]
    return timed, end


def _zone_offset(scan: Scan, k: int) -> tuple[timedelta | None, int]:
    words = scan.words
    if words[k] == "z" and not scan.spaced[k]:
        return timedelta(0), k + 1
    width, number = scan.digits(k + 1), scan.numbers[k + 1] or 0
    if words[k] not in ("+", "-") or not scan.tight(k) or width not in (2, 4):
        return None, k
    hours, minutes = divmod(number, 100) if width == 4 else (number, 0)
    end = k + 2
    if words[end] == ":" and scan.digits(end + 1) == 2 and not scan.spaced[end]:
        minutes, end = scan.numbers[end + 1] or 0, end + 2
    if hours > 14 or minutes > 59:
        return None, k
    size = timedelta(hours=hours, minutes=minutes)
    return (-size if words[k] == "-" else size), end


def connector(scan: Scan, j: int, between: bool) -> int | None:
    """The index after the word that joins the ends of a range."""
    word = scan.words[j]
    if word in _CONNECTORS or (between and word in ("and", "&")):
        return j + 1
    return j + 2 if scan.at(j, "up", "to") else None


def clock_range(scan: Scan, i: int, announced: bool = False) -> Match | None:
    """A range of clock times; plain numbers count only where a time is announced by "from", "between" or a date."""
    words = scan.words
    if words[i] == "for":
        return _length_then_start(scan, i)
    lead = words[i] in ("from", "between")
    j = i + 1 if lead else i
    if (first := _side(scan, j)) is None:
        return None
    if words[first[1]] == "for" and (lead or announced):
        return _start_then_length(scan, first[0], first[1] + 1)
    if (k := connector(scan, first[1], words[i] == "between")) is None:
        return None
    k = scan.skip(k, "around", "about")
    if (second := _side(scan, k)) is None:
        return None
    clear = announced or _is_clear(scan, j, first) or _is_clear(scan, k, second)
    if not clear and not (lead and _part_follows(scan, second[1])):
        return None
    return _range_of(scan, first[0], second[0]), second[1]


def _is_clear(scan: Scan, j: int, side: tuple[Clock, int, bool]) -> bool:
    """Whether an end is a time by its own form, such as 0730 or "nine thirty"."""
    return side[2] or side[0].grain != "hour" or clock(scan, j) is not None


def _part_follows(scan: Scan, j: int) -> bool:
    """Whether a part of the day follows: "between 5 and 6 in the afternoon"."""
    return scan.words[j] in ("in", "at", "this") and part_of_day(scan, scan.skip(j, "at")) is not None


def _side(scan: Scan, j: int) -> tuple[Clock, int, bool] | None:
    """One end, the index after it, and whether a part of the day pins it: "3 in the morning"."""
    if (said := expected_clock(scan, j)) is None:
        return None
    value, k = said
    if value.open and scan.words[k] in ("in", "at"):
        part = part_of_day(scan, scan.skip(k, "at"))
        if part is not None and part[0].kind == "timerange":
            hour = pin(clock_node(scan, value), part[0]).starts[0].hour
            return value._replace(hour=hour, open=False), part[1], True
    return value, k, False


def _range_of(scan: Scan, first: Clock, second: Clock) -> Node:
    """The readings of a range whose ends may leave the half of the day open."""
    start, stop = first.offset, second.offset
    if first.open and not second.open:
        pairs = [(_last_before(start, stop), stop)]
    elif second.open:
        starts = [start, (start + _HALF) % DAY] if first.open else [start]
        pairs = [(low, _first_after(low, stop)) for low in starts]
    else:
        pairs = [(start, stop)]
    times = [(scan.today + low, scan.today + (high if high > low else high + DAY)) for low, high in pairs]
    grain = "minute" if "minute" in (first.grain, second.grain) else first.grain
    alts = [Alt(low, high, high) for low, high in times]
    return Node("timerange", grain, alts, clock_open=first.open and second.open)


def _last_before(start: timedelta, stop: timedelta) -> timedelta:
    """The last reading of an open clock time before another time."""
    readings = sorted((start % DAY, (start + _HALF) % DAY))
    return max((reading for reading in readings if reading < stop), default=readings[-1])


def _first_after(start: timedelta, stop: timedelta) -> timedelta:
    """The first reading of an open clock time after another time."""
    readings = (stop % _HALF, stop % _HALF + _HALF, stop % _HALF + DAY)
    return next((reading for reading in readings if reading > start), stop + DAY)


def _start_then_length(scan: Scan, start: Clock, j: int) -> Match | None:
    """ "from 10 am for 3 hours"."""
    if (length := length_at(scan, j)) is None or not length[0].seconds:
        return None
    return _lasting(scan, start, length[0].seconds), length[1]


def _length_then_start(scan: Scan, i: int) -> Match | None:
    """ "for 2 hours from 2pm"."""
    if (length := length_at(scan, i + 1)) is None or not length[0].seconds:
        return None
    k = length[1]
    if scan.words[k] not in ("from", "at", "starting", "beginning"):
        return None
    start = expected_clock(scan, scan.skip(k + 1, "at", "from"))
    return None if start is None else (_lasting(scan, start[0], length[0].seconds), start[1])


def _lasting(scan: Scan, start: Clock, seconds: float) -> Node:
    times = [(begin, begin + timedelta(seconds=seconds)) for begin in clock_node(scan, start).starts]
    return Node("timerange", "minute", [Alt(begin, end, end) for begin, end in times], clock_open=start.open)
