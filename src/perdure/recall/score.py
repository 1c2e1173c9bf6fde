"""Scoring: relevance times the boosts that a reranker cannot see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, prod

from perdure.domain.ranking import RankingFields
from perdure.domain.recall import Candidate, Query
from perdure.domain.revise import revised
from perdure.recall.blend import sigmoid
from perdure.recall.boosts import boost, proof, recency, temporal_proximity
from perdure.recall.recipe import BoostWeights


def score(
    candidates: Sequence[Candidate],
    outlines: Mapping[str, RankingFields],
    query: Query,
    weights: BoostWeights,
    *,
    on_odds: bool = False,
) -> list[Candidate]:
    """Final scores, best first, ties by id; candidates whose fact is gone are left out."""
    scored = [
        _scored(candidate, outlines[candidate.fact_id], query, weights, on_odds)
        for candidate in candidates
        if candidate.fact_id in outlines
    ]
    return sorted(scored, key=lambda c: (-c.score, c.fact_id))


def _scored(
    candidate: Candidate, outline: RankingFields, query: Query, weights: BoostWeights, on_odds: bool
) -> Candidate:
    boosts = {
        "recency": boost(recency(outline.event_date, query.asked_at), weights.recency),
        "temporal": boost(temporal_proximity(outline.event_date, query.window), weights.temporal),
        "proof": boost(proof(outline), weights.proof),
    }
    factor = prod(boosts.values())
    if on_odds and candidate.strength is not None:
        final = sigmoid(candidate.strength + log(factor))
    else:
        final = candidate.relevance * factor
    return revised(candidate, boosts={**candidate.boosts, **boosts}, score=final)
