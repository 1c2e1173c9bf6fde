"""What kind of statement a text is: type of fact, and how surely a taste or belief is put."""

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
