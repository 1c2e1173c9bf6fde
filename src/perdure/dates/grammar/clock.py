"""Times of day: "8:30pm", "half past seven", "noon", "in the morning at 7"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from perdure.dates.build import GRAIN_LENGTH
from perdure.dates.grammar.numbers import small_cardinal
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan, memoised

_HALVES = {"am": 0, "a": 0, "pm": 12, "p": 12}
_NAMED = {"noon": 12, "midday": 12, "noonish": 12, "middayish": 12, "midnight": 0}


class Clock(NamedTuple):
    """A time said: hour, minute, second, and whether the half of the day is known."""

    hour: int
    minute: int
    second: int
    grain: str
    open: bool


def clock_node(scan: Scan, clock: Clock) -> Node:
    """The node of a clock time, twice where it may be before or after noon."""
    hours = [clock.hour % 24]
    if clock.open:
        hours = [clock.hour, (clock.hour + 12) % 24]
    alts = []
    for hour in hours:
        moment = scan.today + timedelta(hours=hour, minutes=clock.minute, seconds=clock.second)
        alts.append(Alt(moment, None, moment + GRAIN_LENGTH[clock.grain]))
    return Node(
        "time", clock.grain, alts, clock_open=clock.open, timex=clock_timex(alts[0].start, clock.grain)
    )


def clock_timex(moment: datetime | None, grain: str) -> str:
    """ "T07:30"."""
    if moment is None:
        return ""
    pattern = {"hour": "T%H", "minute": "T%H:%M", "second": "T%H:%M:%S"}[grain]
    return moment.strftime(pattern)


def half_of_day(scan: Scan, j: int) -> tuple[int | None, int] | None:
    """ "am", "p.m.", "p": the hours to add (None for "ampm") and the index after."""
    word = scan.words[j]
    if word == "ampm":
        return None, j + 1
    if word in ("am", "pm"):
        return _HALVES[word], j + 1
    if word in ("a", "p"):
        if (
            scan.words[j + 1] == "."
            and scan.words[j + 2] == "m"
            and not scan.spaced[j + 1]
            and not scan.spaced[j + 2]
        ):
            closing = scan.words[j + 3] == "." and not scan.spaced[j + 3]
            return _HALVES[word], j + 4 if closing else j + 3
        if scan.words[j + 1] == "m" and scan.numbers[j - 1] is not None:
            return _HALVES[word], j + 2
        if not scan.spaced[j] and scan.numbers[j - 1] is not None and not _inside_code(scan, j):
            return _HALVES[word], j + 1
    return None


def _inside_code(scan: Scan, j: int) -> bool:
    """Whether a glued "a" or "p" belongs to a code such as T2P448 or Level-1A."""
    if not scan.spaced[j + 1] and scan.words[j + 1].isalnum():
        return True
    return j > 2 and scan.words[j - 2] == "-" and not scan.spaced[j - 1] and scan.words[j - 3].isalpha()


def with_half(
    scan: Scan, hour: int, minute: int, second: int, grain: str, j: int
) -> tuple[Clock, int] | None:
    """A clock with the half of the day that follows it, if any."""
    if hour > 24 or minute > 59 or second > 59:
        return None
    half = half_of_day(scan, j)
    if half is not None and hour <= 12:
        added, j = half
        if added is None:
            return Clock(hour % 12, minute, second, grain, True), j
        return Clock(hour % 12 + added, minute, second, grain, False), j
    if half is not None and half[0] is not None and hour > 12:
        return Clock(hour, minute, second, grain, False), half[1]
    if hour == 24 and minute:
        return None
    return Clock(hour, minute, second, grain, 1 <= hour <= 12), j


def numeric_clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    """ "8:30", "8:30:15 pm", "8.30pm", "3pm", "1140 a.m.", "0730 hours"."""
    hour = scan.numbers[i]
    width = scan.digits(i)
    if hour is None or (
        i and not scan.spaced[i] and scan.words[i - 1] in (":", ".", "/") and scan.digits(i - 2)
    ):
        return None
    if width <= 2 and scan.words[i + 1] == ":" and scan.digits(i + 2) == 2:
        return _colon_clock(scan, hour, i)
    if (
        width <= 2
        and scan.words[i + 1] == "."
        and scan.digits(i + 2) == 2
        and not scan.spaced[i + 1]
        and not scan.spaced[i + 2]
    ):
        half = half_of_day(scan, i + 3)
        if half is not None:
            return with_half(scan, hour, scan.numbers[i + 2] or 0, 0, "minute", i + 3)
    spelled = scan.words[i + 1] in ("am", "pm") or scan.words[i + 2] in (".", "m")
    if width in (3, 4) and spelled and half_of_day(scan, i + 1) is not None:
        return with_half(scan, hour // 100, hour % 100, 0, "minute", i + 1)
    if (
        width == 4
        and scan.words[i + 1] in ("hrs", "hours", "h")
        and hour // 100 < 24
        and hour % 100 < 60
        and hour % 100 != hour
    ):
        return Clock(hour // 100, hour % 100, 0, "minute", False), i + 2
    if width <= 2 and half_of_day(scan, i + 1) is not None:
        return with_half(scan, hour, 0, 0, "hour", i + 1)
    return None


def _colon_clock(scan: Scan, hour: int, i: int) -> tuple[Clock, int] | None:
    minute = scan.numbers[i + 2] or 0
    j, second, grain = i + 3, 0, "minute"
    if scan.spaced[i + 1] or scan.spaced[i + 2]:
        return None
    if scan.words[j] == ":" and scan.digits(j + 1) == 2 and not scan.spaced[j]:
        second, j, grain = scan.numbers[j + 1] or 0, j + 2, "second"
        if (
            scan.words[j] == "."
            and not scan.spaced[j]
            and scan.words[j + 1].isdigit()
            and not scan.spaced[j + 1]
        ):
            j += 2
    found = with_half(scan, hour, minute, second, grain, j)
    if found is None or scan.words[found[1]] in ("aspect", "ratio", "scale"):
        return None
    clock, j = found
    if scan.digits(i) == 2 and hour < 10:
        clock = clock._replace(open=clock.open and scan.surface(i)[0] != "0")
    return clock, j


def word_hour(scan: Scan, i: int) -> tuple[int, int] | None:
    """An hour from 1 to 24, in digits or words."""
    number = scan.numbers[i]
    if number is not None:
        return (number, i + 1) if scan.digits(i) <= 2 and 0 <= number <= 24 else None
    small = small_cardinal(scan, i)
    return small if small is not None and 1 <= small[0] <= 12 else None


def spoken_clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    """ "seven pm", "eight o'clock", "five-thirty", "six forty-three minutes", "half past seven", "20 min past eight"."""
    relative = _relative_clock(scan, i)
    if relative is not None:
        return relative
    hour = word_hour(scan, i)
    if hour is None:
        return None
    value, j = hour
    if scan.words[j] in ("o'clock", "oclock", "o’clock") or scan.at(j, "o", "clock"):
        j = j + 2 if scan.words[j] == "o" else j + 1
        return with_half(scan, value, 0, 0, "hour", j)
    minutes = hour_and_minute_words(scan, i)
    if minutes is not None and not minutes[0].open:
        return minutes
    if half_of_day(scan, j) is not None and scan.words[j] not in ("a", "p"):
        return with_half(scan, value, 0, 0, "hour", j)
    if half_of_day(scan, j) is not None and scan.words[j + 1] == ".":
        return with_half(scan, value, 0, 0, "hour", j)
    return None


def hour_and_minute_words(scan: Scan, i: int) -> tuple[Clock, int] | None:
    """ "nine thirty", "two forty five", "six forty-three minutes": safe only where a time is expected."""
    small = small_cardinal(scan, i)
    if small is None or not 1 <= small[0] <= 12 or scan.numbers[i] is not None:
        return None
    hour, j = small
    k = scan.skip(j, "-")
    k = scan.skip(k, "oh")
    minute = small_cardinal(scan, k)
    if minute is None or not (10 <= minute[0] <= 59 or scan.words[k - 1] == "oh"):
        return None
    return with_half(scan, hour, minute[0], 0, "minute", scan.skip(minute[1], "minutes", "minute", "mins"))


def _relative_clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    words = scan.words
    j = scan.skip(i, "a")
    if words[j] == "half" and words[j + 1] in ("past", "after"):
        minutes, k = 30, j + 1
    elif words[j] == "quarter" and words[j + 1] in ("past", "after", "to", "of", "before"):
        minutes, k = 15, j + 1
    elif words[j] in ("three", "3") and words[j + 1] in ("quarters", "quarter"):
        minutes, k = 45, j + 2
    else:
        number = scan.numbers[i]
        counted = (number, i + 1) if number is not None else small_cardinal(scan, i)
        if counted is None or not 1 <= counted[0] <= 59:
            return None
        minutes, k = counted
        named = words[k] in ("min", "mins", "minute", "minutes")
        k = k + 1 if named else k
        if words[k] not in ("past", "after", "to", "before", "till", "of") or (
            not named and words[k] != "past"
        ):
            return None
    return _from_hour(scan, minutes, words[k], k + 1)


def _from_hour(scan: Scan, minutes: int, direction: str, k: int) -> tuple[Clock, int] | None:
    if direction not in ("past", "after", "to", "before", "till", "of"):
        return None
    named = _NAMED.get(scan.words[k])
    hour = (named, k + 1) if named is not None else word_hour(scan, k)
    if hour is None or scan.lex.units.get(scan.words[hour[1]]) is not None:
        return None
    value, j = hour
    if scan.words[j] in ("o'clock", "oclock"):
        j += 1
    found = with_half(scan, value, 0, 0, "minute", j)
    if found is None:
        return None
    clock, j = found
    if direction in ("past", "after"):
        return clock._replace(minute=minutes), j
    return clock._replace(hour=(clock.hour - 1) % 24 or (12 if clock.open else 0), minute=60 - minutes), j


def named_clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    """ "noon", "midnight", "mid day", "noonish", "4ish"."""
    words = scan.words
    j = scan.skip(i, "12")
    if words[j] in _NAMED:
        return Clock(_NAMED[words[j]], 0, 0, "hour", False), j + 1
    if words[i] == "mid":
        j = scan.skip(i + 1, "-")
        if words[j] in ("night", "day") and (words[j] == "night" or scan.words[i - 1 if i else 0] == "at"):
            return Clock(0 if words[j] == "night" else 12, 0, 0, "hour", False), j + 1
    number = scan.numbers[i]
    if number is not None and 1 <= number <= 12 and words[i + 1] == "ish" and not scan.spaced[i + 1]:
        return Clock(number, 0, 0, "hour", True), i + 2
    return None


def starts_clock(scan: Scan, i: int) -> bool:
    """Whether the word at an index can begin a clock time."""
    word = scan.words[i]
    return (
        word[:1].isdigit()
        or word in scan.lex.cardinals
        or word in _NAMED
        or word in ("half", "quarter", "mid", "a")
    )


@memoised
def clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    """A clock time that is one by its own form."""
    if not starts_clock(scan, i):
        return None
    return named_clock(scan, i) or numeric_clock(scan, i) or spoken_clock(scan, i)


@memoised
def expected_clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    """A clock time where one is expected: also "7", "six forty", "6.45", "0730"."""
    if not starts_clock(scan, i):
        return None
    found = clock(scan, i) or hour_and_minute_words(scan, i)
    if found is not None:
        return found
    if i > 1 and not scan.spaced[i] and scan.words[i - 1] in (".", ",") and scan.digits(i - 2):
        return None
    number, width = scan.numbers[i], scan.digits(i)
    if number is not None and width == 4 and number < 1000 and number % 100 < 60:
        return Clock(number // 100, number % 100, 0, "minute", 1 <= number // 100 <= 12), i + 1
    if number is not None and scan.words[i + 1] == "." and scan.digits(i + 2) == 2 and not scan.spaced[i + 1]:
        if scan.words[i + 3] == "%":
            return None
        return with_half(scan, number, scan.numbers[i + 2] or 0, 0, "minute", i + 3)
    hour = word_hour(scan, i)
    if hour is None:
        return None
    value, j = hour
    if _counts_something(scan, j):
        return None
    return Clock(value, 0, 0, "hour", 1 <= value <= 12), j


def _counts_something(scan: Scan, j: int) -> bool:
    word = scan.words[j]
    glued_sign = word in (".", ":", "/", "%", "$", "€", "st", "nd", "rd", "th") and not scan.spaced[j]
    if glued_sign and word in (".", ":", "/"):
        return scan.digits(j + 1) > 0 and not scan.spaced[j + 1]
    return (
        glued_sign
        or word in scan.lex.units
        or word in ("people", "persons", "times", "percent", "of", "hundred", "thousand", "million")
    )


def match_clock(scan: Scan, i: int) -> Match | None:
    """A clock time as a node."""
    found = clock(scan, i)
    return None if found is None else (clock_node(scan, found[0]), found[1])
