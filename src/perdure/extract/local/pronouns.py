"""Putting a name for "he" or "she" at the start of a fact, where only one person can be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from perdure.extract.local.mentions import clean_name
from perdure.extract.local.units import Unit
from perdure.text.names import normal_name
from perdure.text.voice import Voice

Gender = Literal["he", "she"]

_START = re.compile(r"(He|She|His|Her)\b(?:['’](s|d|ll)\b)?(?=\s)")
_KIN: dict[str, Gender] = {
    **dict.fromkeys(("mom", "mother", "mum", "sister", "daughter", "wife", "girlfriend", "grandma", "grandmother",
                     "aunt", "niece", "fiancée"), "she"),
    **dict.fromkeys(("dad", "father", "brother", "son", "husband", "boyfriend", "grandpa", "grandfather", "uncle",
                     "nephew", "fiancé"), "he"),
}  # fmt: skip
_OTHER_KIN = ("friend", "cousin", "boss", "manager", "roommate", "partner", "colleague", "coworker", "neighbor",
              "therapist", "doctor", "teacher", "dog", "cat", "puppy", "kitten")  # fmt: skip
_MY_KIN = re.compile(
    rf"\b[Mm]y ((?:(?:older|younger|little|big|twin|best|old|new) )?({'|'.join([*_KIN, *_OTHER_KIN])}))(?: ([A-Z][a-z]+))?\b"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody a pronoun may stand for."""

    name: str
    gender: Gender | None = None


def people_in(units: Iterable[Unit], speaker: Voice | None) -> list[Person]:
    """The persons that some sentences speak of, without the speaker."""
    people: dict[str, Person] = {}
    for unit in units:
        named_kin: set[str] = set()
        if speaker is not None:
            for match in _MY_KIN.finditer(unit.text):
                name = match[3] or f"{speaker.possessive} {match[1]}"
                named_kin.add(normal_name(name))
                people[normal_name(name)] = Person(name, _KIN.get(match[2]))
        for mention in unit.mentions:
            name = clean_name(mention.text) if mention.type == "person" else ""
            key = normal_name(name)
            if key and key not in people and not (speaker and key == normal_name(speaker.name)):
                people[key] = Person(name)
    return list(people.values())


def put_name(text: str, people: list[Person]) -> str:
    """The sentence with a name for the pronoun it starts with, when just one of `people` fits it."""
    match = _START.match(text)
    if match is None:
        return text
    gender: Gender = "he" if match[1] in ("He", "His") else "she"
    if len(people) != 1 or people[0].gender not in (None, gender):
        return text
    name = people[0].name[:1].upper() + people[0].name[1:]
    if match[1] == "His" or (match[1] == "Her" and match[2] is None):
        return f"{name}'s{text[match.end() :]}"
    tail = {"s": "'s", "d": "'d", "ll": "'ll"}.get(match[2] or "", "")
    return f"{name}{tail}{text[match.end() :]}"
