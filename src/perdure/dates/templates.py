"""Reads the languages whose data file consists of patterns: one regular expression per language, in one pass.

A pattern names a rule, such as "shift -1"; its first word is one of the rules below, which builds the node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from itertools import count
from typing import Any

from perdure.dates.calendar import DAY, is_date
from perdure.dates.lexicon import load_table
from perdure.dates.nodes import (
    FINE_UNITS,
    Alt,
    Length,
    Node,
    Reference,
    calendar_year,
    day_node,
    make_length,
    on_day,
    opened,
)

_NUMERIC = {
    r"{year}[-/.]{m}[-/.]{day}": "date",
    r"{first}[-/.]{second}[-/.]{year}": "numeric",
    r"(?:(?<=den )|(?<=am )|(?<=zum )|(?<=bis )|(?<=el )|(?<=le )|(?<=du )|(?<=au )|(?<=del )|(?<=al )){first}[/.]{second}\.?(?![\d/])": "pair",
}
_NUMERALS = {
    "零": 0,
    "两": 2,
    **{character: number for number, character in enumerate("〇一二三四五六七八九")},
}
_CHINESE_NUMBER = "[一二三四五六七八九十两]{1,3}"
_DIGITS = {
    "day": r"[0-9０-９]{1,2}", "year": r"[12][0-9]{3}", "m": r"[0-9０-９]{1,2}", "first": r"[0-9]{1,2}", "second": r"[0-9]{1,2}",
}  # fmt: skip
_TABLES = {"n": "numbers", "unit": "units", "month": "months", "weekday": "weekdays"}
_GAP = re.compile(r",?\s+")
_LONGEST_BOUND = 24
_STEPS = {"last": -1, "this": 0, "next": 1}
_BLANK = "\x00"


@dataclass(frozen=True, slots=True)
class Templates:
    """A language's tables and its one regular expression; groups are named by the pattern's number."""

    pattern: re.Pattern[str]
    rules: tuple[str, ...]
    months: dict[str, int]
    weekdays: dict[str, int]
    units: dict[str, str]
    numbers: dict[str, float]
    day_first: bool
    bounds: re.Pattern[str] | None
    """Words directly before a date that open it on one side."""
    sides: dict[str, str]
    clock: re.Pattern[str] | None
    """A time of day."""
    after_noon: re.Pattern[str] | None


@lru_cache(maxsize=16)
def templates(language: str) -> Templates:
    """The compiled data file of a language."""
    table = load_table(language)
    spaced = bool(table["spaced"])
    entries = [*_NUMERIC.items(), *table["patterns"].items()]
    compiled = "|".join(_compile(number, text, table, spaced) for number, (text, _) in enumerate(entries))
    pattern = rf"(?<![\w.])(?:{compiled})(?![\w])" if spaced else f"(?<![0-9])(?:{compiled})"
    return Templates(
        re.compile(pattern, re.IGNORECASE),
        tuple(rule for _, rule in entries),
        table["months"],
        table["weekdays"],
        table["units"],
        table["numbers"],
        bool(table["day_first"]),
        _bounds(table.get("bounds")),
        table.get("bounds", {}),
        _compiled(table.get("clock")),
        _compiled(table.get("after_noon")),
    )


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern, re.IGNORECASE)


def _bounds(sides: dict[str, str] | None) -> re.Pattern[str] | None:
    if not sides:
        return None
    phrases = "|".join(sorted(map(re.escape, sides), key=len, reverse=True)).replace(r"\ ", r"\s+")
    return re.compile(rf"(?<!\w)({phrases})\s+(?:(?:den|dem|el|la|le|au|du)\s+)?$", re.IGNORECASE)


def _compile(number: int, text: str, table: dict[str, Any], spaced: bool) -> str:
    """A pattern as a group p<number> with its slots as groups s<number>_<slot>_<count>."""
    counter = count(1)

    def slot(match: re.Match[str]) -> str:
        return f"(?P<s{number}_{match[1]}_{next(counter)}>{_alternatives(match[1], table, spaced)})"

    # A blank stands for white space, except in look-behinds, which must have a fixed width.
    kept = re.sub(r"\(\?<[=!][^)]*\)", lambda match: match.group().replace(" ", _BLANK), text)
    body = re.sub(r"\{([a-z]+)\}", slot, re.sub(r"(?<!\[-)(?<!=\w) (?![?\]])", r"\\s+", kept))
    return f"(?P<p{number}>{body.replace(_BLANK, ' ')})"


def _alternatives(slot: str, table: dict[str, Any], spaced: bool) -> str:
    if slot in _DIGITS:
        return _DIGITS[slot] if spaced or slot == "year" else f"{_DIGITS[slot]}|{_CHINESE_NUMBER}"
    words = sorted(table[_TABLES[slot]], key=len, reverse=True)
    listed = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words)
    if slot == "n":
        return f"[0-9０-９]{{1,4}}|{listed}" + ("" if spaced else f"|{_CHINESE_NUMBER}")
    return listed + (r"\.?" if slot == "month" and spaced else "")


def read_templates(text: str, ref: Reference, language: str) -> Iterator[tuple[Node, int, int]]:
    """The expressions of a text in a language that has patterns: the nodes with where they begin and end."""
    table = templates(language)
    for match in table.pattern.finditer(text):
        # A pattern's own group closes after its slots, so it is the last.
        number = str(match.lastgroup).removeprefix("p")
        named = [(name, value) for name, value in match.groupdict().items() if value]
        slots = {name.split("_")[1]: value for name, value in named if name.startswith(f"s{number}_")}
        rule, *details = table.rules[int(number)].split()
        said = _Said(ref, table, slots, details)
        try:
            node = _RULES[rule](said)
        except (ValueError, OverflowError):
            # datetime's own answer to years before 1 or after 9999.
            continue
        if node is not None:
            yield _completed(text, ref, table, node, match.start(), match.end())


def _completed(
    text: str, ref: Reference, table: Templates, node: Node, start: int, end: int
) -> tuple[Node, int, int]:
    """A node with the time of day beside it and the bound before it."""
    if node.kind == "date" and node.grain == "day" and table.clock is not None:
        timed = _clock_beside(text, table, start, end)
        if timed is not None:
            clock, start, end = timed
            moments = [day + clock for day in node.starts]
            alts = [Alt(moment, None, moment + FINE_UNITS["minute"]) for moment in moments]
            node = replace(node, kind="datetime", grain="minute", alts=alts)
    bound = (
        table.bounds.search(text, max(0, start - _LONGEST_BOUND), start) if table.bounds is not None else None
    )
    if bound is not None and node.kind in ("date", "range", "datetime"):
        side = table.sides[" ".join(bound.group(1).lower().split())]
        return opened(node, side), bound.start(1), end
    return node, start, end


def _clock_beside(text: str, table: Templates, start: int, end: int) -> tuple[timedelta, int, int] | None:
    """The time of day directly behind or before a day, with the bounds of both."""
    assert table.clock is not None
    behind = _GAP.match(text, end)
    match = table.clock.match(text, behind.end() if behind else end)
    if match is not None and match.end() < len(text) and text[match.end()].isalnum():
        match = None
    if match is None:
        before = [
            found
            for found in table.clock.finditer(text, max(0, start - 20), start)
            if _GAP.fullmatch(text, found.end(), start)
        ]
        match = before[-1] if before else None
    if match is None or (hour := _hour(table, match.group("hour"))) is None:
        return None
    parts = match.groupdict()
    minute = (
        parts.get("minute")
        or parts.get("minutes")
        or {"media": "30", "cuarto": "15"}.get(parts.get("fraction") or "", "0")
    )
    later = table.after_noon.match(text, match.end() + 1) if table.after_noon is not None else None
    if later is not None and hour < 12:
        hour += 12
    if hour > 23 or int(minute) > 59:
        return None
    last = later.end() if later is not None else match.end()
    return timedelta(hours=hour, minutes=int(minute)), min(start, match.start()), max(end, last)


def _hour(table: Templates, said: str) -> int | None:
    if said.isdigit():
        return int(said)
    number = table.numbers.get(said.lower())
    return None if number is None else int(number)


@dataclass(frozen=True, slots=True)
class _Said:
    """The slots of a matched pattern, and the words of its rule after the first."""

    ref: Reference
    table: Templates
    slots: dict[str, str]
    details: list[str]

    @property
    def steps(self) -> int:
        """The rule's number: "shift -1"."""
        return int(self.details[0])

    @property
    def year(self) -> int | None:
        return int(self.slots["year"]) if "year" in self.slots else None

    @property
    def month(self) -> int:
        named = self.slots.get("month")
        return self.table.months[_key(named)] if named else int(self.number("m"))

    @property
    def unit(self) -> str:
        return self.table.units[_key(self.slots["unit"])]

    @property
    def length(self) -> Length:
        return make_length(self.number("n"), self.unit)

    def number(self, slot: str) -> float:
        text = self.slots[slot]
        word = " ".join(text.lower().split())
        if word in self.table.numbers:
            return self.table.numbers[word]
        return int(text) if text.isdigit() else _chinese(text)


def _key(text: str) -> str:
    return " ".join(text.lower().rstrip(".").split())


def _chinese(text: str) -> int:
    """A number below a hundred in Chinese numerals."""
    tens, ten, units = text.partition("十")
    if not ten:
        return int("".join(str(_NUMERALS[character]) for character in text))
    return (_NUMERALS[tens] if tens else 1) * 10 + (_NUMERALS[units] if units else 0)


def _day(said: _Said) -> Node:
    return day_node([said.ref.today + DAY * said.steps])


def _unit(said: _Said) -> Node | None:
    unit = said.details[1] if len(said.details) > 1 else said.unit
    if unit == "day":
        return _day(said)
    return said.ref.unit_node(unit, said.steps) if unit not in ("second", "minute", "hour") else None


def _weekday(said: _Said) -> Node | None:
    if "weekday" not in said.slots:
        return None
    number = said.table.weekdays[_key(said.slots["weekday"])]
    if said.details[0] == "plain":
        return said.ref.plain_weekday(number)
    return said.ref.weekday_in_week(number, _STEPS[said.details[0]])


def _date(said: _Said) -> Node | None:
    return _if_real(said.ref.calendar_day(said.year, said.month, int(said.number("day"))))


def _if_real(node: Node | None) -> Node | None:
    return node if node is not None and node.alts else None


def _numeric(said: _Said) -> Node | None:
    first, second, year = (int(said.slots[name]) for name in ("first", "second", "year"))
    chosen = said.ref.options.day_first
    day_first = said.table.day_first if chosen is None else chosen
    day, month = (first, second) if day_first else (second, first)
    if not is_date(year, month, day):
        day, month = month, day
    return _if_real(said.ref.calendar_day(year, month, day))


def _pair(said: _Said) -> Node | None:
    """ "am 3.4.", "el 6/10": only after an article or a preposition is that a date."""
    first, second = int(said.slots["first"]), int(said.slots["second"])
    day, month = (first, second) if second <= 12 else (second, first)
    return _if_real(said.ref.calendar_day(None, month, day))


def _month(said: _Said) -> Node | None:
    ref, month, details = said.ref, said.month, said.details
    if not 1 <= month <= 12:
        return None
    if details[:2] == ["of", "year"]:
        return ref.calendar_month(ref.now.year + int(details[2]), month)
    return ref.shifted_month(month, _STEPS[details[0]]) if details else ref.calendar_month(said.year, month)


_RULES: dict[str, Callable[[_Said], Node | None]] = {
    "day": _day,
    "part": lambda said: on_day(said.ref.part_node(said.details[0]), int(said.details[1])),
    "now": lambda said: said.ref.now_node("PRESENT_REF"),
    "shift": lambda said: said.ref.moved_from_now(said.length, said.steps),
    "stretch": lambda said: said.ref.stretch(said.length, said.steps),
    "unit": _unit,
    "weekday": _weekday,
    "date": _date,
    "numeric": _numeric,
    "pair": _pair,
    "month": _month,
    "recurring": lambda said: Node("recurring", "day", []),
    "year": lambda said: calendar_year(int(said.slots["year"])),
}
