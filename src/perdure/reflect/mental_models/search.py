"""Search over mental models: BM25 and vectors, fused by reciprocal rank.

A bank has few of them, so each search weighs all: nothing but their vectors is kept for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from perdure.domain.filter import TagExpression
from perdure.domain.mental_model import MentalModel, MentalModelMatch
from perdure.domain.recall import Hit
from perdure.errors import InvalidInput
from perdure.ports.embedder import Embedder, Vector
from perdure.ports.store import Rows
from perdure.recall.fuse import RRF_K, fuse_by_reciprocal_rank
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.record import every_model, read_vectors, searched_text
from perdure.text.terms import index_terms

K1, B = 1.2, 0.75
MIN_COSINE = 0.1
"""A model that is less like the question is no hit of the vectors."""


def search_mental_models(
    components: ReflectComponents,
    bank: str,
    query: str,
    *,
    limit: int = 10,
    tags: Sequence[TagExpression] = (),
    exclude: Collection[str] = (),
) -> list[MentalModel]:
    """The models with content that bear on a question, best first."""
    matches = match_mental_models(components, bank, query, limit=limit, tags=tags, exclude=exclude)
    return [match.model for match in matches if match.model.sections]


def match_mental_models(
    components: ReflectComponents,
    bank: str,
    query: str,
    *,
    limit: int = 10,
    tags: Sequence[TagExpression] = (),
    exclude: Collection[str] = (),
    only: Collection[str] | None = None,
) -> list[MentalModelMatch]:
    """The same with scores, and with models that have no content yet; `only` names the models to look at."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("query", "non-empty text", query)
    with components.store.reading(bank) as reading:
        models = {
            model.id: model
            for model in every_model(reading)
            if model.id not in exclude
            and (only is None or model.id in only)
            and all(condition.admits(model.tags) for condition in tags)
        }
        channels = {"keyword": rank_by_terms(query, models)}
        if components.recall.embedder is not None:
            vectors = _vectors(reading, list(models.values()), components.recall.embedder)
            channels["semantic"] = rank_by_vectors(components.recall.embedder.embed_query(query), vectors)
    highest = len(channels) / (RRF_K + 1)
    return [
        MentalModelMatch(models[one.fact_id], one.fused / highest)
        for one in fuse_by_reciprocal_rank(channels, limit)
    ]


def rank_by_terms(query: str, models: Mapping[str, MentalModel]) -> list[Hit]:
    """BM25 (Robertson and Zaragoza 2009) over name, question and document; ties by id."""
    terms = {model_id: index_terms(searched_text(model)) for model_id, model in models.items()}
    lengths = {model_id: sum(counts.values()) for model_id, counts in terms.items()}
    average = sum(lengths.values()) / len(lengths) if lengths else 0.0
    scores: Counter[str] = Counter()
    for term, weight in index_terms(query).items():
        containing = [model_id for model_id, counts in terms.items() if counts[term]]
        idf = math.log(1 + (len(terms) - len(containing) + 0.5) / (len(containing) + 0.5))
        for model_id in containing:
            frequency = terms[model_id][term]
            norm = K1 * (1 - B + B * lengths[model_id] / average)
            scores[model_id] += weight * idf * frequency * (K1 + 1) / (frequency + norm)  # type: ignore[assignment]
    return [
        Hit(model_id, score) for model_id, score in sorted(scores.items(), key=lambda one: (-one[1], one[0]))
    ]


def rank_by_vectors(query: Vector, vectors: Mapping[str, Vector]) -> list[Hit]:
    """Cosine with the question; ties by id."""
    cosines = {model_id: float(np.dot(query, vector)) for model_id, vector in vectors.items()}
    ranked = sorted(cosines.items(), key=lambda one: (-one[1], one[0]))
    return [Hit(model_id, cosine) for model_id, cosine in ranked if cosine >= MIN_COSINE]


def _vectors(rows: Rows, models: Sequence[MentalModel], embedder: Embedder) -> dict[str, Vector]:
    """The stored vectors; those of models that changed since are made anew."""
    vectors = read_vectors(rows, models, embedder)
    lacking = [model for model in models if model.id not in vectors]
    if lacking:
        embedded = embedder.embed_passages([searched_text(model) for model in lacking])
        vectors |= {model.id: row for model, row in zip(lacking, embedded, strict=True)}
    return vectors
