"""What recurs: "every other Friday", "weekly", "Thursdays at 17.30", "6am everyday", "one a day"."""

from __future__ import annotations

from perdure.dates.grammar.clock import Clock, clock, expected_clock, starts_clock
from perdure.dates.grammar.dayparts import part_name
from perdure.dates.grammar.numbers import cardinal, ordinal
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan

_RATES = {
    "daily": "P1D", "everyday": "P1D", "nightly": "P1D", "weekly": "P1W", "fortnightly": "P2W", "monthly": "P1M", "quarterly": "P3M",
    "yearly": "P1Y", "annually": "P1Y", "annual": "P1Y", "hourly": "PT1H", "biweekly": "P2W", "bimonthly": "P2M", "biannual": "P0.5Y",
    "biannually": "P0.5Y", "semiannually": "P0.5Y", "semimonthly": "P0.5M", "weekdays": "XXXX-WXX-1/5",
}  # fmt: skip
_UNITS = {"second": "T{}S", "minute": "T{}M", "hour": "T{}H", "day": "{}D", "week": "{}W", "weekend": "{}WE", "fortnight": "{}W",
          "month": "{}M", "quarter": "{}M", "year": "{}Y", "decade": "{}Y"}  # fmt: skip
_EACH = frozenset(("every", "each", "any", "once", "per"))
_FACTORS = {"quarter": 3, "fortnight": 2, "decade": 10}


def rate_words() -> frozenset[str]:
    """Words such as "daily" that recur by themselves."""
    return frozenset(_RATES)


def recurring(scan: Scan, i: int) -> Match | None:
    """A recurring time."""
    word = scan.words[i]
    if word in scan.lex.weekdays or word in scan.lex.plural_weekdays or word == "on":
        return _weekdays(scan, i)
    if word in _EACH:
        return _each(scan, i) or _per_day(scan, i)
    if word in _RATES or word in ("bi", "semi"):
        return _rate(scan, i)
    return _time_then_each(scan, i) or _per_day(scan, i)


def _node(timex: str) -> Node:
    return Node("recurring", "day", [], timex=timex)


def _rate(scan: Scan, i: int) -> Match | None:
    words = scan.words
    if words[i] in ("bi", "semi"):
        j = scan.skip(i + 1, "-")
        base = _RATES.get(words[j])
        if base is None or words[j] == "daily":
            return None
        if words[i] == "semi":
            return _node(base.replace("1", "0.5")), j + 1
        return _node(base.replace("1", "2") if "Y" not in base else "P0.5Y"), j + 1
    timex = _RATES.get(words[i])
    if timex is None:
        return None
    return _at_time(scan, timex if timex != "P1D" else "P1D", i + 1)


def _at_time(scan: Scan, timex: str, j: int) -> Match:
    """Adds a time of day: "each Monday at 4pm"."""
    announced = scan.words[j] in ("at", "@")
    found = expected_clock(scan, j + 1) if announced else clock(scan, j)
    if found is None:
        return _node(timex), j
    shown = clock_code(found[0])
    return _node(shown if timex in ("P1D", "TMO", "TAF", "TEV", "TNI") else timex + shown), found[1]


def clock_code(value: Clock) -> str:
    """ "T16" or "T17:30"."""
    return f"T{value.hour:02}" if value.grain == "hour" else f"T{value.hour:02}:{value.minute:02}"


def _each(scan: Scan, i: int) -> Match | None:
    words = scan.words
    if words[i] not in _EACH:
        return None
    j = i + 1
    if words[i] == "once":
        if words[j] not in ("a", "every", "each", "per"):
            return None
        j += 1
    amount = 1.0
    if words[j] in ("other", "second"):
        amount, j = 2.0, j + 1
    elif words[j] == "single":
        j += 1
    else:
        counted = ordinal(scan, j) or cardinal(scan, j)
        if counted is not None and scan.lex.units.get(words[counted[1]]) is not None:
            amount, j = float(counted[0]), counted[1]
    return _each_what(scan, i, j, amount)


def _each_what(scan: Scan, i: int, j: int, amount: float) -> Match | None:
    words = scan.words
    weekday = scan.lex.weekdays.get(words[j], scan.lex.plural_weekdays.get(words[j]))
    if weekday is not None:
        return _at_part(scan, f"XXXX-WXX-{weekday + 1}", j + 1)
    part = part_name(scan, j)
    if part is not None:
        return _at_time(scan, "T" + scan.lex.parts_of_day[part[0]][2], part[1])
    if words[j] in ("weekday", "weekdays"):
        return _at_time(scan, "XXXX-WXX-1/5", j + 1)
    if words[j] in scan.lex.months and words[i] != "any":
        return _node(f"XXXX-{scan.lex.months[words[j]]:02}"), j + 1
    if words[j] in scan.lex.seasons and words[i] != "any":
        return _node(words[j]), j + 1
    unit = scan.lex.units.get(words[j])
    if unit is None or unit not in _UNITS or (words[i] == "any" and unit in ("minute", "second")):
        return None
    shown = amount * _FACTORS.get(unit, 1)
    return _at_time(scan, "P" + _UNITS[unit].format(f"{shown:g}"), j + 1)


def _at_part(scan: Scan, timex: str, j: int) -> Match:
    part = part_name(scan, j)
    if part is not None:
        return _at_time(scan, timex + "T" + scan.lex.parts_of_day[part[0]][2], part[1])
    return _at_time(scan, timex, j)


def _weekdays(scan: Scan, i: int) -> Match | None:
    words = scan.words
    if words[i] == "on":
        return _weekdays(scan, i + 1) if words[i + 1] in scan.lex.plural_weekdays else None
    plural = scan.lex.plural_weekdays.get(words[i])
    if plural is not None:
        return _at_part(scan, f"XXXX-WXX-{plural + 1}", i + 1)
    single = scan.lex.weekdays.get(words[i])
    if single is not None and words[i + 1] in ("mornings", "afternoons", "evenings", "nights"):
        code = scan.lex.parts_of_day[words[i + 1][:-1]][2]
        return _at_time(scan, f"XXXX-WXX-{single + 1}T{code}", i + 2)
    return None


def _time_then_each(scan: Scan, i: int) -> Match | None:
    """ "3pm each day", "6am everyday"."""
    found = clock(scan, i) if starts_clock(scan, i) else None
    if found is None:
        return None
    j = scan.skip(found[1], "on")
    later = _each(scan, j) or _rate(scan, j) or _weekdays(scan, j)
    if later is None or (later[0].timex[0] != "T" and "T" in later[0].timex):
        return None
    shown = clock_code(found[0])
    return _node(
        shown if later[0].timex == "P1D" or later[0].timex[0] == "T" else later[0].timex + shown
    ), later[1]


def _per_day(scan: Scan, i: int) -> Match | None:
    """ "one a day", "twice a week"."""
    words = scan.words
    if words[i] not in ("one", "once", "twice") or words[i + 1] not in ("a", "per"):
        return None
    unit = scan.lex.units.get(words[i + 2])
    if unit not in _UNITS:
        return None
    return _node("P" + _UNITS[unit].format("1")), i + 3
