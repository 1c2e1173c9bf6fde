"""Whether a text tells what another one says: by the words and numbers that both have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perdure.text.names import normal_name
from perdure.text.terms import index_terms

RETOLD_AT = 0.5
"""Share of the words that tell something which must be told again."""
_NUMBER = re.compile(r"\d+")


def is_retold(said: str, told: Iterable[str], at: float = RETOLD_AT) -> bool:
    """Return whether the texts have all numbers of what was said, and enough of its other words, whatever their endings."""
    joined = " ".join(told)
    if not set(_NUMBER.findall(said)) <= set(_NUMBER.findall(joined)):
        return False
    terms = set(index_terms(said))
    return not terms or len(terms & set(index_terms(joined))) >= at * len(terms)


def shares_words(text: str, said: str) -> bool:
    """Return whether a text has a word that tells something in common with what was said; one without such words has none to miss."""
    terms = set(index_terms(text))
    return not terms or not terms.isdisjoint(index_terms(said))


def normal_words(text: str) -> list[str]:
    """Return the words of a text in the form of names, in order."""
    return [word for piece in text.split() for word in normal_name(piece).split()]


def overlap(start: int, end: int, other_start: int, other_end: int) -> float:
    """Return the share of the first span that the other one covers."""
    return max(0, min(end, other_end) - max(start, other_start)) / max(end - start, 1)
