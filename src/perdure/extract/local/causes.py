"""Cause and effect, by the words that join them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from perdure.extract.local.units import Unit


@dataclass(frozen=True, slots=True)
class CauseLink:
    """The group at `cause` brought about the group at `effect`."""

    cause: int
    effect: int
    confidence: float


_EFFECT_STARTS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"(?:that|this|which)(?:['’]s| is| was)? (?:exactly )?why\b", re.IGNORECASE), 0.9),
    (re.compile(r"(?:as a (?:result|consequence)|because of (?:that|this)|consequently|therefore|thus|hence)\b", re.IGNORECASE), 0.85),
    (re.compile(r"(?:thanks to (?:that|this)|for (?:that|this) reason)\b", re.IGNORECASE), 0.85),
    (re.compile(r"(?:(?:that|this|it) (?:really |also )?(?:made|led|caused|pushed|inspired|motivated|helped|convinced|forced|got) (?:me|us|him|her|them|to)\b)", re.IGNORECASE), 0.75),
    (re.compile(r"so,? (?:i|we|now|they|he|she|my|the)\b", re.IGNORECASE), 0.6),
)  # fmt: skip
_CAUSE_STARTS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"(?:(?:that|this|it)(?:['’]s| is| was) )?(?:mainly |mostly |just |only )?(?:because|'cause|cuz)\b", re.IGNORECASE), 0.9),
    (re.compile(r"the (?:main |real )?reason (?:is|was|for (?:that|this))\b", re.IGNORECASE), 0.9),
)  # fmt: skip
_INNER = re.compile(
    r",?\s+(?P<cause>because|'cause|cuz|since)\s+(?!of\b)|,\s+(?P<effect>so|which is why|that's why|therefore)\s+(?!that\b|far\b|much\b)",
    re.IGNORECASE,
)
_CONFIDENCE = {"because": 0.9, "'cause": 0.85, "cuz": 0.85, "since": 0.6, "so": 0.65, "therefore": 0.85}
_POINTS_BACK = re.compile(r"(?:it|they|he|she|this|that|these|those|there|which|who)\b", re.IGNORECASE)
_CONNECTIVE = re.compile(
    r"(?:because|'cause|cuz|since|so|which is why|that['’]s why|therefore)\s+", re.IGNORECASE
)
_LONG_SIDE = 60
_LONG_ENOUGH_TO_PART = 80
_SURE = 0.7


def split_at_cause(unit: Unit) -> list[Unit]:
    """A long sentence as its effect and its cause, where each side can stand alone; else the sentence."""
    if unit.kind != "prose" or unit.is_question or len(unit.text) < 2 * _LONG_SIDE:
        return [unit]
    for match in _INNER.finditer(unit.text):
        start = match.start("cause") if match["cause"] else match.start("effect")
        rest = unit.text[match.end() :]
        if match.start() >= _LONG_SIDE and len(rest) >= _LONG_SIDE and not _POINTS_BACK.match(rest):
            return [unit.part(0, match.start()), replace(unit.part(start, len(unit.text)), tail=True)]
    return [unit]


def without_connective(text: str) -> str:
    """The clause without the "because" or "so" that joined it to the one before."""
    bare = _CONNECTIVE.sub("", text, count=1) if _CONNECTIVE.match(text) else text
    return bare[:1].upper() + bare[1:]


def is_split_off(before: Unit, unit: Unit) -> bool:
    """Whether the two are the halves of one sentence that was split at its cause."""
    return unit.block == before.block and unit.tail and unit.start - before.end <= 3


def parts_from(length_before: int, unit: Unit) -> bool:
    """Whether a sentence should start a fact of its own, being a clear effect or cause of a full one before it."""
    if length_before < _LONG_ENOUGH_TO_PART or len(unit.text) < _LONG_SIDE:
        return False
    opening = _opening(unit.text)
    return opening is not None and opening[1] >= _SURE


def find_causes(groups: Sequence[Sequence[Unit]]) -> list[CauseLink]:
    """Links between neighbouring groups of a turn, from the word that the later one starts with."""
    links = []
    for index in range(1, len(groups)):
        before, unit = groups[index - 1][-1], groups[index][0]
        if is_split_off(before, unit):
            word = unit.text.split()[0].casefold()
            confidence = _CONFIDENCE.get(word, 0.8)
            is_cause = word in ("because", "'cause", "cuz", "since")
        else:
            opening = _opening(unit.text)
            if opening is None:
                continue
            is_cause, confidence = opening
        links.append(CauseLink(*((index, index - 1) if is_cause else (index - 1, index)), confidence))
    return links


def _opening(text: str) -> tuple[bool, float] | None:
    """(whether the sentence is the cause, confidence) from how it starts."""
    for is_cause, table in ((True, _CAUSE_STARTS), (False, _EFFECT_STARTS)):
        for pattern, confidence in table:
            if pattern.match(text):
                return is_cause, confidence
    return None
