"""The two stages that a recipe chooses the kind of: fusion and scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.domain.recall import Candidate, Hit, Query
from perdure.recall.fuse import Pool, fuse, fuse_stages
from perdure.recall.hydrate import PoolFacts
from perdure.recall.parts import RecallComponents
from perdure.recall.recipe import Fusion, Recipe, Scoring
from perdure.recall.request import RecallRequest
from perdure.recall.score import score
from perdure.recall.score_abmind import score_abmind


def fuse_hits(recipe: Recipe, hits: Mapping[str, Sequence[Hit]], pool: int) -> Pool:
    """The best of the recipe's fusion of the channels' hits."""
    if recipe.fusion is Fusion.STAGES:
        return fuse_stages(hits, pool)
    return fuse(hits, recipe.fusion_k, pool)


def score_candidates(
    parts: RecallComponents,
    request: RecallRequest,
    query: Query,
    candidates: Sequence[Candidate],
    facts: PoolFacts,
    hits: Mapping[str, Sequence[Hit]],
) -> list[Candidate]:
    """The recipe's final scores, floors applied."""
    if request.recipe.scoring is Scoring.ABMIND:
        facts.read(candidate.fact_id for candidate in candidates)
        scored = score_abmind(candidates, facts, query.asked_at, request.situation, hits.keys(), parts.decay)
    else:
        on_odds = request.recipe.scoring is Scoring.ODDS
        scored = score(candidates, facts.outlines, query, request.recipe.boosts, on_odds=on_odds)
    floors = request.min_scores
    return [
        candidate
        for candidate in scored
        if (floors.final is None or candidate.score >= floors.final)
        and (floors.reranker is None or (candidate.rerank or 0.0) >= floors.reranker)
    ]
