"""Text that reads like an order to the agent: marked, never dropped."""

from __future__ import annotations

import re

INSTRUCTION = "instruction"

_ORDERS = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?
        (?:previous|prior|above|earlier|preceding|your|the|any|all)\s+(?:\w+\s+){0,3}?
        (?:instructions?|prompts?|rules?|directives?|guidelines?|messages?|context|training|restrictions?|polic(?:y|ies))
    | \b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|prompt)\s*:
    | ^\s*(?:system|assistant|developer)\s*(?:prompt|message|override|note)?\s*:\s*\S
    | <\|?(?:im_start|im_end|system|endoftext)\|?>  | \[/?INST\]  | <</?SYS>>
    | \byou\s+(?:are|must)\s+(?:now|from\s+now\s+on)\b  | \bfrom\s+now\s+on,?\s+(?:you|always|never|act|respond|answer)\b
    | \b(?:act|pretend|behave|respond)\s+as\s+(?:if\s+you|though\s+you|an?\s+(?:unrestricted|uncensored|different|evil))
    | \b(?:reveal|show|print|repeat|leak|output|tell\s+me)\s+(?:\w+\s+){0,3}?(?:system\s+prompt|hidden\s+prompt|instructions)
    | \b(?:do\s+not|don't|never)\s+(?:tell|inform|mention|reveal|alert)\s+(?:this\s+)?(?:to\s+)?(?:the\s+)?(?:user|human|anyone)
    | \b(?:delete|erase|wipe|send|forward|exfiltrate|upload|email)\s+(?:\w+\s+){0,4}?
        (?:all\s+(?:your\s+)?(?:memor(?:y|ies)|data|files)|api\s+keys?|passwords?|credentials|secrets)
    | \b(?:jailbreak|developer\s+mode|dan\s+mode|do\s+anything\s+now)\b
    | \b(?:ai|assistant|agent|model|llm|chatbot)s?\s*(?:reading\s+this|,)?\s+(?:must|should\s+always|shall)\s+
        (?:\w+\s+){0,2}?(?:ignore|obey|comply|execute|follow)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


_SIGNS = (
    "ignore", "disregard", "forget", "override", "bypass", "instruction", "prompt", "system", "assistant", "developer", "<", "inst]",
    "are now", "must now", "from now", "act as", "pretend as", "behave as", "respond as", "user", "human", "anyone", "memor", "data",
    "files", "api", "password", "credential", "secret", "jailbreak", "dan mode", "anything now", "obey", "comply", "execute", "follow",
)  # fmt: skip
"""Every order has one of these in it, and few other texts do: looking for them takes a tenth of the pattern's time."""
_AS_LETTERS = str.maketrans("İıſ\u212a", "iisk")
"""Signs that the pattern, which ignores case, takes for plain letters."""


def reads_like_instructions(text: str) -> bool:
    """Whether the text tries to steer the agent that will read it."""
    plain = " ".join(text.split())
    folded = (plain if plain.isascii() else plain.translate(_AS_LETTERS)).lower()
    return any(sign in folded for sign in _SIGNS) and _ORDERS.search(text) is not None
