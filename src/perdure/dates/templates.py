"""Reads the languages whose data file consists of patterns: one regular expression for each language, in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from perdure.dates.build import (
    calendar_day,
    calendar_month,
    calendar_year,
    day_node,
    make_length,
    month_year,
    moved_from_now,
    on_day,
    part_node,
    plain_weekday,
    point_node,
    stretch,
    unit_node,
    weekday_in_week,
)
from perdure.dates.calendar import DAY, is_date
from perdure.dates.lexicon import english, load_table
from perdure.dates.model import DateOptions, DateSpan, Prefer
from perdure.dates.nodes import Node, Reference
from perdure.dates.spans import make_span

_NUMERIC = {
    r"{year}[-/.]{m}[-/.]{day}": "date",
    r"{first}[-/.]{second}[-/.]{year}": "numeric",
}
_NUMERALS = {character: number for number, character in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
}
_PLAIN = {
    "day": r"[0-9０-９]{1,2}", "year": r"[12][0-9]{3}", "m": r"[0-9０-９]{1,2}", "first": r"[0-9]{1,2}", "second": r"[0-9]{1,2}",
}  # fmt: skip
_CHINESE_NUMBER = "[一二三四五六七八九十两]{1,3}"


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


@lru_cache(maxsize=16)
def templates(language: str) -> Templates:
    """The compiled data file of a language."""
    table = load_table(language)
    spaced = bool(table["spaced"])
    entries = [*_NUMERIC.items(), *table["patterns"].items()]
    compiled = [_compile(number, text, table, spaced) for number, (text, _) in enumerate(entries)]
    edges = (r"(?<![\w.])", r"(?![\w])") if spaced else (r"(?<![0-9])", "")
    pattern = re.compile(edges[0] + "(?:" + "|".join(compiled) + ")" + edges[1], re.IGNORECASE)
    return Templates(
        pattern,
        tuple(rule for _, rule in entries),
        table["months"],
        table["weekdays"],
        table["units"],
        table["numbers"],
        bool(table["day_first"]),
    )


def _compile(number: int, text: str, table: dict[str, dict[str, object]], spaced: bool) -> str:
    """A pattern as a group p<number> with its slots as groups s<number>_<slot>_<count>."""
    seen = 0

    def slot(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        return f"(?P<s{number}_{match.group(1)}_{seen}>{_alternatives(match.group(1), table, spaced)})"

    body = re.sub(
        r"\{([a-z]+)\}", slot, re.sub(r"(?<!\[-)(?<!=\w) (?![?\]])", r"\\s+", _keep_lookbehinds(text))
    )
    return f"(?P<p{number}>{body.replace(_BLANK, ' ')})"


_BLANK = "\x00"


def _keep_lookbehinds(text: str) -> str:
    """Blanks inside look-behinds stay single blanks: they must have a fixed width."""
    return re.sub(r"\(\?<[=!][^)]*\)", lambda match: match.group().replace(" ", _BLANK), text)


def _alternatives(slot: str, table: dict[str, dict[str, object]], spaced: bool) -> str:
    if slot in _PLAIN:
        return _PLAIN[slot] if spaced or slot == "year" else f"{_PLAIN[slot]}|{_CHINESE_NUMBER}"
    words = table[{"n": "numbers", "unit": "units", "month": "months", "weekday": "weekdays"}[slot]]
    listed = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))
    if slot == "n":
        return f"[0-9０-９]{{1,4}}|{listed}" + ("" if spaced else f"|{_CHINESE_NUMBER}")
    return listed + (r"\.?" if slot == "month" and spaced else "")


def read_templates(
    text: str, reference: datetime, language: str, prefer: Prefer, options: DateOptions
) -> list[DateSpan]:
    """The expressions of a text in a language that has patterns."""
    table = templates(language)
    ref = Reference(reference.replace(tzinfo=None), reference.tzinfo or UTC, english(), options)
    spans = []
    for match in table.pattern.finditer(text):
        node = _read(ref, table, match)
        span = (
            make_span(ref, node, match.group(), match.start(), match.end(), prefer)
            if node is not None
            else None
        )
        if span is not None:
            spans.append(span)
    return spans


def _read(ref: Reference, table: Templates, match: re.Match[str]) -> Node | None:
    number = next(index for index in range(len(table.rules)) if match.group(f"p{index}") is not None)
    slots = {
        name.split("_")[1]: value
        for name, value in match.groupdict().items()
        if value and name.startswith(f"s{number}_")
    }
    verb, *details = table.rules[number].split()
    try:
        return _VERBS[verb](ref, table, slots, details)
    except (ValueError, OverflowError):
        # datetime's own answer to years before 1 or after 9999.
        return None


Slots = dict[str, str]


def _number(table: Templates, text: str) -> float:
    word = " ".join(text.lower().split())
    if word in table.numbers:
        return table.numbers[word]
    return int(text) if text.isdigit() else _chinese(text)


def _chinese(text: str) -> int:
    """A number below a hundred in Chinese numerals."""
    tens, found, units = text.partition("十")
    if not found:
        return int("".join(str(_NUMERALS[character]) for character in text))
    return (_NUMERALS[tens] if tens else 1) * 10 + (_NUMERALS[units] if units else 0)


def _key(text: str) -> str:
    return " ".join(text.lower().rstrip(".").split())


def _day(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node:
    return day_node([ref.today + DAY * int(details[0])])


def _part(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node:
    return on_day(part_node(ref, details[0]), int(details[1]))


def _now(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node:
    return point_node(ref.now, "second").changed(timex="PRESENT_REF")


def _shift(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node:
    return moved_from_now(
        ref, make_length(_number(table, slots["n"]), table.units[_key(slots["unit"])]), int(details[0])
    )


def _stretch(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node:
    return stretch(
        ref, make_length(_number(table, slots["n"]), table.units[_key(slots["unit"])]), int(details[0])
    )


def _unit(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node | None:
    unit = details[1] if len(details) > 1 else table.units[_key(slots["unit"])]
    if unit == "day":
        return day_node([ref.today + DAY * int(details[0])])
    if unit in ("second", "minute", "hour"):
        return None
    return unit_node(unit, ref.now, int(details[0]))


def _weekday(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node | None:
    if "weekday" not in slots:
        return None
    number = table.weekdays[_key(slots["weekday"])]
    if details[0] == "plain":
        return plain_weekday(ref, number)
    return weekday_in_week(ref, number, {"last": -1, "this": 0, "next": 1}[details[0]])


def _date(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node | None:
    month = table.months[_key(slots["month"])] if "month" in slots else int(_number(table, slots["m"]))
    day = int(_number(table, slots["day"]))
    return _valid(calendar_day(ref, int(slots["year"]) if "year" in slots else None, month, day))


def _valid(node: Node | None) -> Node | None:
    return node if node is not None and node.alts else None


def _numeric(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node | None:
    first, second, year = int(slots["first"]), int(slots["second"]), int(slots["year"])
    chosen = ref.options.day_first
    day_first = table.day_first if chosen is None else chosen
    day, month = (first, second) if day_first else (second, first)
    if not is_date(year, month, day):
        day, month = month, day
    return _valid(calendar_day(ref, year, month, day))


def _month(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node | None:
    month = table.months[_key(slots["month"])] if "month" in slots else int(_number(table, slots["m"]))
    if not 1 <= month <= 12:
        return None
    if details[:2] == ["of", "year"]:
        return calendar_month(ref, ref.now.year + int(details[2]), month)
    if details:
        return calendar_month(
            ref, month_year(ref.now, month, {"last": -1, "this": 0, "next": 1}[details[0]]), month
        )
    return calendar_month(ref, int(slots["year"]) if "year" in slots else None, month)


def _year(ref: Reference, table: Templates, slots: Slots, details: list[str]) -> Node:
    return calendar_year(int(slots["year"]))


_VERBS: dict[str, Callable[[Reference, Templates, Slots, list[str]], Node | None]] = {
    "day": _day, "part": _part, "now": _now, "shift": _shift, "stretch": _stretch, "unit": _unit, "weekday": _weekday,
    "date": _date, "numeric": _numeric, "month": _month, "year": _year,
}  # fmt: skip
