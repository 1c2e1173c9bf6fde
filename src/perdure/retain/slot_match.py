"""Whether two facts speak of the same slot of the same subject, and whether their values are the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio

from perdure.domain.fact import Fact
from perdure.text.names import name_tokens, normal_name
from perdure.text.relation_table import is_single_valued
from perdure.text.slot_table import slot_family, slots
from perdure.text.voice import voice_of
from perdure.text.wordlist import word_set

_ALIKE = 92.0
_OF_A_THING = frozenset({"date", "time", "value"})
_STATE_OF_A_THING = frozenset({"location", "status"})
_GENERIC = word_set(
    "car vehicle dog cat pet job phone it place flat house boyfriend girlfriend husband wife partner medication meds"
)
_LINKING = word_set("called named of the a an my our and old mg mcg ml")
_NUMBER = re.compile(r"\d[\d.,]*")
_PHONE_DIGITS = 7
"""Digits from which a number is a phone number, told by its last ones however it is written."""


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """Whose slot it is ("" for a thing that nobody owns) and which."""

    owner: str
    label: str
    """The slot's name, or the noun of an open attribute."""
    is_open: bool


def place_of(fact: Fact) -> SlotPlace | None:
    """The slot that a fact speaks of; None for what is no statement of one."""
    if not fact.subject or not fact.relation:
        return None
    subject = normal_name(fact.subject)
    if fact.relation in _OF_A_THING:
        return SlotPlace("", subject, True)
    if fact.relation in _STATE_OF_A_THING:
        return SlotPlace("", f"{fact.relation} of {subject}", False)
    if fact.relation in slots():
        return SlotPlace(subject, min(slot_family(fact.relation)), False)
    if not is_single_valued(fact.relation):
        return SlotPlace(subject, fact.relation, False)
    is_attribute = not fact.relation.startswith(("uses_", "favourite_"))
    return SlotPlace(subject, fact.relation.replace("_", " "), is_attribute)


def same_place(new: Fact, place: SlotPlace, old: Fact, old_place: SlotPlace) -> bool:
    """Whether two facts speak of one slot; a thing may be named more shortly later on ("the appointment")."""
    if not place.is_open or not old_place.is_open:
        return place.label == old_place.label and same_subject(new, old)
    words, old_words = place.label.split(), old_place.label.split()
    if words[-1] != old_words[-1] or not (
        set(words) <= set(old_words) or (set(old_words) < set(words) and not place.owner)
    ):
        return False
    if place.owner == old_place.owner:
        return True
    if place.owner and old_place.owner:
        return same_subject(new, old)
    ownerless, owner = (new, old_place.owner) if not place.owner else (old, place.owner)
    voice = voice_of(ownerless.speaker)
    return voice is not None and normal_name(voice.name) == owner


def same_subject(first: Fact, second: Fact) -> bool:
    """Whether two facts are about the same person or thing: by name, or by whose brother it is where a fact says the name."""
    left, right = normal_name(first.subject or ""), normal_name(second.subject or "")
    if left == right:
        return bool(left)
    return _names_kin(first, second) or _names_kin(second, first)


def _names_kin(kin: Fact, named: Fact) -> bool:
    """Whether the one fact's "Ann's brother" is the other's "Tom", who it says is Ann's brother."""
    subject = kin.subject or ""
    if "'s " not in subject or not named.subject or "'s " in named.subject:
        return False
    owner, _, word = subject.partition("'s ")
    voice = voice_of(named.speaker)
    mine = voice is not None and normal_name(voice.name) == normal_name(owner)
    possessive = rf"(?:{re.escape(owner)}['’]s{'|my|our' if mine else ''})"
    pattern = (
        rf"\b{possessive}\s+{re.escape(word)},?\s+(?:is\s+(?:called|named)\s+)?{re.escape(named.subject)}\b"
    )
    return re.search(pattern, f"{named.source_text} {named.text}", re.IGNORECASE) is not None


def same_value(first: str, second: str) -> bool:
    """Whether two objects are the same, or one says the other more exactly ("Lisbon, Portugal")."""
    left, right = normal_name(first), normal_name(second)
    if left == right:
        return True
    if "@" in first or "@" in second:
        return False
    left_digits, right_digits = (re.sub(r"\D", "", text) for text in (first, second))
    if min(len(left_digits), len(right_digits)) >= _PHONE_DIGITS:
        return left_digits[-_PHONE_DIGITS:] == right_digits[-_PHONE_DIGITS:]
    left_words, right_words = set(name_tokens(first)), set(name_tokens(second))
    if left_words and right_words and (left_words <= right_words or right_words <= left_words):
        return True
    digits = any(char.isdigit() for char in left + right)
    return not digits and ratio(left, right) >= _ALIKE


def ends_value(ended: str, value: str, *, single: bool) -> bool:
    """Whether the end of one value is the end of another: of the same, or, of a single one, of whatever it was."""
    if not ended or (single and normal_name(ended) in _GENERIC):
        return True
    return mentions_value(ended, value) or same_value(ended, value)


def mentions_value(text: str, value: str) -> bool:
    """Whether the words of the one hold those of the other, "the Octavia" for "Skoda Octavia" included."""
    words, value_words = _telling(text), _telling(value)
    return bool(words and value_words) and (words <= value_words or value_words <= words)


def _telling(text: str) -> set[str]:
    return {word for word in normal_name(text).split() if word not in _LINKING}


def same_apart_from_numbers(first: str, second: str) -> bool:
    """Whether two objects differ in their numbers alone: "50 mg sertraline", "100 mg sertraline"."""
    numbers = _NUMBER.findall(first), _NUMBER.findall(second)
    if numbers[0] == numbers[1] or not all(numbers):
        return False
    left, right = (_telling(_NUMBER.sub(" ", text)) for text in (first, second))
    return bool(left) and (left <= right or right <= left)
