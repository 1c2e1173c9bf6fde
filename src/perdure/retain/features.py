"""Features: what the channels will look at, made from a fact and the text around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from perdure.domain.fact import Fact
from perdure.ports.embedder import Embedder, Matrix
from perdure.ports.store import Features
from perdure.retain.build import Draft
from perdure.retain.embed import embed_texts
from perdure.retain.identity import dedupe_key
from perdure.retain.index_text import IndexText, index_text
from perdure.text.signature import signature
from perdure.text.smoothing import SHARES, smooth
from perdure.text.terms import index_terms, plain_words

REST_WEIGHT = 1.0
CONTEXT_WEIGHT = 0.5
TITLE_WEIGHT = 1.0
"""How often the title's terms count on top of once."""
RELATION_WEIGHT = 0.5


def weigh_terms(fact: Fact, text: IndexText) -> dict[str, float]:
    """Term -> weight: own words and the rest of the turn fully (fact and source count once), title more, context and relation less."""
    terms: Counter[str] = index_terms(text.own)
    for term, times in index_terms(f"{fact.speaker} {fact.source_text}").items():
        terms[term] = max(terms[term], times)
    weights = {term: float(times) for term, times in terms.items()}
    relation = (fact.relation or "").replace("_", " ")
    for field, weight in (
        (text.title, TITLE_WEIGHT),
        (text.rest, REST_WEIGHT),
        (text.context, CONTEXT_WEIGHT),
        (relation, RELATION_WEIGHT),
    ):
        for term, times in index_terms(field).items():
            weights[term] = weights.get(term, 0.0) + weight * times
    return weights


def make_features(
    drafts: Sequence[Draft], vectors: Matrix | None, earlier: Mapping[str, Features]
) -> tuple[list[Features], dict[str, Features]]:
    """Return (the drafts' features, those of stored facts before them that change, by fact id).

    `earlier` are the stored features of the last facts of documents that are added to.
    """
    context, changed = _context_vectors(drafts, vectors, earlier)
    features = [
        replace(
            _features_without_models(draft.fact, draft.text, draft.key),
            vectors={} if vectors is None else {"fact": vectors[row], "context": context[row]},
        )
        for row, draft in enumerate(drafts)
    ]
    return features, changed


def _features_without_models(fact: Fact, text: IndexText, key: str) -> Features:
    return Features(
        terms=weigh_terms(fact, text),
        words=plain_words(f"{text.own} {fact.source_text}"),
        signature=signature(fact.text),
        dedupe_key=key,
        passage="" if text.own == fact.text else text.own,
        passage_in_context="" if text.turn == text.own else text.turn,
    )


def _context_vectors(
    drafts: Sequence[Draft], vectors: Matrix | None, earlier: Mapping[str, Features]
) -> tuple[Matrix, dict[str, Features]]:
    """Vectors smoothed within each document, and the features of stored facts whose neighbours the drafts become."""
    if vectors is None:
        return np.empty((0, 0), dtype=np.float32), {}
    context = np.empty_like(vectors)
    changed: dict[str, Features] = {}
    rows_of: dict[str, list[int]] = {}
    for row, draft in enumerate(drafts):
        rows_of.setdefault(draft.plan.document.id, []).append(row)
    for rows in rows_of.values():
        lengths = drafts[rows[0]].plan.earlier
        stored = {
            fact_id: earlier[fact_id]
            for fact_id in lengths
            if fact_id in earlier and "fact" in earlier[fact_id].vectors
        }
        smoothed = smooth(
            np.vstack([*(features.vectors["fact"] for features in stored.values()), vectors[rows]]),
            [*(lengths[fact_id] for fact_id in stored), *(drafts[row].turn_length for row in rows)],
        )
        context[rows] = smoothed[len(stored) :]
        # Only the last facts before the drafts are near enough; those before them are there as their neighbours.
        for index, (fact_id, features) in list(enumerate(stored.items()))[-len(SHARES) :]:
            changed[fact_id] = replace(features, vectors={**features.vectors, "context": smoothed[index]})
    return context, changed


def features_of_edited(fact: Fact, embedder: Embedder | None) -> Features:
    """Return the features of a fact whose text a person changed; it stands without neighbours."""
    (features,) = _standing_alone([fact], [index_text(fact)], embedder)
    return replace(features, dedupe_key=dedupe_key(fact))


def features_of_synthesised(facts: Sequence[Fact], embedder: Embedder | None) -> list[Features]:
    """Return the features of facts that were made of others: their words as they stand, without neighbours, never merged.

    Dates in their words were said at different times, so that none can be resolved here.
    """
    return _standing_alone(facts, [IndexText(own=fact.text) for fact in facts], embedder)


def _standing_alone(
    facts: Sequence[Fact], texts: Sequence[IndexText], embedder: Embedder | None
) -> list[Features]:
    vectors = embed_texts([text.own for text in texts], embedder)
    return [
        replace(
            _features_without_models(fact, text, ""),
            vectors={} if vectors is None else {"fact": vectors[row], "context": vectors[row]},
        )
        for row, (fact, text) in enumerate(zip(facts, texts, strict=True))
    ]
