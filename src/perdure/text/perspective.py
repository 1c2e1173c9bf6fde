"""Perspective: whose words a question in the first or second person is about."""

from __future__ import annotations

import re

from perdure.domain.item import AGENT_ROLES, USER_ROLES

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


def asked_roles(question: str) -> frozenset[str]:
    """Roles whose turns the question is about: the agent's for "what did you say", the user's for "my", or none."""
    if _TOLD.search(question):
        return AGENT_ROLES
    return USER_ROLES if _FIRST_PERSON.search(question) else frozenset()


def speaks_of_asker(question: str) -> bool:
    """Return whether a question is in the first person."""
    return _FIRST_PERSON.search(question) is not None
