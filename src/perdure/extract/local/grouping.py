"""Grouping the sentences of a turn into facts: one statement each where somebody talks, a few sentences together elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from perdure.domain.orders import reads_like_instructions
from perdure.extract.local.causes import is_split_off, parts_from, split_at_cause
from perdure.extract.local.clauses import (
    has_lone_pronoun,
    is_statement,
    leans_back,
    split_statements,
    starts_leaning,
)
from perdure.extract.local.persons import dropped_subject
from perdure.extract.local.units import Unit, is_bare_line

_TELLING = re.compile(r"\b(?:i|i['’]\w+|my|me|mine|we|we['’]\w+|our|us)\b|\d", re.IGNORECASE)
_CUT_AT = re.compile(r"(?<=[.!?;,:])\s+|\s+")


@dataclass(frozen=True, slots=True)
class Shape:
    """How long facts are, in characters and sentences."""

    short: int = 40
    remark: int = 30
    enough: int = 120
    longest: int = 400
    sentences: int = 3
    long_turn: int = 1000
    long_enough: int = 300
    long_longest: int = 500
    code: int = 1200
    facts: int = 6
    """Of a turn in which somebody talks, unless it is long."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """What grouping asks about the units of a turn."""

    single: bool = False
    """Whether each statement is a fact of its own: somebody talks about themself, and not at length."""
    stands_alone: Callable[[Unit], bool] = lambda unit: False
    """Whether a unit shares its fact only with sentences that lean on it."""
    states: Callable[[Unit], bool] = lambda unit: False
    """Whether a unit states a relation."""
    is_named: Callable[[Unit], bool] = lambda unit: False
    """Whether the pronoun that a unit starts with gets a name."""
    answers: bool = False
    """Whether the first unit answers a question."""


def group_units(units: Sequence[Unit], shape: Shape, about: Statements | None = None) -> list[Group]:
    """Groups of adjacent sentences that belong together."""
    about = about or Statements()
    is_long = sum(len(unit.text) for unit in units) > shape.long_turn
    if is_long:
        about = replace(about, single=False)
    parts = [
        part
        for unit in units
        for half in split_at_cause(unit)
        for part in (split_statements(half, about.states) if about.single else _split_alone(half, about))
    ]
    packer = _Packer(shape, is_long, about)
    for unit in _cut_all(parts, shape, packer.longest):
        packer.take(unit)
    return packer.groups()


def _split_alone(unit: Unit, about: Statements) -> list[Unit]:
    """The sentence's clauses where each can be replaced by itself."""
    if not about.stands_alone(unit):
        return [unit]
    parts = split_statements(unit, about.stands_alone)
    return parts if all(about.stands_alone(part) for part in parts) else [unit]


def is_fragment(unit: Unit) -> bool:
    """Whether a sentence is too little to be a fact: no verb with a subject, not even one that was left out."""
    if unit.kind != "prose" or unit.restated or is_statement(unit):
        return False
    return not dropped_subject(unit.text, unit.tokens, unit.origin)


@dataclass(slots=True)
class _Open:
    """A group that is still growing."""

    units: list[Unit]
    length: int
    counted: int
    """Sentences that are more than a few words."""
    alone: bool


class _Packer:
    """Puts units into groups, one after the other."""

    def __init__(self, shape: Shape, is_long: bool, about: Statements) -> None:
        self._shape = shape
        self._is_long = is_long
        self._about = about
        self._enough = shape.long_enough if is_long else shape.enough
        self.longest = shape.long_longest if is_long else shape.longest
        self._open: list[_Open] = []

    def take(self, unit: Unit) -> None:
        """Add a unit to the last group, or start a group with it."""
        alone = self._about.stands_alone(unit)
        if self._open and self._belongs(self._open[-1], unit, alone):
            self._grow(self._open[-1], unit, alone)
        elif self._open and unit.kind != "prose" and _leads_in(self._open[-1].units[-1]):
            self._take_lead(unit, alone)
        else:
            self._open.append(self._started(unit, alone))

    def groups(self) -> list[Group]:
        """The groups, where one too short to stand alone has joined the one before it."""
        merged: list[_Open] = []
        for group in self._open:
            if merged and self._joins(merged[-1], group):
                self._append(merged[-1], group)
            elif len(merged) == 1 and self._opens(merged[0], group):
                self._append(merged[0], group)
            else:
                merged.append(group)
        if self._about.single:
            self._merge_down(merged)
        return [Group(tuple(group.units)) for group in merged]

    def _opens(self, first: _Open, group: _Open) -> bool:
        """Whether the turn's first words are an exclamation that goes with what follows it."""
        if not self._about.single or self._about.answers or group.units[0].kind != "prose":
            return False
        if not all(is_fragment(unit) for unit in first.units) or first.length >= self._shape.short:
            return False
        return not any(reads_like_instructions(unit.text) for unit in (*first.units, *group.units))

    def _merge_down(self, groups: list[_Open]) -> None:
        """Join neighbours, the shortest first, until a turn has no more facts than it should."""
        while len(groups) > self._shape.facts:
            pairs = [
                (before.length + group.length, place)
                for place, (before, group) in enumerate(pairwise(groups))
                if not (before.alone or group.alone or group.units[0].tail)
                and before.units[-1].kind == group.units[0].kind == "prose"
                and before.length + group.length <= self.longest
            ]
            if not pairs:
                return
            place = min(pairs)[1]
            self._append(groups[place], groups.pop(place + 1))

    @staticmethod
    def _append(before: _Open, group: _Open) -> None:
        before.units.extend(group.units)
        before.length += group.length
        before.counted += group.counted
        before.alone = before.alone or group.alone

    def _started(self, unit: Unit, alone: bool) -> _Open:
        return _Open([unit], len(unit.text), int(len(unit.text) >= self._shape.short), alone)

    def _grow(self, group: _Open, unit: Unit, alone: bool) -> None:
        group.units.append(unit)
        group.length += len(unit.text)
        group.counted += len(unit.text) >= self._shape.short
        group.alone = group.alone or alone

    def _take_lead(self, unit: Unit, alone: bool) -> None:
        """Start a group with the sentence that announces the list or code, and its first part."""
        last = self._open[-1]
        lead = last.units.pop()
        last.length -= len(lead.text)
        if not last.units:
            self._open.pop()
        self._open.append(self._started(lead, False))
        self._grow(self._open[-1], unit, alone)

    def _belongs(self, group: _Open, unit: Unit, alone: bool) -> bool:
        last = group.units[-1]
        if "code" in (last.kind, unit.kind) or group.length + len(unit.text) > self.longest:
            return False
        if last.kind != unit.kind or (last.kind == "item" and last.heading != unit.heading):
            return False
        if is_split_off(last, unit) or parts_from(group.length, unit):
            return False
        if unit.is_aside:
            return True
        if self._about.single and unit.kind == "prose":
            return self._continues(group, unit, alone)
        if starts_leaning(unit.text):
            return True
        if alone or group.alone:
            return False
        return group.length < self._enough and (self._is_long or group.counted < self._shape.sentences)

    def _continues(self, group: _Open, unit: Unit, alone: bool) -> bool:
        """Whether a sentence is no statement of its own: it leans on the one before, or is a fragment."""
        if reads_like_instructions(unit.text) or any(reads_like_instructions(u.text) for u in group.units):
            return False
        if unit.restated or self._about.is_named(unit):
            return False
        if self._states_alone(unit):
            return False
        if leans_back(unit):
            return True
        weak = is_fragment(unit) or unit.is_question or self._is_remark(unit)
        return weak and not alone and not group.alone

    def _states_alone(self, unit: Unit) -> bool:
        """Whether a few words state a value by themselves ("Also allergic to shellfish"), so that it can end by itself."""
        return self._about.states(unit) and not has_lone_pronoun(unit)

    def _is_remark(self, unit: Unit) -> bool:
        """Whether a few words tell nothing of the speaker, of anybody named, or of any time: "Family is everything"."""
        if len(unit.text) >= self._shape.remark or unit.mentions or self._about.states(unit):
            return False
        return _TELLING.search(unit.text) is None

    def _joins(self, before: _Open, group: _Open) -> bool:
        first = group.units[0]
        if first.kind == "code" or first.tail or before.units[-1].kind != first.kind:
            return False
        fits = (
            group.length < self._shape.short
            and before.length + group.length <= self.longest + self._shape.short
        )
        if self._about.single and not all(
            is_fragment(unit) and not self._states_alone(unit) for unit in group.units
        ):
            return False
        return fits and not before.alone and not group.alone


def _leads_in(unit: Unit) -> bool:
    """Whether a sentence announces the list or code behind it."""
    return unit.kind == "prose" and (unit.text.rstrip("*_ ").endswith(":") or is_bare_line(unit.text))


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
            end = (_line_end if unit.kind == "code" else _clause_end)(unit.text, start, end)
        yield replace(unit.part(start, end), tokens=())
        start = end
        while start < len(unit.text) and unit.text[start].isspace():
            start += 1


def _line_end(text: str, start: int, end: int) -> int:
    newline = text.rfind("\n", start + 1, end)
    return newline if newline > start else end


def _clause_end(text: str, start: int, end: int) -> int:
    """The last border of a clause, else of a word, in the second half."""
    cuts = [match.start() for match in _CUT_AT.finditer(text, start + (end - start) // 2, end)]
    return cuts[-1] if cuts else end
