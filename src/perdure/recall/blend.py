"""Blending: the reranker's logit and the cheaper signals become one strength, and a relevance from 0 to 1.

Scores are added, not ranks: ranks throw the margin away (docs/decisions/context-view.md).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from perdure.domain.recall import Candidate
from perdure.recall.recipe import Blend

LOWEST_BY_RANK = 0.1
SMALL_POOL = 100
MIN_SPREAD = {
    "fused": 0.2,
    "keyword": 16.0,
    "semantic": 0.16,
    "neighbourhood": 0.16,
    "temporal": 0.16,
}
"""What a signal is spread over at least in a pool of one. It falls in a straight line to nothing at SMALL_POOL.

Otherwise a hair's breadth between the only two facts of a bank would be worth the whole weight
(docs/decisions/few-candidates.md).
"""


def blend_relevance(pool: Sequence[Candidate], blend: Blend, extras: Sequence[float]) -> list[Candidate]:
    """Write each candidate's relevance; return the pool best first.

    The strength is the logit plus what the cheap signals add (`extras`); what the reranker did not read counts
    as the weakest that it read. When it read none and nothing is blended, relevance is made from the order.
    """
    logits = [c.logit for c in pool if c.logit is not None]
    if blend.adds:
        weakest = min(logits, default=0.0)
        for candidate, extra in zip(pool, extras, strict=True):
            candidate.set_strength((weakest if candidate.logit is None else candidate.logit) + extra)
        return sorted(pool, key=lambda c: (-c.relevance, -(c.strength or 0.0), c.fact_id))
    if logits:
        return _by_logit(pool)
    for position, candidate in enumerate(pool):
        candidate.relevance = relevance_by_rank(position, len(pool))
    return list(pool)


def _by_logit(pool: Sequence[Candidate]) -> list[Candidate]:
    """What was read by its logit, the rest below it in the order of the pool."""
    read = [c for c in pool if c.logit is not None]
    unread = [c for c in pool if c.logit is None]
    for candidate in read:
        candidate.set_strength(candidate.logit or 0.0)
    weakest = min(c.relevance for c in read)
    for position, candidate in enumerate(unread, start=1):
        candidate.relevance = weakest * relevance_by_rank(position, len(unread) + 2)
    return sorted(read, key=lambda c: (-(c.strength or 0.0), c.fact_id)) + unread


def relevance_by_rank(position: int, count: int) -> float:
    """Spread evenly over 1.0 .. 0.1, for when no reranker is at hand (as in Hindsight)."""
    if count <= 1:
        return 1.0
    return 1.0 - (1.0 - LOWEST_BY_RANK) * position / (count - 1)


def cheap_strengths(pool: Sequence[Candidate], blend: Blend) -> list[float]:
    """What the signals other than the reranker's add to each candidate's logit.

    Signals that come from the pool take away what a candidate lacks to its best one; names only add.
    """
    by_channel = _channel_scores(pool, blend.channels)
    signals: list[tuple[str, float, Sequence[float | None]]] = [
        ("fused", blend.fused, [c.fused for c in pool]),
        *((channel, weight, by_channel[channel]) for channel, weight in sorted(blend.channels.items())),
    ]
    smallness = max(0.0, 1.0 - len(pool) / SMALL_POOL)
    totals = [0.0] * len(pool)
    for name, weight, values in signals:
        if weight:
            spread = to_unit(values, smallness * MIN_SPREAD.get(name, 0.0))
            totals = [total + weight * (value - 1.0) for total, value in zip(totals, spread, strict=True)]
    return [
        total + blend.titles * (c.title or 0.0) + blend.speaker * c.by_named + blend.role * c.by_role
        for total, c in zip(totals, pool, strict=True)
    ]


def to_unit(values: Sequence[float | None], min_spread: float = 0.0) -> list[float]:
    """Values spread over 0..1, the highest at 1, the lowest and the missing at 0; where all are missing, all at 0.

    When they lie closer together than `min_spread`, that is what 0..1 stands for, and what is missing counts as a value
    of 0 but never as more than the lowest.
    """
    present = [value for value in values if value is not None]
    if not present:
        return [0.0] * len(values)
    lowest, highest = min(present), max(present)
    width = max(highest - lowest, min_spread)
    if width <= 0.0:
        return [0.0 if value is None else 1.0 for value in values]
    missing = min(1.0 - (highest - lowest) / width, max(0.0, 1.0 - highest / width))
    return [missing if value is None else 1.0 - (highest - value) / width for value in values]


def _channel_scores(pool: Sequence[Candidate], channels: Collection[str]) -> dict[str, list[float | None]]:
    """Channel -> the score that it gave each candidate, None where it did not find it."""
    scores: dict[str, list[float | None]] = {channel: [None] * len(pool) for channel in channels}
    for position, candidate in enumerate(pool):
        for rank in candidate.ranks:
            if rank.channel in scores:
                scores[rank.channel][position] = rank.score
    return scores
