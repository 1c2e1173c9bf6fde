"""Grouping the sentences of a turn into facts; sentences that state two things are split first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from perdure.extract.local.causes import is_split_off, parts_from, split_at_cause
from perdure.extract.local.smalltalk import is_small_talk
from perdure.extract.local.units import Unit, is_bare_line
from perdure.ports.tagger import Token
from perdure.text.relation_table import patterns_by_verb
from perdure.text.wordlist import word_set

_FIRST_WORD = re.compile(r"\W*([^\W\d_]+(?:['’][^\W\d_]+)*)")
_LEANING = word_set("""
it it's its that that's this these those they they're them he he's she she's her his their also and but so because then
there which such another both either neither too plus therefore thus hence however though although still yet otherwise
instead meanwhile anyway besides especially even since
""")
_CUT_AT = re.compile(r"(?<=[.!?;,:])\s+|\s+")

_SUBJECTS = ("nsubj", "nsubjpass")


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
    keep_first: bool = False,
) -> list[Group]:
    """Groups of adjacent sentences that belong together; small talk is left out.

    A unit that `stands_alone` shares its fact only with sentences that lean on it. With `keep_first` the first
    unit stays even if it would be small talk elsewhere ("Me." after a question).
    """
    kept = [
        part
        for number, unit in enumerate(units)
        if unit.kind == "code" or (keep_first and number == 0) or not is_small_talk(unit.text, names)
        for half in split_at_cause(unit)
        for part in split_statements(half, stands_alone)
    ]
    is_long = sum(len(unit.text) for unit in kept) > shape.long_turn
    packer = _Packer(shape, is_long, stands_alone)
    for unit in _cut_all(kept, shape, packer.longest):
        packer.take(unit)
    return packer.groups()


def leans_back(text: str) -> bool:
    """Whether a sentence starts with a word that points to what was said before it."""
    match = _FIRST_WORD.match(text)
    return match is not None and match[1].casefold().replace("’", "'") in _LEANING


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

    def __init__(self, shape: Shape, is_long: bool, stands_alone: Callable[[Unit], bool]) -> None:
        self._shape = shape
        self._is_long = is_long
        self._stands_alone = stands_alone
        self._enough = shape.long_enough if is_long else shape.enough
        self.longest = shape.long_longest if is_long else shape.longest
        self._open: list[_Open] = []

    def take(self, unit: Unit) -> None:
        """Add a unit to the last group, or start a group with it."""
        alone = self._stands_alone(unit)
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
                merged[-1].units.extend(group.units)
                merged[-1].length += group.length
            else:
                merged.append(group)
        return [Group(tuple(group.units)) for group in merged]

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
        if unit.is_aside or leans_back(unit.text):
            return True
        if alone or group.alone:
            return False
        return group.length < self._enough and (self._is_long or group.counted < self._shape.sentences)

    def _joins(self, before: _Open, group: _Open) -> bool:
        first = group.units[0]
        if first.kind == "code" or first.tail or before.units[-1].kind != first.kind:
            return False
        fits = (
            group.length < self._shape.short
            and before.length + group.length <= self.longest + self._shape.short
        )
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


def split_statements(unit: Unit, stands_alone: Callable[[Unit], bool]) -> list[Unit]:
    """The clauses joined by "and", where each stands alone; else the sentence.

    A fact is replaced as a whole: "I work at Acme and live in Rome" as one would be gone with the job.
    """
    if unit.kind != "prose" or not unit.tokens or unit.is_question or not stands_alone(unit):
        return [unit]
    joints = _joints(unit)
    begins = [0, *(joint.begin for joint in joints)]
    ends = [*(joint.end for joint in joints), len(unit.text)]
    subjects = ["", *(joint.subject for joint in joints)]
    parts = [_clause(unit, *place) for place in zip(begins, ends, subjects, strict=True)]
    return parts if len(parts) > 1 and all(stands_alone(part) for part in parts) else [unit]


@dataclass(frozen=True, slots=True)
class _Joint:
    """Where a clause ends and the next begins in the unit's text, and the subject that the next leaves out."""

    end: int
    begin: int
    subject: str


def _joints(unit: Unit) -> list[_Joint]:
    tokens = unit.tokens
    joints = []
    for index, token in enumerate(tokens):
        if token.dep != "conj" or token.lemma.casefold() not in patterns_by_verb():
            continue
        place = _joining_word(tokens, index, token.head)
        if place is None:
            continue
        shared = "" if _subject(tokens, index) else _short_subject(tokens, token.head)
        if not shared and not _subject(tokens, index):
            continue
        end, begin = tokens[place].start - unit.origin, tokens[place + 1].start - unit.origin
        if 0 < end < begin < len(unit.text):
            joints.append(_Joint(end, begin, shared))
    return joints


def _joining_word(tokens: Sequence[Token], verb: int, head: int) -> int | None:
    """The "and" or "but" before a joined verb."""
    for index in range(verb - 1, head, -1):
        if tokens[index].dep == "cc" and tokens[index].head in (head, verb):
            return index
    return None


def _subject(tokens: Sequence[Token], verb: int) -> Token | None:
    return next((token for token in tokens if token.head == verb and token.dep in _SUBJECTS), None)


def _short_subject(tokens: Sequence[Token], verb: int) -> str:
    """The verb's subject where it is "I" or a name of one word, which can be said again."""
    subject = _subject(tokens, verb)
    if subject is None or any(t.head == tokens.index(subject) and t is not subject for t in tokens):
        return ""
    return f"{subject.text} " if subject.text == "I" or subject.pos == "PROPN" else ""


def _clause(unit: Unit, begin: int, end: int, subject: str) -> Unit:
    """A clause as a sentence of its own, beginning with the subject that it leaves out."""
    part = unit.part(begin, begin + len(unit.text[begin:end].rstrip(" ,;")))
    text = subject + part.text if subject else part.text[:1].upper() + part.text[1:]
    return replace(part, text=text if text[-1:] in ".!" else f"{text}.", origin=part.origin - len(subject))
