"""Questions: what they look for without the words that only ask, whether they ask for a time alone, and whose words they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from perdure.domain.item import AGENT_ROLES, USER_ROLES
from perdure.text.terms import fold
from perdure.text.wordlist import read_words

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
_REQUEST = re.compile(
    r"^\s*(?:please\s+)?(?:(?:can|could|would|will) you (?:please )?)?(?:tell|remind|give|show)\s+(?:me|us)(?: again)?(?: of| about)?\s+"
    r"(?=(?:my|our)\b|[A-Z][\w-]*['’]s\b)",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\byou(?:'ve| have| had)?\s+(?:\w+\s+){0,2}"
    r"(?:said|told|mentioned|recommended|suggested|gave|given|provided|listed|explained|wrote|shared|described|advised|showed|helped)\b"
    r"|\bdid you (?:\w+\s+)?(?:say|tell|mention|recommend|suggest|give|provide|list|explain|write|share|describe|advise)\b"
    r"|\bour (?:previous|last|earlier|past) (?:\w+ )?(?:conversations?|chats?|discussions?|talks?)\b"
    r"|\byour (?:previous|last|earlier) (?:answer|reply|message|suggestion|recommendation)s?\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|me|my|mine|myself|we|our|ours|ich|mich|mir|mein(?:e[mnrs]?)?|wir|uns|unser(?:e[mnrs]?)?|yo|mí|mis?|conmigo|nosotr[oa]s|nuestr[oa]s?|je|moi|mon|mes|nous|notre|nos)\b"
    r"|\bj['’](?=\w)",
    re.IGNORECASE,
)
_THE_USER = re.compile(r"\bthe user\b", re.IGNORECASE)
_LEFT = re.compile(r"[^\W\d_]{3,}")
_LEAST_WORDS = 2
_WORD = re.compile(r"[^\W_]+")
_WORDS = read_words("asking.toml")
_SAYING = frozenset(map(fold, _WORDS["said"].split()))
_ONLY_ASKING = _SAYING | frozenset(map(fold, _WORDS["asking"].split()))


def without_asking(question: str) -> str:
    """Return a question without the words that only ask ("can you recommend"); the question itself if hardly anything is left.

    They say nothing of what is looked for, but memory is full of them: every earlier request has them too.
    """
    words = _ASKING.sub(" ", question).split()
    bare = " ".join(word for word in words if any(letter.isalnum() for letter in word))
    return bare if len(_LEFT.findall(bare)) >= _LEAST_WORDS else question


def as_question(request: str) -> str:
    """Return a request for what somebody has as a question for it: "Remind me of my address" -> "What is my address"."""
    return _REQUEST.sub("What is ", request)


def asked_roles(question: str) -> frozenset[str]:
    """Return the roles whose turns the question is about: the agent's for "what did you say", the user's for "my", or none."""
    if _TOLD.search(question):
        return AGENT_ROLES
    return USER_ROLES if _FIRST_PERSON.search(question) else frozenset()


def speaks_of_user(question: str) -> bool:
    """Return whether a question is in the first person, or about "the user"."""
    return speaks_of_asker(question) or _THE_USER.search(question) is not None


def speaks_of_asker(question: str) -> bool:
    """Return whether a question is in the first person."""
    return _FIRST_PERSON.search(question) is not None


@dataclass(frozen=True, slots=True)
class OnlyTime:
    """A question that names a time and nothing else: "What did we talk about yesterday?", "Summarise May 2026"."""

    told: bool
    """Whether it asks for what was said then, rather than for what happened."""


def only_asks(question: str, names: Iterable[str]) -> bool:
    """Return whether a question has no word beyond the names in it that says what is looked for: "What is known of Ann?"."""
    named = {fold(word) for name in names for word in _WORD.findall(name)}
    words = {fold(word.replace("’", "'")) for word in _WORD.findall(question)}
    return words <= _ONLY_ASKING | named


def read_only_time(question: str, times: Iterable[tuple[int, int]]) -> OnlyTime | None:
    """Return the question if every word next to its times only asks, in one of four languages; else None.

    `times` are the start and end of each time in the text.
    """
    rest = question
    for start, end in sorted(times, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    words = [fold(word.replace("’", "'")) for word in _WORD.findall(rest)]
    if rest == question or not words or any(word not in _ONLY_ASKING for word in words):
        return None
    return OnlyTime(told=any(word in _SAYING for word in words))
