"""What a sentence says somebody does or is for good, in words that no table of slots knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from perdure.text.assertion import is_plain_statement, parts_of
from perdure.text.clauses import clauses, expand
from perdure.text.sentence import is_readable
from perdure.text.wordlist import word_set

_FEELINGS = word_set(
    "think know feel hope love like want need say mean believe guess agree look sound seem make get let help find see hear wish understand care remember "
    "appreciate enjoy thank miss realize realise notice suppose bet doubt wonder worry try ask tell call matter happen remind show inspire bring give come "
    "start stop begin end hold hear talk wait stand deserve glad excite admire value treasure believe imagine promise swear can keep"
)
"""Verbs of what passes through the mind, or happens once."""
_EMPTY = word_set(
    "it that this them these those one thing things something anything everything nothing lot bit way time times people person life day week year fun love support "
    "myself you me us him her everyone someone anyone world moment idea part kind sort sense difference journey"
)
_OBJECT = re.compile(
    r"\s*(?:(?:all|mostly|usually|always|only|really|just|still|often)\s+)*(?:(?:my|our|the|all)\s+\w+ing\s+)?(?:(?P<link>at|in|on|with|for|by|to|from|as|through|via)\s+)?"
    r"(?P<object>(?:(?:the|a|an|my|our|his|her|their)\s+)?[\w'&+.-]+(?:\s+(?!(?:at|in|on|with|for|by|to|from|as|and|but|so|because|every|each|when|since|which|who|that|now|these|today|where|if|or|is|are|was|were)\b)[\w'&+.-]+){0,3})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Habit:
    """A verb and its object: "sing in", "the choir"."""

    verb: str
    object: str


@lru_cache(maxsize=4096)
def habit_of(text: str) -> Habit | None:
    """What the subject of a sentence does or has in the present; None where it tells of a feeling, a moment or nothing."""
    if not is_readable(text) or text.rstrip().endswith("?"):
        return None
    if not is_plain_statement(next(iter(parts_of(text)), "")):
        return None
    clause = next(clauses(expand(text)), None)
    if clause is None or clause.meant not in ("fact", "progressive") or clause.verb in _FEELINGS:
        return None
    if clause.noun is None and clause.subject not in ("i", "we", "he", "she"):
        return None
    match = _OBJECT.match(clause.rest)
    if match is None or (clause.verb == "be" and match["link"] not in ("on", "with", "at", "in")):
        return None
    value = re.sub(
        r"^(?:the|a|an|my|our|his|her|their)\s+", "", match["object"].strip(" .,"), flags=re.IGNORECASE
    )
    words = value.casefold().split()
    if not words or words[-1] in _EMPTY or (clause.verb == "be" and not value[:1].isupper()):
        return None
    return Habit(f"{clause.verb} {match['link'] or ''}".strip(), value)
