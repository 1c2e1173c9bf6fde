"""Search over mental models: by words, and by the meaning of their names and questions, fused by reciprocal rank.

A bank has few of them, so each search weighs all, and nothing is kept for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from perdure.domain.filter import TagExpression
from perdure.domain.mental_model import MentalModel, MentalModelMatch, render_sections
from perdure.domain.recall import Evidence, Hit
from perdure.errors import InvalidInput
from perdure.ports.embedder import Embedder
from perdure.recall.fuse import RRF_K, fuse_by_reciprocal_rank
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.record import every_model
from perdure.reflect.mental_models.scope import is_stale
from perdure.reflect.reflection import MentalModelText
from perdure.text.terms import index_terms

K1, B = 1.2, 0.75
MIN_COSINE = 0.1
"""A model that is less like the question is no hit of the vectors."""
MOST_MODELS = 3
"""Models that a reflect reads."""


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
    """Return the models that bear on a question with their scores, best first; `only` names the models to look at."""
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
    if components.recall.embedder is not None and models:
        channels["semantic"] = _rank_by_meaning(query, models, components.recall.embedder)
    highest = len(channels) / (RRF_K + 1)
    return [
        MentalModelMatch(models[one.fact_id], one.fused / highest)
        for one in fuse_by_reciprocal_rank(channels, limit)
    ]


def rank_by_terms(query: str, models: Mapping[str, MentalModel]) -> list[Hit]:
    """Rank by BM25 (Robertson and Zaragoza 2009) over name, question and document; ties by id."""
    terms = {
        model_id: index_terms("\n".join((model.name, model.source_query, render_sections(model.sections))))
        for model_id, model in models.items()
    }
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


def _rank_by_meaning(query: str, models: Mapping[str, MentalModel], embedder: Embedder) -> list[Hit]:
    """Rank by the cosine of the question with each name and question; ties by id."""
    texts = [f"{model.name}\n{model.source_query}" for model in models.values()]
    cosines = embedder.embed_passages(texts) @ embedder.embed_query(query)
    ranked = sorted(zip(models, map(float, cosines), strict=True), key=lambda one: (-one[1], one[0]))
    return [Hit(model_id, cosine) for model_id, cosine in ranked if cosine >= MIN_COSINE]


def model_texts(
    components: ReflectComponents,
    bank: str,
    query: str,
    tags: Sequence[TagExpression] = (),
    exclude: Collection[str] = (),
) -> list[MentalModelText]:
    """Return the models nearest to a question; strong is one that answers it, fresh and asked in the same words."""
    matches = match_mental_models(components, bank, query, tags=tags, exclude=exclude)
    models = [match.model for match in matches if match.model.sections][:MOST_MODELS]
    with components.store.reading(bank) as reading:
        stale = {model.id for model in models if is_stale(reading, model, components.clock())}
    asked = index_terms(query).keys()
    return [
        MentalModelText(
            id=model.id,
            name=model.name,
            content=model.content,
            evidence=Evidence.STRONG
            if model.id not in stale and asked == index_terms(model.source_query).keys()
            else Evidence.WEAK,
            fact_ids=model.cited_fact_ids,
        )
        for model in models
    ]
