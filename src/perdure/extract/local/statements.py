"""Sentences that state two things which later ones may replace, each as a sentence of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from perdure.extract.local.units import Unit
from perdure.ports.tagger import Token
from perdure.text.relation_table import patterns_by_verb

_SUBJECTS = ("nsubj", "nsubjpass")


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
    found = []
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
            found.append(_Joint(end, begin, shared))
    return found


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
    said = unit.text[begin:end].rstrip(" ,;")
    text = subject + (said if subject else said[:1].upper() + said[1:])
    low, high = unit.origin + begin, unit.origin + begin + len(said)
    return replace(
        unit,
        text=text if text[-1:] in ".!" else f"{text}.",
        start=unit.start + begin,
        end=unit.start + begin + len(said),
        mentions=tuple(m for m in unit.mentions if low <= m.start and m.end <= high),
        origin=low - len(subject),
    )
