"""Diversity: maximal marginal relevance over word overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over all words; 0 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _words(fact: Fact | None) -> frozenset[str]:
    return frozenset() if fact is None else frozenset(fact.text.lower().split())


def diversify(
    candidates: Sequence[Candidate], facts: Mapping[str, Fact], trade: float | None, limit: int = 100
) -> list[Candidate]:
    """Reorder by lambda x score - (1 - lambda) x likeness to what was picked; None leaves the order alone.

    Only the first `limit` are reordered: the cost is quadratic and nobody reads further.
    """
    if trade is None:
        return list(candidates)
    waiting = list(candidates[:limit])
    words = {c.fact_id: _words(facts.get(c.fact_id)) for c in waiting}
    nearest = dict.fromkeys(words, 0.0)
    picked: list[Candidate] = []
    while waiting:
        best = max(
            range(len(waiting)),
            key=lambda i: (
                trade * waiting[i].score - (1.0 - trade) * nearest[waiting[i].fact_id],
                -i,
            ),
        )
        chosen = waiting.pop(best)
        penalty = nearest[chosen.fact_id]
        picked.append(replace(chosen, boosts={**chosen.boosts, "likeness": penalty}))
        for other in waiting:
            likeness = jaccard(words[chosen.fact_id], words[other.fact_id])
            nearest[other.fact_id] = max(nearest[other.fact_id], likeness)
    return picked + list(candidates[limit:])
