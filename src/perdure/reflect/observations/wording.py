"""How a stated relation reads as a clause."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.text.wordlist import word_set

_PREPOSITIONS = word_set("to at in with by from of for on about as")
_LEADING = word_set("no longer also not used")


def relation_clause(relation: str, objects: Sequence[str]) -> str:
    """`lives in Lisbon`, `likes tea, jazz and rain`, `favourite colour: green`."""
    words = relation.split("_")
    phrase, values = " ".join(words), listed(objects)
    telling = next((word for word in words if word not in _LEADING), words[0])
    if _is_verb(telling) or words[-1] in _PREPOSITIONS:
        return f"{phrase} {values}".strip()
    return f"{phrase}: {values}" if values else phrase


def listed(values: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(values) < 2:
        return "".join(values)
    return f"{', '.join(values[:-1])} and {values[-1]}"


def _is_verb(word: str) -> bool:
    """Return whether a relation's word has the ending of a verb, as `lives`, `likes` or `visited`."""
    return word.endswith(("s", "ed")) and not word.endswith(("ss", "us"))
