"""Scoring: relevance and what a reranker cannot see (recency, the asked time, proof) become the final score.

The formulas are those of Hindsight's TEMPR, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log, prod
from typing import Protocol

from perdure.domain.fact import FactType, RankingFields
from perdure.domain.recall import Candidate, Query, sigmoid
from perdure.domain.time import Window
from perdure.recall.option_groups import MinScores, Situation

_DAY = timedelta(days=1)
NEUTRAL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringContext:
    """What scoring may look at beside the candidates."""

    query: Query
    situation: Situation | None = None
    channels: Collection[str] = ()
    """The channels that answered."""


class Scoring(Protocol):
    """Writes each candidate's score; a recipe has one, and compares by it."""

    @property
    def reads_facts(self) -> bool:
        """Whether it looks at `Candidate.fact`, which is then read of the whole pool."""

    def __call__(self, pool: Sequence[Candidate], context: ScoringContext) -> list[Candidate]:
        """The candidates, best first, ties by id; those whose fact is gone are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostScoring:
    """Relevance times the boosts; the weights say how far each signal may move a score."""

    recency: float = 0.2
    temporal: float = 0.2
    proof: float = 0.1
    on_odds: bool = False
    """Multiply the odds of being relevant instead: the same nudge, without swamping near-certain ones."""

    @property
    def reads_facts(self) -> bool:
        """Ranking fields are enough."""
        return False

    def __call__(self, pool: Sequence[Candidate], context: ScoringContext) -> list[Candidate]:
        """The candidates with their boosts and scores."""
        for candidate in pool:
            boosts = self._boosts(candidate.fields, context.query)
            candidate.boosts.update(boosts)
            candidate.score = self._score(candidate, prod(boosts.values()))
        return sorted(pool, key=lambda c: (-c.score, c.fact_id))

    def _boosts(self, fields: RankingFields, query: Query) -> dict[str, float]:
        return {
            "recency": boost(recency(fields.event_date, query.asked_at), self.recency),
            "temporal": boost(temporal_proximity(fields.event_date, query.window), self.temporal),
            "proof": boost(proof(fields), self.proof),
        }

    def _score(self, candidate: Candidate, factor: float) -> float:
        if self.on_odds and candidate.strength is not None:
            return boosted_odds(candidate.strength, factor)
        return candidate.relevance * factor


def boost(signal: float, alpha: float) -> float:
    """1 + alpha x (signal - 0.5): 1 at the neutral signal, at most alpha/2 above or below."""
    return 1.0 + alpha * (signal - NEUTRAL)


def boosted_odds(strength: float, factor: float) -> float:
    """The probability whose odds are `factor` times those of the sigmoid of `strength`. Perdure's own."""
    return sigmoid(strength + log(factor))


ALMOST_CERTAIN = 1.0 - 1e-12


def multiply_odds(candidate: Candidate, name: str, factor: float) -> None:
    """Multiply the odds of the candidate's score by a factor, which `explain` shows under the name. Perdure's own."""
    score = min(max(candidate.score, 1.0 - ALMOST_CERTAIN), ALMOST_CERTAIN)
    candidate.boosts[name] = factor
    candidate.score = boosted_odds(log(score) - log(1.0 - score), factor)


def recency(dated: datetime | None, now: datetime) -> float:
    """clamp(1 - days / 365, 0.1, 1); undated is neutral, the future counts as today."""
    if dated is None:
        return NEUTRAL
    days = max((now - dated) / _DAY, 0.0)
    return min(max(1.0 - days / 365.0, 0.1), 1.0)


def temporal_proximity(dated: datetime | None, window: Window | None) -> float:
    """1 - min(days from the window's centre / half its days, 1); neutral without a window or a date.

    An open window has no centre: what lies inside is 1, outside 0.
    """
    if window is None or dated is None:
        return NEUTRAL
    centre, days = window.centre, window.days
    if centre is None:
        return NEUTRAL
    if days is None:
        return 1.0 if window.overlaps(dated, dated) else 0.0
    distance = abs((dated - centre) / _DAY)
    return 1.0 - min(distance / (days / 2.0), 1.0) if days else float(distance == 0.0)


def proof(fields: RankingFields) -> float:
    """clamp(0.5 + ln(n) / 10, 0, 1) for observations with n proofs, neutral for other facts."""
    if fields.type is not FactType.OBSERVATION:
        return NEUTRAL
    return min(max(NEUTRAL + log(fields.proof_count) / 10.0, 0.0), 1.0)


def above_floors(pool: Sequence[Candidate], floors: MinScores) -> list[Candidate]:
    """The candidates that reach the floors of the final score and of the reranker's."""
    return [
        candidate
        for candidate in pool
        if (floors.final is None or candidate.score >= floors.final)
        and (floors.reranker is None or (candidate.rerank or 0.0) >= floors.reranker)
    ]
