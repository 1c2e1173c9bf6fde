"""What recurs: "every other Friday", "weekly", "Thursdays at 17.30", "6am everyday", "one a day"."""

from __future__ import annotations

from perdure.dates.grammar.clock import Clock, clock, expected_clock
from perdure.dates.grammar.numbers import cardinal, ordinal
from perdure.dates.grammar.times import part_name
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node, length_timex
from perdure.dates.scan import Scan

_EACH = word_set("every each any once per")
_PARTS = word_set("TMO TAF TEV TNI")


def recurring(scan: Scan, i: int) -> Match | None:
    """A recurring time."""
    word = scan.words[i]
    if word in scan.lex.weekdays or word in scan.lex.plural_weekdays or word == "on":
        timex = _weekdays(scan, i)
    elif word in _EACH:
        timex = _each(scan, i) or _per_unit(scan, i)
    elif word in scan.lex.rates or word in ("bi", "semi"):
        timex = _rate(scan, i)
    else:
        timex = _time_then_each(scan, i) or _per_unit(scan, i)
    return None if timex is None else (Node("recurring", "day", [], timex=timex[0]), timex[1])


# The readers below return the TIMEX value of a recurrence and the index after it.
_Timex = tuple[str, int]


def _rate(scan: Scan, i: int) -> _Timex | None:
    word = scan.words[i]
    if word not in ("bi", "semi"):
        return _at_time(scan, scan.lex.rates[word], i + 1) if word in scan.lex.rates else None
    j = scan.skip(i + 1, "-")
    if (base := scan.lex.rates.get(scan.words[j])) is None or scan.words[j] == "daily":
        return None
    if word == "semi":
        return base.replace("1", "0.5"), j + 1
    return (base.replace("1", "2") if "Y" not in base else "P0.5Y"), j + 1


def _at_time(scan: Scan, timex: str, j: int) -> _Timex:
    """Adds a time of day: "each Monday at 4pm"."""
    said = expected_clock(scan, j + 1) if scan.words[j] in ("at", "@") else clock(scan, j)
    if said is None:
        return timex, j
    shown = _clock_timex(said[0])
    return (shown if timex == "P1D" or timex in _PARTS else timex + shown), said[1]


def _clock_timex(value: Clock) -> str:
    """ "T16" or "T17:30"."""
    return f"T{value.hour:02}" if value.grain == "hour" else f"T{value.hour:02}:{value.minute:02}"


def _each(scan: Scan, i: int) -> _Timex | None:
    words = scan.words
    if words[i] not in _EACH:
        return None
    j = i + 1
    if words[i] == "once":
        if words[j] not in ("a", "every", "each", "per"):
            return None
        j += 1
    amount = 1
    if words[j] in ("other", "second"):
        amount, j = 2, j + 1
    elif words[j] == "single":
        j += 1
    else:
        counted = ordinal(scan, j) or cardinal(scan, j)
        if counted is not None and scan.at(counted[1], "of", "the", "month"):
            return f"XXXX-XX-{counted[0]:02}", counted[1] + 3
        if counted is not None and (
            scan.unit(counted[1]) is not None or scan.words[counted[1]] in scan.lex.weekdays
        ):
            amount, j = counted
    return _each_what(scan, j, amount, words[i] == "any")


def _each_what(scan: Scan, j: int, amount: int, any_one: bool) -> _Timex | None:
    word, lex = scan.words[j], scan.lex
    weekday = lex.weekdays.get(word, lex.plural_weekdays.get(word))
    if weekday is not None:
        return _at_part(scan, f"XXXX-WXX-{weekday + 1}", j + 1)
    part = part_name(scan, j)
    if part is not None:
        return _at_time(scan, "T" + lex.parts_of_day[part[0]][2], part[1])
    if word in ("weekday", "weekdays"):
        return _at_time(scan, "XXXX-WXX-1/5", j + 1)
    if word in lex.months and not any_one:
        return f"XXXX-{lex.months[word]:02}", j + 1
    if word in lex.seasons and not any_one:
        return word, j + 1
    if (unit := _unit(scan, j)) is None or (any_one and unit in ("minute", "second")):
        return None
    return _at_time(scan, length_timex(amount, unit), j + 1)


def _unit(scan: Scan, j: int) -> str | None:
    """A unit in which things recur."""
    unit = scan.unit(j)
    return unit if unit not in ("night", "century") else None


def _at_part(scan: Scan, timex: str, j: int) -> _Timex:
    if (part := part_name(scan, j)) is None:
        return _at_time(scan, timex, j)
    return _at_time(scan, timex + "T" + scan.lex.parts_of_day[part[0]][2], part[1])


def _weekdays(scan: Scan, i: int) -> _Timex | None:
    """ "on Thursdays", "Monday mornings"."""
    words, lex = scan.words, scan.lex
    i = i + 1 if words[i] == "on" and words[i + 1] in lex.plural_weekdays else i
    plural, single = lex.plural_weekdays.get(words[i]), lex.weekdays.get(words[i])
    if plural is not None:
        return _at_part(scan, f"XXXX-WXX-{plural + 1}", i + 1)
    if single is not None and words[i + 1] in ("mornings", "afternoons", "evenings", "nights"):
        code = lex.parts_of_day[words[i + 1][:-1]][2]
        return _at_time(scan, f"XXXX-WXX-{single + 1}T{code}", i + 2)
    return None


def _time_then_each(scan: Scan, i: int) -> _Timex | None:
    """ "3pm each day", "6am everyday"."""
    if (said := clock(scan, i)) is None:
        return None
    j = scan.skip(said[1], "on")
    later = _each(scan, j) or _rate(scan, j) or _weekdays(scan, j)
    if later is None or (later[0][0] != "T" and "T" in later[0]):
        return None
    shown = _clock_timex(said[0])
    return (shown if later[0] == "P1D" or later[0][0] == "T" else later[0] + shown), later[1]


def _per_unit(scan: Scan, i: int) -> _Timex | None:
    """ "one a day", "twice a week"."""
    if scan.words[i] not in ("one", "once", "twice") or scan.words[i + 1] not in ("a", "per"):
        return None
    unit = _unit(scan, i + 2)
    return None if unit is None else (length_timex(1, unit), i + 3)
