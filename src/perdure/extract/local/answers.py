"""Joining an answer to its question, so that "Yes, in Lisbon" says what was asked."""

from __future__ import annotations

import re

from perdure.extract.local.smalltalk import is_small_talk
from perdure.extract.local.units import Unit
from perdure.text.wordlist import word_set

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_REPLY = word_set(
    "yes yeah yep yup no nope nah sure definitely absolutely maybe probably exactly correct right indeed totally "
    "sometimes never always mostly usually actually"
)
_POINTING = word_set(
    "it it's its that that's thats this these those they they're he he's she she's them there"
)
_SUBJECTS = word_set("i i'm i've i'd i'll we we're we've you he she they my our")
_LONGEST_QUESTION = 200
_SHORT_ANSWER = 8
_FEW_WORDS = 6
_MINE = (
    ["me"],
    ["mine"],
    ["i", "do"],
    ["i", "did"],
    ["i", "am"],
    ["not", "me"],
    ["i", "don't"],
    ["i", "didn't"],
)


def last_question(units: list[Unit], names: frozenset[str]) -> str:
    """The question that a turn ends with, empty when it asks nothing of content."""
    for unit in reversed(units):
        if unit.is_question and not is_small_talk(unit.text, names):
            return unit.text if len(unit.text) <= _LONGEST_QUESTION else ""
        if not is_small_talk(unit.text, names) and not unit.is_aside:
            return ""
    return ""


def needs_question(unit: Unit) -> bool:
    """Whether a sentence cannot be understood without what was asked: a bare reply, a fragment, "it was"."""
    words = [word.replace("’", "'") for word in _WORD.findall(unit.text.casefold())]
    if not words or unit.kind == "code":
        return False
    if words[0] in _REPLY or words[0] in _POINTING:
        return True
    if len(words) <= _FEW_WORDS and words[0] not in _SUBJECTS:
        return True
    return len(words) <= _SHORT_ANSWER and not _is_clause(unit, words)


def is_reply(unit: Unit) -> bool:
    """Whether a sentence is a bare yes, no or "me", which means something only after a question."""
    words = [word.replace("’", "'") for word in _WORD.findall(unit.text.casefold())]
    return 0 < len(words) <= _FEW_WORDS and (words[0] in _REPLY or words in _MINE)


def _is_clause(unit: Unit, words: list[str]) -> bool:
    if unit.tokens:
        return any(token.dep in ("nsubj", "nsubjpass") for token in unit.tokens)
    return bool(_SUBJECTS.intersection(words[:3]))
