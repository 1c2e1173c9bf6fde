"""Diversity: maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) over word overlap."""

from __future__ import annotations

from collections.abc import Sequence, Set

from perdure.domain.recall import Candidate
from perdure.recall.budget import FactReader

CONSIDERED = 100
"""Only so many are reordered: the cost is quadratic and nobody reads further."""


def diversify(pool: Sequence[Candidate], trade: float | None, read_facts: FactReader) -> list[Candidate]:
    """Reorder by lambda x score - (1 - lambda) x likeness to what was picked; None leaves the order alone."""
    if trade is None:
        return list(pool)
    waiting = list(pool[:CONSIDERED])
    read_facts(waiting)
    words = {c.fact_id: _words(c) for c in waiting}
    likeness = dict.fromkeys(words, 0.0)
    picked: list[Candidate] = []
    while waiting:
        values = [trade * c.score - (1.0 - trade) * likeness[c.fact_id] for c in waiting]
        candidate = waiting.pop(max(range(len(waiting)), key=lambda i: (values[i], -i)))
        candidate.boosts["likeness"] = likeness[candidate.fact_id]
        picked.append(candidate)
        for other in waiting:
            shared = jaccard(words[candidate.fact_id], words[other.fact_id])
            likeness[other.fact_id] = max(likeness[other.fact_id], shared)
    return [*picked, *pool[CONSIDERED:]]


def jaccard(one: Set[str], other: Set[str]) -> float:
    """Shared words over all words; 0 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _words(candidate: Candidate) -> frozenset[str]:
    return frozenset() if candidate.fact is None else frozenset(candidate.fact.text.lower().split())
