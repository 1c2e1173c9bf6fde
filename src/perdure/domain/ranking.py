"""The fields of a fact that ranking needs."""

from __future__ import annotations

from datetime import datetime
from math import exp
from typing import NamedTuple

from perdure.domain.fact import Fact, FactType


class RankingFields(NamedTuple):
    """Fields for ranking: a recall ranks hundreds of facts and reads a few dozen."""

    type: FactType = FactType.WORLD
    document_id: str | None = None
    speaker: str = ""
    event_date: datetime | None = None
    """The middle of the time when it happened, else when it was said."""
    proof_count: int = 1
    """Of observations; 1 for other facts."""


def ranking_fields(fact: Fact) -> RankingFields:
    return RankingFields(
        type=fact.type,
        document_id=fact.document_id,
        speaker=fact.speaker,
        event_date=event_date(fact.occurred_start, fact.occurred_end, fact.mentioned_at),
        proof_count=fact.proof_count if fact.type is FactType.OBSERVATION else 1,
    )


def event_date(
    start: datetime | None, end: datetime | None, mentioned_at: datetime | None
) -> datetime | None:
    """Return the middle of the time when a fact happened, else when it was said."""
    if start is not None and end is not None:
        return start + (end - start) / 2
    return start or end or mentioned_at


def sigmoid(logit: float) -> float:
    """Return 1 / (1 + e^-x), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + exp(-logit))
    return exp(logit) / (1.0 + exp(logit))
