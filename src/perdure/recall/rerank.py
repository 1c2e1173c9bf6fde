"""Reranking: late interaction orders the pool, the cross-encoder reads the best of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from perdure.domain.recall import Candidate, Query
from perdure.domain.trace import Trace
from perdure.errors import ModelError
from perdure.ports.embedder import Vector
from perdure.recall.parts import RecallParts
from perdure.recall.recipes import Blend, Recipe
from perdure.recall.request import RecallRequest

LOWEST_SYNTHETIC = 0.1


def rerank(
    parts: RecallParts, request: RecallRequest, query: Query, candidates: Sequence[Candidate], trace: Trace
) -> list[Candidate]:
    """The pool with its relevance, best first; the candidates beyond the pool are left out."""
    recipe = request.recipe
    pool = list(candidates[: parts.pool or recipe.pool])
    passages = _passages(parts, request.bank, recipe, pool)
    with trace.stage("rerank.late"):
        pool = _late_stage(parts, recipe, query, pool, passages, trace)
    with trace.stage("rerank.cross"):
        pool = _cross_stage(parts, recipe, query, pool, passages, trace)
    return sorted(with_relevance(pool, recipe.blend), key=lambda c: (-c.relevance, c.fact_id))


def sigmoid(logits: Vector) -> Vector:
    """1 / (1 + e^-x)."""
    return (1.0 / (1.0 + np.exp(-logits.astype(np.float64)))).astype(np.float32)


def synthetic(position: int, count: int) -> float:
    """Spread over 1.0 .. 0.1 by rank, for when no reranker is at hand."""
    if count <= 1:
        return 1.0
    return 1.0 - (1.0 - LOWEST_SYNTHETIC) * position / (count - 1)


def _passages(
    parts: RecallParts, bank: str, recipe: Recipe, pool: Sequence[Candidate]
) -> Mapping[str, tuple[str, bytes]]:
    wants_late = recipe.late and parts.late is not None
    wants_cross = recipe.cross_pool > 0 and parts.reranker is not None
    if not (wants_late or wants_cross):
        return {}
    return parts.store.passages(bank, [candidate.fact_id for candidate in pool])


def _late_stage(
    parts: RecallParts,
    recipe: Recipe,
    query: Query,
    pool: list[Candidate],
    passages: Mapping[str, tuple[str, bytes]],
    trace: Trace,
) -> list[Candidate]:
    if not recipe.late or parts.late is None or not pool:
        return pool
    packed = [passages.get(candidate.fact_id, ("", b""))[1] for candidate in pool]
    try:
        scores = parts.late.score(query.text, packed)
    except ModelError as error:
        trace.failed("late", str(error))
        return pool
    scored = [replace(c, late=float(s)) for c, s in zip(pool, scores, strict=True)]
    return sorted(scored, key=lambda c: (-(c.late or 0.0), c.fact_id))


def _cross_stage(
    parts: RecallParts,
    recipe: Recipe,
    query: Query,
    pool: list[Candidate],
    passages: Mapping[str, tuple[str, bytes]],
    trace: Trace,
) -> list[Candidate]:
    if recipe.cross_pool <= 0 or not pool:
        return pool
    if parts.reranker is None:
        trace.failed("reranker", "no reranker is configured")
        return pool
    head = [c for c in pool[: recipe.cross_pool] if c.fact_id in passages]
    try:
        logits = parts.reranker.score(query.text, [passages[c.fact_id][0] for c in head])
    except ModelError as error:
        trace.failed("reranker", str(error))
        return pool
    read = {c.fact_id: float(s) for c, s in zip(head, sigmoid(logits), strict=True)}
    return [replace(c, rerank=read.get(c.fact_id)) for c in pool]


def with_relevance(pool: Sequence[Candidate], blend: Blend) -> list[Candidate]:
    """Relevance: read candidates by the blend, unread ones below them by their place; synthetic if none was read."""
    read = [c for c in pool if c.rerank is not None]
    if not read:
        return [replace(c, relevance=synthetic(i, len(pool))) for i, c in enumerate(pool)]
    scored = [replace(c, relevance=_blended(c, blend)) for c in read]
    floor = min(c.relevance for c in scored)
    unread = [c for c in pool if c.rerank is None]
    return scored + [
        replace(c, relevance=floor * synthetic(i + 1, len(unread) + 2)) for i, c in enumerate(unread)
    ]


def _blended(candidate: Candidate, blend: Blend) -> float:
    raw = {rank.channel: rank.score for rank in candidate.ranks}
    signals = (
        (blend.cross, candidate.rerank or 0.0),
        (blend.late, candidate.late or 0.0),
        (blend.semantic, raw.get("semantic", 0.0)),
        (blend.keyword, raw.get("keyword", 0.0)),
        (blend.fused, candidate.fused),
    )
    total = sum(weight for weight, _ in signals)
    return sum(weight * value for weight, value in signals) / total if total else 0.0
