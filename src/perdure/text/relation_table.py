"""The table of relation patterns, indexed by verb."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from perdure.text import verbs
from perdure.text.slot_table import ALSO, NO_LONGER, ending_relations, past_relations, slots
from perdure.text.wordlist import word_set

ObjectKind = Literal["any", "name", "place", "person", "organisation", "possession"]
Tense = Literal["present", "past", "gerund"]

_IRREGULAR = {
    "get": "got", "take": "took", "find": "found", "leave": "left", "quit": "quit", "be": "was", "have": "had",
    "come": "came", "bear": "born", "grow": "grew", "become": "became", "meet": "met", "know": "knew", "lead": "led",
    "run": "ran", "teach": "taught", "buy": "bought", "write": "wrote", "fly": "flew", "go": "went", "speak": "spoke",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way a relation is worded."""

    relation: str
    verbs: frozenset[str]
    middle: frozenset[str]
    after: frozenset[str]
    object: ObjectKind
    single: bool
    past: str
    denied: str
    ended: str
    passive: bool
    event: bool
    """Whether it comes about at one time: "is moving to Lyon" is a plan, not a place to live."""


@dataclass(frozen=True, slots=True)
class VerbForm:
    """What a word may be a form of."""

    lemma: str
    tense: Tense


@cache
def patterns_by_verb() -> dict[str, tuple[Pattern, ...]]:
    """Verb lemma -> its patterns, in the order of the table."""
    raw = tomllib.loads(files("perdure.text").joinpath("relations.toml").read_text("utf-8"))
    index: dict[str, list[Pattern]] = {}
    for row in raw["relation"]:
        pattern = Pattern(
            relation=row["name"],
            verbs=frozenset(row["verbs"].split()),
            middle=frozenset(row.get("middle", "").split()),
            after=frozenset(row.get("after", "").split()),
            object=row["object"],
            single=row.get("single", False),
            past=row.get("past", ""),
            denied=row.get("denied", ""),
            ended=row.get("ended", ""),
            passive=row.get("passive", False),
            event=row.get("event", False),
        )
        for verb in sorted(pattern.verbs):
            index.setdefault(verb, []).append(pattern)
    return {verb: tuple(rows) for verb, rows in index.items()}


@cache
def single_valued_relations() -> frozenset[str]:
    """The relations of the table of slots of which a subject has one object at a time."""
    return frozenset(slot.name for slot in slots().values() if slot.one)


@cache
def _other_relations() -> frozenset[str]:
    """Relations of which a subject may have several objects, those that are over and those that end others included."""
    rows = [row for rows in patterns_by_verb().values() for row in rows]
    stated = {name for row in rows for name in (row.relation, row.past, row.denied, row.ended) if name}
    several = {slot.name for slot in slots().values() if not slot.one}
    return frozenset(
        (stated | several | past_relations() | ending_relations().keys()) - single_valued_relations()
    )


def is_single_valued(relation: str) -> bool:
    """Whether a relation has one current object per subject.

    By the table of slots; what neither table knows is an open attribute ("dentist", "wifi_password"), a definite noun
    and so single-valued, unless it is a kin word (brother_of), begins with a verb, or says that something is over.
    """
    if relation in single_valued_relations() or relation.startswith("uses_"):
        return True
    if relation in _other_relations() or relation.endswith("_of") or relation.startswith((NO_LONGER, ALSO)):
        return False
    first = relation.partition("_")[0]
    return bool(first) and (
        first in _NOUNS or not (first in verb_forms() or verbs.is_past(first) or _is_present(first))
    )


def _is_present(word: str) -> bool:
    """Whether a word is the third person of a verb ("enjoys")."""
    return (
        word.endswith("s")
        and (word[:-1] in verbs.PRESENT or word.removesuffix("es") in verbs.PRESENT)
        and word not in _NOUNS
    )


_NOUNS = word_set(
    "hours shifts sales plans results rates terms meeting wedding training building opening closing hearing number size"
)


@cache
def verb_forms() -> dict[str, VerbForm]:
    """Word -> the table verb it is a form of, for texts without a parse."""
    forms: dict[str, VerbForm] = {}
    for lemma in patterns_by_verb():
        forms.setdefault(_past(lemma), VerbForm(lemma, "past"))
        forms.setdefault(_gerund(lemma), VerbForm(lemma, "gerund"))
        forms.setdefault(verbs.third_person(lemma), VerbForm(lemma, "present"))
    for word in ("is", "are"):
        forms[word] = VerbForm("be", "present")
    forms["were"] = VerbForm("be", "past")
    forms["bes"] = forms["is"]
    forms["has"] = VerbForm("have", "present")
    return forms


def _past(lemma: str) -> str:
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma]
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + "ed"


def _gerund(lemma: str) -> str:
    if lemma == "run":
        return "running"
    return (lemma[:-1] if lemma.endswith("e") and lemma != "be" else lemma) + "ing"
