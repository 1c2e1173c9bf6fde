"""Asking: a question without the words that only ask ("can you recommend", "any tips?").

They say nothing of what is looked for, but memory is full of them: every earlier request has them too.
"""

from __future__ import annotations

import re

_NOUNS = r"(?:advice|tips?|suggestions?|recommendations?|ideas?|thoughts|pointers)"
_VERBS = r"(?:recommend|suggest|advise|tell|remind|give|show|help|name|list|share|think of|come up with)"
_ASKING = re.compile(
    rf"\b(?:can|could|would|will) you (?:please |kindly |possibly |maybe |also )?{_VERBS}\b"
    r"(?: me| us)?(?: with| of| about| to find| find)?(?: some| any| a few| a couple of)?\b"
    rf"|\b(?:do|would) you (?:have|know)(?: of)? (?:any|some)(?: good)? {_NOUNS}\b(?: on| for| about| to)?"
    rf"|\b(?:any|some)(?: good| other)? {_NOUNS}\b(?: on| for| about| to)?(?: what| how)?"
    r"|\bwhat (?:would|do) you (?:recommend|suggest|advise|think)\b(?: about| of)?"
    r"|\bplease\b",
    re.IGNORECASE,
)
_LEFT = re.compile(r"[^\W\d_]{3,}")
_LEAST_WORDS = 2


def without_asking(question: str) -> str:
    """The question's content; the question itself when hardly anything would be left."""
    words = _ASKING.sub(" ", question).split()
    bare = " ".join(word for word in words if any(letter.isalnum() for letter in word))
    return bare if len(_LEFT.findall(bare)) >= _LEAST_WORDS else question


_REQUEST = re.compile(
    r"^\s*(?:please\s+)?(?:(?:can|could|would|will) you (?:please )?)?(?:tell|remind|give|show)\s+(?:me|us)(?: again)?(?: of| about)?\s+"
    r"(?=(?:my|our)\b|[A-Z][\w-]*['’]s\b)",
    re.IGNORECASE,
)


def as_question(request: str) -> str:
    """A request for what somebody has as a question for it: "Remind me of my address" -> "What is my address"."""
    return _REQUEST.sub("What is ", request)
