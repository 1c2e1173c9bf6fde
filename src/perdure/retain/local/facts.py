"""Grouping the sentences of a turn into facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from perdure.retain.local.causes import is_split_off, parts_from, split_at_cause
from perdure.retain.local.smalltalk import is_small_talk
from perdure.retain.local.units import Unit
from perdure.text.wordlist import word_set

_FIRST_WORD = re.compile(r"\W*([^\W\d_]+(?:['’][^\W\d_]+)*)")
_LEANING = word_set("""
it it's its that that's this these those they they're them he he's she she's her his their also and but so because then
there which such another both either neither too plus therefore thus hence however though although still yet otherwise
instead meanwhile anyway besides especially even since
""")
_CUT_AT = re.compile(r"(?<=[.!?;,:])\s+|\s+")


@dataclass(frozen=True, slots=True)
class Shape:
    """How long facts are, in characters and sentences."""

    short: int = 40
    enough: int = 120
    longest: int = 400
    sentences: int = 3
    long_turn: int = 1000
    long_enough: int = 300
    long_longest: int = 500
    code: int = 1200


@dataclass(frozen=True, slots=True)
class Group:
    """Adjacent units that make one fact."""

    units: tuple[Unit, ...]

    @property
    def start(self) -> int:
        """Where its source begins in the turn."""
        return self.units[0].start

    @property
    def end(self) -> int:
        """Where its source ends in the turn."""
        return self.units[-1].end

    @property
    def length(self) -> int:
        """Characters of its units."""
        return sum(len(unit.text) for unit in self.units)


def group_units(
    units: Sequence[Unit],
    names: Collection[str],
    shape: Shape,
    stands_alone: Callable[[Unit], bool] = lambda unit: False,
) -> list[Group]:
    """Groups of adjacent sentences that belong together; small talk is left out.

    A unit that `stands_alone` shares its fact only with sentences that lean on it.
    """
    kept = [
        part
        for unit in units
        if unit.kind == "code" or not is_small_talk(unit.text, names)
        for part in split_at_cause(unit)
    ]
    is_long = sum(len(unit.text) for unit in kept) > shape.long_turn
    enough = shape.long_enough if is_long else shape.enough
    longest = shape.long_longest if is_long else shape.longest
    groups: list[list[Unit]] = []
    for unit in _cut_all(kept, shape, longest):
        if groups and _belongs(groups[-1], unit, shape, enough, longest, is_long, stands_alone):
            groups[-1].append(unit)
        elif groups and unit.kind != "prose" and _leads_in(groups[-1][-1]):
            lead = groups[-1].pop()
            groups[-1:] = [groups[-1], [lead, unit]] if groups[-1] else [[lead, unit]]
        else:
            groups.append([unit])
    return [Group(tuple(group)) for group in _merge_short(groups, shape, longest)]


def _leads_in(unit: Unit) -> bool:
    """Whether a sentence announces the list or code behind it."""
    return unit.kind == "prose" and unit.text.rstrip("*_ ").endswith(":")


def leans_back(text: str) -> bool:
    """Whether a sentence starts with a word that points to what was said before it."""
    match = _FIRST_WORD.match(text)
    return match is not None and match[1].casefold().replace("’", "'") in _LEANING


def _belongs(
    group: list[Unit],
    unit: Unit,
    shape: Shape,
    enough: int,
    longest: int,
    is_long: bool,
    stands_alone: Callable[[Unit], bool],
) -> bool:
    last = group[-1]
    length = sum(len(item.text) for item in group)
    if "code" in (last.kind, unit.kind) or length + len(unit.text) > longest:
        return False
    if last.kind != unit.kind:
        return False
    if last.kind == "item" and last.heading != unit.heading:
        return False
    if is_split_off(last, unit) or parts_from(group, unit):
        return False
    if unit.is_aside or leans_back(unit.text):
        return True
    if stands_alone(unit) or any(stands_alone(item) for item in group):
        return False
    counted = sum(len(item.text) >= shape.short for item in group)
    return length < enough and (is_long or counted < shape.sentences)


def _merge_short(groups: list[list[Unit]], shape: Shape, longest: int) -> list[list[Unit]]:
    """A last fact too short to stand alone joins the one before it."""
    merged: list[list[Unit]] = []
    for group in groups:
        size = sum(len(unit.text) for unit in group)
        before = sum(len(unit.text) for unit in merged[-1]) if merged else 0
        same = (
            bool(merged)
            and merged[-1][-1].kind == group[0].kind
            and group[0].kind != "code"
            and not group[0].tail
        )
        if same and size < shape.short and before + size <= longest + shape.short:
            merged[-1].extend(group)
        else:
            merged.append(group)
    return merged


def _cut_all(units: Iterable[Unit], shape: Shape, longest: int) -> Iterator[Unit]:
    for unit in units:
        limit = shape.code if unit.kind == "code" else longest + shape.short
        if len(unit.text) <= limit:
            yield unit
        else:
            yield from _cut(unit, limit)


def _cut(unit: Unit, limit: int) -> Iterator[Unit]:
    """Pieces of a unit of at most `limit` characters; without a parse, which was of the whole."""
    start = 0
    while start < len(unit.text):
        end = min(len(unit.text), start + limit)
        if end < len(unit.text):
            end = _border(unit.text, start, end, "\n" if unit.kind == "code" else "")
        low, high = unit.origin + start, unit.origin + end
        yield replace(
            unit,
            text=unit.text[start:end],
            start=unit.start + start,
            end=unit.start + end,
            tokens=(),
            mentions=tuple(m for m in unit.mentions if low <= m.start and m.end <= high),
            origin=low,
        )
        start = end
        while start < len(unit.text) and unit.text[start].isspace():
            start += 1


def _border(text: str, start: int, end: int, border: str) -> int:
    if border:
        found = text.rfind(border, start + 1, end)
        return found if found > start else end
    cuts = [match.start() for match in _CUT_AT.finditer(text, start + (end - start) // 2, end)]
    return cuts[-1] if cuts else end
