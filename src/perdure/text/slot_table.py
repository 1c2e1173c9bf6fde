"""The table of slots: what a subject has one value of at a time, and which statement ends which."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

NO_LONGER = "no_longer_"
"""Prefix of the relation that ends a slot without a word of its own for it."""
ALSO = "also_"
"""Prefix of a value that was said to stand beside the others ("I also work at ...")."""
FAVOURITE = "favourite_"


@dataclass(frozen=True, slots=True)
class Slot:
    """Something that can be said of a subject, and how its values follow each other."""

    name: str
    one: bool
    """Whether a subject has one value at a time."""
    question: str
    """What a value answers, with {subject}."""
    value: str
    """The kind of value."""
    ended_by: str
    """The relation that says a value is over."""
    past: str
    """The relation of a value that was over when it was told."""
    opposite: str
    fills: str
    """The slot whose value this one is too."""


@cache
def slots() -> dict[str, Slot]:
    """Relation -> slot, in the order of the table."""
    return {
        row["name"]: Slot(
            name=row["name"],
            one=row["one"],
            question=row["question"],
            value=row["value"],
            ended_by=row.get("ended_by", NO_LONGER + row["name"]),
            past=row.get("past", ""),
            opposite=row.get("opposite", ""),
            fills=row.get("fills", row["name"]),
        )
        for row in read_toml("slots.toml")["slot"]
    }


def read_toml(name: str) -> dict[str, Any]:
    """A data file of this package."""
    return tomllib.loads(files("perdure.text").joinpath(name).read_text("utf-8"))


@cache
def ending_relations() -> dict[str, tuple[str, ...]]:
    """Relation that ends -> the slots whose values it ends."""
    ends: dict[str, list[str]] = {}
    for slot in slots().values():
        ends.setdefault(slot.ended_by, []).append(slot.name)
    return {relation: tuple(names) for relation, names in ends.items()}


@cache
def past_relations() -> frozenset[str]:
    """Relations of values that were over when they were told."""
    return frozenset(slot.past for slot in slots().values() if slot.past)


def ended_slots(relation: str) -> tuple[str, ...]:
    """The slots whose values a statement of the relation ends; none for a relation that ends nothing."""
    if relation in ending_relations():
        return ending_relations()[relation]
    return (relation.removeprefix(NO_LONGER),) if relation.startswith(NO_LONGER) else ()


def end_of(relation: str) -> str:
    """The relation that says that a value of this one is over."""
    return slots()[relation].ended_by if relation in slots() else NO_LONGER + relation


def slot_family(relation: str) -> frozenset[str]:
    """The relations whose values stand for one another: who is married to somebody has a partner."""
    filled = slots()[relation].fills if relation in slots() else relation
    return frozenset({relation, *(slot.name for slot in slots().values() if slot.fills == filled)})


def question_of(relation: str, subject: str) -> str:
    """The question that a value answers: "Where does Ann live?"."""
    if relation in slots():
        return slots()[relation].question.format(subject=subject)
    return f"What is {subject}'s {relation.replace('_', ' ')}?"


def is_time(relation: str) -> bool:
    """Whether the values are dates or times, which then do not tell since when they hold."""
    return relation in slots() and slots()[relation].value in ("date", "time")


@cache
def nouns_of_slots() -> dict[str, str]:
    """Noun of "my ... is" -> the slot whose value follows, in English."""
    return {
        noun: relation
        for relation, rows in read_toml("slots/en.toml").items()
        for noun in rows.get("nouns", ())
    }


def nouns_of(relation: str) -> frozenset[str]:
    """The nouns by which English speaks of a slot's value; of an open attribute the noun itself."""
    named = frozenset(noun for noun, slot in nouns_of_slots().items() if slot == relation)
    return named or frozenset({relation.replace("_", " ")} if relation not in slots() else ())
