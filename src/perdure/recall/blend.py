"""Blending: the cross-encoder's logit and the cheaper signals become one relevance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import exp

from perdure.domain.recall import Candidate
from perdure.domain.revise import revised
from perdure.recall.recipe import Blend

LOWEST_SYNTHETIC = 0.1
FEW = 100
MIN_SPREAD = {
    "late": 1.0,
    "fused": 0.2,
    "keyword": 16.0,
    "semantic": 0.16,
    "neighbourhood": 0.16,
    "temporal": 0.16,
}
"""What a signal is spread over at least in the smallest pool; less so as the pool grows to FEW, from where on only what
it holds counts. Otherwise a hair's breadth between the only two facts of a bank would be worth the whole weight.
"""


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + exp(-logit))
    return exp(logit) / (1.0 + exp(logit))


def synthetic(position: int, count: int) -> float:
    """Spread over 1.0 .. 0.1 by rank, for when no reranker is at hand."""
    if count <= 1:
        return 1.0
    return 1.0 - (1.0 - LOWEST_SYNTHETIC) * position / (count - 1)


def with_relevance(pool: Sequence[Candidate], blend: Blend) -> list[Candidate]:
    """The pool with its relevance, best first.

    The strength is the best logit plus what the cheap signals add; what the cross-encoder did not read counts
    as the weakest that it read. When it read none and nothing is blended, scores are made from the order.
    """
    added = cheap_strengths(pool, blend)
    read = [max(c.logits) for c in pool if c.logits]
    if not read and not blend.adds:
        return [revised(c, relevance=synthetic(i, len(pool))) for i, c in enumerate(pool)]
    floor = min(read, default=0.0)
    if not blend.adds:
        return _in_two_parts(pool)
    strong = [
        _with_strength(c, blend.logit * (max(c.logits) if c.logits else floor) + extra)
        for c, extra in zip(pool, added, strict=True)
    ]
    return sorted(strong, key=lambda c: (-c.relevance, -(c.strength or 0.0), c.fact_id))


def _with_strength(candidate: Candidate, strength: float) -> Candidate:
    return revised(candidate, strength=strength, relevance=sigmoid(strength))


def _in_two_parts(pool: Sequence[Candidate]) -> list[Candidate]:
    """What was read by its logit, the rest below it in the order of the pool."""
    read = [_with_strength(c, max(c.logits)) for c in pool if c.logits]
    rest = [c for c in pool if not c.logits]
    floor = min(c.relevance for c in read)
    below = [revised(c, relevance=floor * synthetic(i + 1, len(rest) + 2)) for i, c in enumerate(rest)]
    return sorted(read, key=lambda c: (-(c.strength or 0.0), c.fact_id)) + below


def cheap_strengths(pool: Sequence[Candidate], blend: Blend) -> list[float]:
    """What the signals other than the cross-encoder add to each candidate's logit.

    Signals that come from the pool take away what a candidate lacks to its best one; names only add.
    """
    totals = [0.0] * len(pool)
    signals: list[tuple[str, float, list[float | None]]] = [
        ("late", blend.late, [c.late for c in pool]),
        ("fused", blend.fused, [c.fused for c in pool]),
    ]
    raw = _raw_scores(pool, blend.channels)
    signals += [(channel, weight, raw[channel]) for channel, weight in sorted(blend.channels.items())]
    scarce = max(0.0, 1.0 - len(pool) / FEW)
    for name, weight, values in signals:
        if weight:
            spread = to_unit(values, scarce * MIN_SPREAD.get(name, 0.0))
            totals = [total + weight * (value - 1.0) for total, value in zip(totals, spread, strict=True)]
    return [
        total + blend.titles * (c.title or 0.0) + blend.speaker * c.by_named + blend.role * c.by_role
        for total, c in zip(totals, pool, strict=True)
    ]


def to_unit(values: Sequence[float | None], narrowest: float = 0.0) -> list[float]:
    """Values spread over 0..1, the highest at 1, the least and the missing at 0; where none is known, all at 0.

    When they lie closer together than `narrowest`, that is what 0..1 stands for, and what is missing counts as a value
    of 0 but never as more than the least.
    """
    known = [value for value in values if value is not None]
    if not known:
        return [0.0] * len(values)
    least, most = min(known), max(known)
    width = max(most - least, narrowest)
    if width <= 0.0:
        return [0.0 if value is None else 1.0 for value in values]
    missing = min(1.0 - (most - least) / width, max(0.0, 1.0 - most / width))
    return [missing if value is None else 1.0 - (most - value) / width for value in values]


def _raw_scores(pool: Sequence[Candidate], channels: Collection[str]) -> dict[str, list[float | None]]:
    """Channel -> the score that it gave each candidate, None where it did not find it."""
    scores: dict[str, list[float | None]] = {channel: [None] * len(pool) for channel in channels}
    for place, candidate in enumerate(pool):
        for rank in candidate.ranks:
            if rank.channel in scores:
                scores[rank.channel][place] = rank.score
    return scores
