"""Sentences that leave their subject out, as chat does: "Lost my job yesterday"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.extract.local.units import Unit
from perdure.ports.tagger import Token
from perdure.text import verbs

_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
_FIRST = re.compile(r"([A-Za-z]+(?:['’][a-z]+)?)\s+([A-Za-z]+)?")
_DROPPED = {
    "can't": "I",
    "couldn't": "I",
    "hope": "I",
    "wish": "I",
    "gotta": "I",
    "wanna": "I",
    "gonna": "I am",
}
_PLAIN_PAST = verbs.PAST - {"was", "were", "had", "did", "found", "left", "felt", "given"}
_FRAGMENT_START = re.compile(
    r"(?:\w+ing|love|loved|so|such|what a|totally|excited|happy|glad|just|been|sounds|looks|must|great|congrats|no|not|"
    r"yes|yeah|any|same)\b(?! (?:i|we|you|he|she|it|they|my|the)\b)",
    re.IGNORECASE,
)


def dropped_subject(text: str, tokens: Sequence[Token] = (), origin: int = 0) -> str:
    """What to put before a sentence whose verb comes first ("I", "I am"); empty when nothing is missing."""
    match = _FIRST.match(text)
    if match is None:
        return ""
    first = match[1].casefold().replace("’", "'")
    following = (match[2] or "").casefold()
    if first in _DROPPED:
        return "" if following in ("", "is", "was", "be") else _DROPPED[first]
    if first in _PLAIN_PAST and following in ("my", "a", "the", "to", "with", "an", "some"):
        return "I"
    if first.endswith("ed") and verbs.is_past(first) and following in ("my", "a", "the", "an"):
        return "I"
    token = next((token for token in tokens if token.start == origin), None)
    if token is not None:
        return (
            "I"
            if token.tag == "VBD" and token.dep in ("ROOT", "ccomp", "advcl") and first not in ("was", "were")
            else ""
        )
    return ""


def has_no_subject(unit: Unit) -> bool:
    """A fragment such as "Gonna be great": who it is about is left open."""
    if dropped_subject(unit.text, unit.tokens, unit.origin):
        return False
    if unit.tokens and not unit.tail:
        return not any(token.dep in _SUBJECTS for token in unit.tokens)
    return _FRAGMENT_START.match(unit.text) is not None
