"""Of whom a question asks, and whether what was recalled is told of somebody else instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.item import USER_ROLES
from perdure.domain.recall import RecallResult
from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.text.third_person import THE_USER

MARGIN = 0.5
"""By how much what is told of another must outweigh what is told of the person, for the answer to be refused."""
_MOST = 8.0
_COST = {About.MENTIONED: 2.0, About.UNCLEAR: 2.0}


def names_in(recalled: RecallResult) -> tuple[str, ...]:
    """Who speaks in the recalled facts, and who asks: the persons that a question may name."""
    names = [one.fact.speaker for one in recalled.recollections if one.fact.speaker]
    names = [name for name in names if name.lower() not in USER_ROLES and name != THE_USER]
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Misattribution:
    """What was asked of one person is told of another."""

    asked: str
    told_of: str

    def __str__(self) -> str:
        return f"what memory holds on this is told of {self.told_of}, not of {self.asked}"


def misattributed(asked: Asked, passages: Sequence[Passage]) -> Misattribution | None:
    """Whether the best answer is of another person than the one asked about; None for questions about nobody or several."""
    if len(asked.persons) != 1:
        return None
    told = [passage for passage in passages if passage.is_supported and passage.asserts]
    own = max((weight(one) for one in told if one.about is not About.OTHER), default=None)
    others = [one for one in told if one.about is About.OTHER and one.fact.speaker]
    best = max(others, key=lambda one: weight(one), default=None)
    if best is None or (own is not None and weight(best) < own + MARGIN):
        return None
    return Misattribution(asked.persons[0], best.fact.speaker)


def weight(passage: Passage) -> float:
    """How much a passage weighs as an answer: the logit of its score, less where it only names the person, or nobody."""
    return min(passage.strength, _MOST) - _COST.get(passage.about, 0.0)
