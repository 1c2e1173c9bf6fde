"""How alike two names are, and what keeps them apart for good."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio

from perdure.text.names import full_names, initials, name_tokens, normal_name

_POSSESSIVE = re.compile(r"['’]s?\s")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_ROMAN = re.compile(r"^(?:ii|iii|iv|vi|vii|viii|ix|xi|xii|xiii)$")
_APART: frozenset[str] = frozenset({"person", "place", "organisation"})
_EXACT: frozenset[str] = frozenset({"handle", "url"})
_FUZZY_LENGTH = 5
_FUZZY_FLOOR = 88.0


@dataclass(frozen=True, slots=True)
class Likeness:
    """A score from 0 to 1 and why; `partial` when one name is only a part of the other."""

    score: float
    reason: str
    partial: bool = False


NONE = Likeness(0.0, "nothing in common")


def types_conflict(first: str, second: str) -> bool:
    """Return whether a thing of one type can never be of the other."""
    if first == second:
        return False
    return (first in _APART and second in _APART) or first in _EXACT or second in _EXACT


def numbers_conflict(first: str, second: str) -> bool:
    """Return whether the names carry different numbers (GPT-3 and GPT-4, Rocky II and Rocky III)."""
    return _numbers(first) != _numbers(second)


def _numbers(name: str) -> tuple[str, ...]:
    words = normal_name(name).split()
    return (*_NUMBER.findall(" ".join(words)), *(word for word in words if _ROMAN.match(word)))


def full_names_conflict(first: str, second: str) -> bool:
    """Return whether two names of two words or more belong to different persons."""
    left, right = name_tokens(first), name_tokens(second)
    if len(left) < 2 or len(right) < 2:
        return False
    return left[-1] != right[-1] or not _same_given(left[0], right[0])


def compare(name: str, known: str, kind: str, known_kind: str) -> Likeness:
    """Return how likely two names mean the same thing; zero when something keeps them apart."""
    left, right = normal_name(name), normal_name(known)
    if not left or not right:
        return NONE
    if left == right:
        return Likeness(1.0, f'same name as "{known}"')
    if types_conflict(kind, known_kind):
        return NONE
    if kind in _EXACT or known_kind in _EXACT or numbers_conflict(name, known):
        return NONE
    words, known_words = name_tokens(name), name_tokens(known)
    if words == known_words:
        return Likeness(0.97, f'same as "{known}" but for titles')
    if _abbreviates(name, known):
        return Likeness(0.9, f'"{name}" and "{known}" are short and long form')
    if "person" in (kind, known_kind):
        found = _compare_persons(name, known, words, known_words)
        if found is not None:
            return found
    return _compare_spelling(left, right, known)


def _compare_persons(
    name: str, known: str, words: tuple[str, ...], known_words: tuple[str, ...]
) -> Likeness | None:
    if full_names_conflict(name, known):
        return NONE
    if len(words) == len(known_words) == 1:
        if _same_given(words[0], known_words[0]):
            return Likeness(0.8, f'"{name}" is a form of "{known}"', partial=True)
        return None
    if len(words) > 1 and len(known_words) > 1:
        return Likeness(0.9, f'given name and family name agree with "{known}"')
    if not _is_full_name(known if len(words) < len(known_words) else name):
        return NONE
    short, long = (words, known_words) if len(words) < len(known_words) else (known_words, words)
    if short[0] == long[0]:
        return Likeness(0.85, f'given name of "{known if long is known_words else name}"', partial=True)
    if _same_given(short[0], long[0]):
        return Likeness(0.8, f'short for "{known if long is known_words else name}"', partial=True)
    return NONE


def _is_full_name(name: str) -> bool:
    """Return whether a longer name can be a person's own: "Nora Quist", but not "Nora's manager"."""
    return not _POSSESSIVE.search(name) and all(word[0].isupper() for word in name.split())


def _compare_spelling(left: str, right: str, known: str) -> Likeness:
    if min(len(left), len(right)) < _FUZZY_LENGTH or left[0] != right[0]:
        return NONE
    alike = ratio(left, right, score_cutoff=_FUZZY_FLOOR)
    if not alike:
        return NONE
    return Likeness(round(alike / 100 * 0.9, 3), f'spelled {alike:.0f}% like "{known}"', partial=True)


def _abbreviates(name: str, known: str) -> bool:
    for short, long in ((name, known), (known, name)):
        bare = normal_name(short)
        if 2 <= len(bare) <= 8 and short.isupper() and bare == initials(long):
            return True
    return False


def _same_given(first: str, second: str) -> bool:
    if first == second or first in full_names(second) or second in full_names(first):
        return True
    short, long = sorted((first.rstrip("."), second.rstrip(".")), key=len)
    return len(short) == 1 and long.startswith(short)
