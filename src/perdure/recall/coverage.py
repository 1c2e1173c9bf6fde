"""Covering: after the best candidate, the next are chosen for the part of the question not yet covered.

Only where documents have titles: a question that leads from one document to another needs both, and both
share its words. In conversations it brings nothing (docs/decisions/linked-strength.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate
from perdure.domain.revise import revised
from perdure.recall.blend import sigmoid
from perdure.text.terms import index_terms

AMONG = 20
PICKS = 8
GAIN = 2.0
_STEP = 1e-6


def cover(
    pool: Sequence[Candidate],
    facts: Mapping[str, Fact],
    titles: Mapping[str, str],
    terms: Mapping[str, float],
    weight: float,
) -> list[Candidate]:
    """The pool with its first places filled one by one: strength + weight x (2 x newly covered - covered)."""
    waiting = list(pool[:AMONG])
    held = {c.fact_id: _held(facts.get(c.fact_id), titles, terms) for c in waiting}
    worth = _worth(terms, list(held.values()))
    if len(waiting) < 3 or not worth:
        return list(pool)
    picked = [waiting.pop(0)]
    covered = set(held[picked[0].fact_id])
    while waiting and len(picked) < PICKS:
        values = [(c.strength or 0.0) + weight * _value(held[c.fact_id], covered, worth) for c in waiting]
        best = max(range(len(waiting)), key=lambda i: (values[i], -i))
        chosen = waiting.pop(best)
        ceiling = (picked[-1].strength or 0.0) - _STEP
        picked.append(_at(chosen, min(values[best], ceiling)))
        covered |= held[chosen.fact_id]
    ceiling = (picked[-1].strength or 0.0) - _STEP
    rest = [_at(c, ceiling) if (c.strength or 0.0) > ceiling else c for c in [*waiting, *pool[AMONG:]]]
    return [*picked, *sorted(rest, key=lambda c: (-(c.strength or 0.0), c.fact_id))]


def _held(fact: Fact | None, titles: Mapping[str, str], terms: Mapping[str, float]) -> frozenset[str]:
    if fact is None:
        return frozenset()
    text = f"{titles.get(fact.document_id or '', '')} {fact.text}"
    return frozenset(index_terms(text).keys() & terms.keys())


def _worth(terms: Mapping[str, float], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Term -> its share of what there is to cover, rare terms counting more."""
    counts = {term: sum(term in found for found in held) for term in terms}
    weights = {
        term: log(1.0 + (len(held) - count + 0.5) / (count + 0.5)) for term, count in counts.items() if count
    }
    total = sum(weights.values())
    return {term: value / total for term, value in weights.items()} if total else {}


def _value(held: frozenset[str], covered: set[str], worth: Mapping[str, float]) -> float:
    gain = sum(worth.get(term, 0.0) for term in held - covered)
    return GAIN * gain - sum(worth.get(term, 0.0) for term in held)


def _at(candidate: Candidate, strength: float) -> Candidate:
    return revised(candidate, strength=strength, relevance=sigmoid(strength))
