"""Times of day: "8:30pm", "half past seven", "noon", "4ish"."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from perdure.dates.grammar.numbers import small_cardinal
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import FINE_UNITS, Alt, Match, Node
from perdure.dates.scan import Scan, memoised

_HALVES = {"am": 0, "a": 0, "pm": 12, "p": 12}
_NAMED = {"noon": 12, "midday": 12, "noonish": 12, "middayish": 12, "midnight": 0}
_FORMATS = {"hour": "T%H", "minute": "T%H:%M", "second": "T%H:%M:%S"}
_PAST = word_set("past after")
_TO = word_set("to before till of")
_MINUTES = word_set("min mins minute minutes")
_O_CLOCK = word_set("o'clock oclock")
_COUNTED = word_set("people persons times percent of hundred thousand million")
_GLUED_SIGNS = word_set("% $ € st nd rd th")


class Clock(NamedTuple):
    """A time said; `open` where it may be before or after noon."""

    hour: int
    minute: int = 0
    second: int = 0
    grain: str = "hour"
    open: bool = False

    @property
    def offset(self) -> timedelta:
        """The time since midnight."""
        return timedelta(hours=self.hour, minutes=self.minute, seconds=self.second)


Said = tuple[Clock, int]


def clock_node(scan: Scan, clock: Clock) -> Node:
    """The node of a clock time, twice where it may be before or after noon."""
    hours = [clock.hour, (clock.hour + 12) % 24] if clock.open else [clock.hour % 24]
    moments = [scan.today + clock._replace(hour=hour).offset for hour in hours]
    alts = [Alt(moment, None, moment + FINE_UNITS[clock.grain]) for moment in moments]
    timex = moments[0].strftime(_FORMATS[clock.grain])
    return Node("time", clock.grain, alts, clock_open=clock.open, timex=timex)


def match_of(scan: Scan, said: Said | None) -> Match | None:
    """A clock time as a reader returns it."""
    return None if said is None else (clock_node(scan, said[0]), said[1])


def match_clock(scan: Scan, i: int) -> Match | None:
    """A clock time as a node."""
    return match_of(scan, clock(scan, i))


def _half_of_day(scan: Scan, j: int) -> tuple[int | None, int] | None:
    """ "am", "p.m.", "p": the hours to add (None for "ampm") and the index after."""
    word = scan.words[j]
    if word == "ampm":
        return None, j + 1
    if word in ("am", "pm"):
        return _HALVES[word], j + 1
    if word not in ("a", "p"):
        return None
    if scan.at(j + 1, ".", "m") and scan.tight(j + 1):
        closing = scan.words[j + 3] == "." and not scan.spaced[j + 3]
        return _HALVES[word], j + 4 if closing else j + 3
    if scan.numbers[j - 1] is None:
        return None
    if scan.words[j + 1] == "m":
        return _HALVES[word], j + 2
    return (_HALVES[word], j + 1) if not scan.spaced[j] and not _inside_code(scan, j) else None


def _inside_code(scan: Scan, j: int) -> bool:
    """Whether a glued "a" or "p" belongs to a code such as T2P448 or Level-1A."""
    if not scan.spaced[j + 1] and scan.words[j + 1].isalnum():
        return True
    return scan.words[j - 2] == "-" and not scan.spaced[j - 1] and scan.words[j - 3].isalpha()


def _with_half(scan: Scan, clock: Clock, j: int) -> Said | None:
    """A clock with the half of the day that follows it, if any."""
    hour = clock.hour
    if hour > 24 or clock.minute > 59 or clock.second > 59:
        return None
    half = _half_of_day(scan, j)
    if half is not None and hour <= 12:
        added, j = half
        return clock._replace(hour=hour % 12 + (added or 0), open=added is None), j
    if half is not None and half[0] is not None:
        return clock, half[1]
    return None if hour == 24 and clock.minute else (clock._replace(open=1 <= hour <= 12), j)


def _numeric_clock(scan: Scan, i: int) -> Said | None:
    """ "8:30", "8:30:15 pm", "8.30pm", "3pm", "1140 a.m.", "0730 hours"."""
    words, hour, width = scan.words, scan.numbers[i], scan.digits(i)
    if hour is None or (not scan.spaced[i] and words[i - 1] in (":", ".", "/") and scan.digits(i - 2)):
        return None
    if width <= 2:
        if words[i + 1] == ":" and scan.digits(i + 2) == 2:
            return _colon_clock(scan, hour, i)
        if _dotted_minutes(scan, i) and not scan.spaced[i + 2] and _half_of_day(scan, i + 3) is not None:
            return _with_half(scan, Clock(hour, scan.numbers[i + 2] or 0, 0, "minute"), i + 3)
        return _with_half(scan, Clock(hour), i + 1) if _half_of_day(scan, i + 1) is not None else None
    clock = Clock(hour // 100, hour % 100, 0, "minute")
    spelled = words[i + 1] in ("am", "pm") or words[i + 2] in (".", "m")
    if width <= 4 and spelled and _half_of_day(scan, i + 1) is not None:
        return _with_half(scan, clock, i + 1)
    hours = width == 4 and words[i + 1] in ("hrs", "hours", "h")
    return (clock, i + 2) if hours and 1 <= clock.hour < 24 and clock.minute < 60 else None


def _dotted_minutes(scan: Scan, i: int) -> bool:
    """Whether ".30" follows a number."""
    return scan.words[i + 1] == "." and scan.digits(i + 2) == 2 and not scan.spaced[i + 1]


def _colon_clock(scan: Scan, hour: int, i: int) -> Said | None:
    words = scan.words
    if not scan.tight(i + 1):
        return None
    j, clock = i + 3, Clock(hour, scan.numbers[i + 2] or 0, 0, "minute")
    if words[j] == ":" and scan.digits(j + 1) == 2 and not scan.spaced[j]:
        j, clock = j + 2, clock._replace(second=scan.numbers[j + 1] or 0, grain="second")
        if words[j] == "." and words[j + 1].isdigit() and scan.tight(j):
            j += 2
    said = _with_half(scan, clock, j)
    if said is None or words[said[1]] in ("aspect", "ratio", "scale"):
        return None
    clock, j = said
    twenty_four_hours = scan.digits(i) == 2 and hour < 10
    return clock._replace(open=clock.open and not twenty_four_hours), j


def _hour_at(scan: Scan, i: int) -> tuple[int, int] | None:
    """An hour up to 24 in digits, or up to 12 in words."""
    number = scan.numbers[i]
    if number is not None:
        return (number, i + 1) if scan.digits(i) <= 2 and number <= 24 else None
    small = small_cardinal(scan, i)
    return small if small is not None and 1 <= small[0] <= 12 else None


def _spoken_clock(scan: Scan, i: int) -> Said | None:
    """ "seven pm", "eight o'clock", "five-thirty", "six forty-three minutes", "half past seven", "20 min past eight"."""
    relative = _relative_clock(scan, i)
    if relative is not None:
        return relative
    if (hour := _hour_at(scan, i)) is None:
        return None
    value, j = hour
    if scan.words[j] in _O_CLOCK or scan.at(j, "o", "clock"):
        return _with_half(scan, Clock(value), j + 2 if scan.words[j] == "o" else j + 1)
    minutes = hour_and_minute_words(scan, i)
    if minutes is not None and not minutes[0].open:
        return minutes
    if _half_of_day(scan, j) is not None and (scan.words[j] not in ("a", "p") or scan.words[j + 1] == "."):
        return _with_half(scan, Clock(value), j)
    return None


def hour_and_minute_words(scan: Scan, i: int) -> Said | None:
    """ "nine thirty", "two forty five", "six forty-three minutes": safe only where a time is expected."""
    if (hour := small_cardinal(scan, i)) is None or not 1 <= hour[0] <= 12:
        return None
    k = scan.skip(scan.skip(hour[1], "-"), "oh")
    minute = small_cardinal(scan, k)
    if minute is None or not (10 <= minute[0] <= 59 or scan.words[k - 1] == "oh"):
        return None
    end = scan.skip(minute[1], "minutes", "minute", "mins")
    return _with_half(scan, Clock(hour[0], minute[0], 0, "minute"), end)


def _relative_clock(scan: Scan, i: int) -> Said | None:
    words = scan.words
    j = scan.skip(i, "a")
    if words[j] == "half" and words[j + 1] in _PAST:
        return _from_hour(scan, 30, j + 1)
    if words[j] == "quarter" and words[j + 1] in ("past", "after", "to", "of", "before"):
        return _from_hour(scan, 15, j + 1)
    if words[j] in ("three", "3") and words[j + 1] in ("quarters", "quarter"):
        return _from_hour(scan, 45, j + 2)
    number = scan.numbers[i]
    counted = (number, i + 1) if number is not None else small_cardinal(scan, i)
    if counted is None or not 1 <= counted[0] <= 59:
        return None
    minutes, k = counted
    if words[k] in _MINUTES:
        return _from_hour(scan, minutes, k + 1)
    return _from_hour(scan, minutes, k) if words[k] == "past" else None


def _from_hour(scan: Scan, minutes: int, k: int) -> Said | None:
    """Minutes past or to the hour: the index is that of "past" or "to"."""
    past = scan.words[k] in _PAST
    if not past and scan.words[k] not in _TO:
        return None
    named = _NAMED.get(scan.words[k + 1])
    hour = (named, k + 2) if named is not None else _hour_at(scan, k + 1)
    if hour is None or scan.unit(hour[1]) is not None:
        return None
    said = _with_half(scan, Clock(hour[0], 0, 0, "minute"), scan.skip(hour[1], *_O_CLOCK))
    if said is None:
        return None
    clock, j = said
    if past:
        return clock._replace(minute=minutes), j
    return clock._replace(hour=(clock.hour - 1) % 24 or (12 if clock.open else 0), minute=60 - minutes), j


def _named_clock(scan: Scan, i: int) -> Said | None:
    """ "noon", "midnight", "mid day", "noonish", "4ish"."""
    words = scan.words
    j = scan.skip(i, "12")
    if words[j] in _NAMED:
        return Clock(_NAMED[words[j]]), j + 1
    if words[i] == "mid":
        j = scan.skip(i + 1, "-")
        if words[j] == "night" or (words[j] == "day" and words[i - 1] == "at"):
            return Clock(0 if words[j] == "night" else 12), j + 1
    number = scan.numbers[i]
    if number is not None and 1 <= number <= 12 and words[i + 1] == "ish" and not scan.spaced[i + 1]:
        return Clock(number, open=True), i + 2
    return None


def starts_clock(scan: Scan, i: int) -> bool:
    """Whether the word at an index can begin a clock time."""
    word = scan.words[i]
    if word[:1].isdigit() or word in scan.lex.cardinals or word in _NAMED:
        return True
    return word in ("half", "quarter", "mid", "a")


@memoised
def clock(scan: Scan, i: int) -> Said | None:
    """A clock time that is one by its own form."""
    if not starts_clock(scan, i):
        return None
    return _named_clock(scan, i) or _numeric_clock(scan, i) or _spoken_clock(scan, i)


@memoised
def expected_clock(scan: Scan, i: int) -> Said | None:
    """A clock time where one is expected: also "7", "six forty", "6.45", "0730"."""
    if not starts_clock(scan, i):
        return None
    said = clock(scan, i) or hour_and_minute_words(scan, i)
    if said is not None:
        return said
    if not scan.spaced[i] and scan.words[i - 1] in (".", ",") and scan.digits(i - 2):
        return None
    number = scan.numbers[i]
    if number is not None and scan.digits(i) == 4 and number < 1000 and number % 100 < 60:
        return Clock(number // 100, number % 100, 0, "minute", 1 <= number // 100 <= 12), i + 1
    if number is not None and _dotted_minutes(scan, i):
        if scan.words[i + 3] == "%":
            return None
        return _with_half(scan, Clock(number, scan.numbers[i + 2] or 0, 0, "minute"), i + 3)
    if (hour := _hour_at(scan, i)) is None or _counts(scan, hour[1]):
        return None
    return Clock(hour[0], open=1 <= hour[0] <= 12), hour[1]


def _counts(scan: Scan, j: int) -> bool:
    """Whether what follows a number makes it a count, a price, a fraction or an ordinal."""
    word = scan.words[j]
    if not scan.spaced[j] and word in (".", ":", "/"):
        return scan.digits(j + 1) > 0 and not scan.spaced[j + 1]
    return (not scan.spaced[j] and word in _GLUED_SIGNS) or word in scan.lex.units or word in _COUNTED
