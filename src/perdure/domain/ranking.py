"""What ranking needs of a fact, without the fact itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import exp

from perdure.domain.fact import Fact, FactType


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingFields:
    """What ranking needs of a fact: hundreds are ranked in a recall, a few dozen are read."""

    type: FactType = FactType.WORLD
    document_id: str | None = None
    speaker: str = ""
    event_date: datetime | None = None
    """The middle of when it happened, else when it was said."""
    proof_count: int = 1
    """Of observations; 1 for others."""


def ranking_fields(fact: Fact) -> RankingFields:
    """The ranking fields of a fact."""
    return RankingFields(
        type=fact.type,
        document_id=fact.document_id,
        speaker=fact.speaker,
        event_date=event_date(fact),
        proof_count=fact.proof_count if fact.type is FactType.OBSERVATION else 1,
    )


def event_date(fact: Fact) -> datetime | None:
    """The middle of when it happened, else when it was said."""
    occurred = fact.occurred
    return fact.mentioned_at if occurred is None else occurred.centre


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + exp(-logit))
    return exp(logit) / (1.0 + exp(logit))
