"""Coverage: after the best candidate, the next are chosen for the part of the question not yet covered.

Only where documents have titles: a question that leads from one document to another needs both, and both
share its words. In conversations it brings nothing (docs/decisions/linked-strength.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import fsum, log

from perdure.domain.recall import Candidate
from perdure.text.terms import index_terms

CONSIDERED = 20
PICKS = 8
GAIN = 2.0
_STEP = 1e-6
"""What a place in the new order is below the one before it, at least."""


def rerank_for_coverage(
    pool: Sequence[Candidate], titles: Mapping[str, str], terms: Mapping[str, float], weight: float
) -> list[Candidate]:
    """Fill the first places one by one, each with the highest strength + weight x coverage value.

    Strengths are lowered where needed, so that they fall with the places.
    """
    waiting = list(pool[:CONSIDERED])
    terms_of = {c.fact_id: _question_terms(c, titles, terms) for c in waiting}
    worth = term_worth(terms, list(terms_of.values()))
    if len(waiting) < 3 or not worth:
        return list(pool)
    picked = [waiting.pop(0)]
    covered = set(terms_of[picked[0].fact_id])
    while waiting and len(picked) < PICKS:
        values = [
            (c.strength or 0.0) + weight * coverage_value(terms_of[c.fact_id], covered, worth)
            for c in waiting
        ]
        best = max(range(len(waiting)), key=lambda i: (values[i], -i))
        candidate = waiting.pop(best)
        candidate.set_strength(min(values[best], _ceiling(picked)))
        picked.append(candidate)
        covered |= terms_of[candidate.fact_id]
    rest = [*waiting, *pool[CONSIDERED:]]
    for candidate in rest:
        if (candidate.strength or 0.0) > _ceiling(picked):
            candidate.set_strength(_ceiling(picked))
    return [*picked, *sorted(rest, key=lambda c: (-(c.strength or 0.0), c.fact_id))]


def term_worth(terms: Mapping[str, float], term_sets: Sequence[Set[str]]) -> dict[str, float]:
    """Term -> its share of what there is to cover, by the IDF of BM25 over the candidates; terms of none are left out."""
    counts = {term: sum(term in present for present in term_sets) for term in terms}
    weights = {
        term: log(1.0 + (len(term_sets) - count + 0.5) / (count + 0.5))
        for term, count in counts.items()
        if count
    }
    total = fsum(weights.values())
    return {term: value / total for term, value in weights.items()} if total else {}


def coverage_value(own: Set[str], covered: Set[str], worth: Mapping[str, float]) -> float:
    """2 x what is newly covered - all that is covered, each term by its worth."""
    fresh = fsum(worth.get(term, 0.0) for term in own - covered)
    return GAIN * fresh - fsum(worth.get(term, 0.0) for term in own)


def _question_terms(
    candidate: Candidate, titles: Mapping[str, str], terms: Mapping[str, float]
) -> frozenset[str]:
    """Terms of the question in the candidate's text and in its document's title."""
    if candidate.fact is None:
        return frozenset()
    text = f"{titles.get(candidate.fields.document_id or '', '')} {candidate.fact.text}"
    return frozenset(index_terms(text).keys() & terms.keys())


def _ceiling(picked: Sequence[Candidate]) -> float:
    return (picked[-1].strength or 0.0) - _STEP
