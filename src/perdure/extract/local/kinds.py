"""What kind of statement a text is: type of fact, how surely a taste or belief is put, and whether it is an order to the agent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.domain.fact import FactType

_SURE = re.compile(
    r"\b(?:i(?:'m| am) (?:sure|certain|convinced|positive)|i know (?:that|for sure)|definitely|without a doubt|no doubt"
    r"|absolutely|i swear|always been my)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|not sure|i guess|i suppose|kind of|kinda|sort of|probably|could be|i wonder)\b",
    re.IGNORECASE,
)
_BELIEF = re.compile(
    r"\b(?:i (?:really |truly |honestly |personally |still |just |also |do |don't |firmly |strongly )*"
    r"(?:think|believe|feel (?:like|that)|reckon|guess|suppose|suspect|doubt|agree|disagree|consider|find (?:it|that|this))"
    r"|in my (?:opinion|view|experience|book)|if you ask me|it seems(?: to me)?|imo|imho|i'd say|i would say"
    r"|(?:should|shouldn't|ought to) (?:be|have|never|always))\b",
    re.IGNORECASE,
)
_TASTE = re.compile(
    r"\b(?:i (?:really |absolutely |just |truly |also |still |don't |do |always |much |totally )*"
    r"(?:like|love|enjoy|adore|prefer|hate|dislike|loathe|despise|can't stand|admire|appreciate|fancy|dig)"
    r"|my (?:absolute |all-time |new |current )?fav(?:ou?rite)?|i'd rather|i would rather|i(?:'m| am) (?:a (?:big |huge )?fan of"
    r"|into|fond of|obsessed with|passionate about|not (?:a (?:big |huge )?fan|into)))\b",
    re.IGNORECASE,
)
_JUDGEMENT = re.compile(
    r"\b(?:is|are|was|were|'s|'re|it's|that's) (?:so|really|pretty|very|the|such a|absolutely|quite|too)?\s?"
    r"(?:best|worst|overrated|underrated|better than|worse than|terrible|awful|boring|beautiful|gorgeous|delicious"
    r"|disgusting|ridiculous|essential|important|wrong|unfair)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A type, and how surely somebody puts a taste or belief; None for other statements."""

    type: FactType
    confidence: float | None = None


_WORLD = Kind(FactType.WORLD)
_EXPERIENCE = Kind(FactType.EXPERIENCE)


def kind_of(source: str, *, is_agent: bool, is_question: bool = False) -> Kind:
    """The type of what was said, from the original wording.

    What people like or believe is a fact about them; opinions are the bank's own, and are formed from such facts.
    """
    if is_agent:
        return _EXPERIENCE
    if is_question:
        return _WORLD
    plain = source.replace("’", "'")
    return Kind(FactType.WORLD, _stated_confidence(plain))


def _stated_confidence(text: str) -> float | None:
    if _TASTE.search(text):
        start = 0.85
    elif _BELIEF.search(text):
        start = 0.65
    elif _JUDGEMENT.search(text):
        start = 0.6
    else:
        return None
    if _SURE.search(text):
        start += 0.1
    if _HEDGED.search(text):
        start -= 0.2
    return round(start, 2)


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
