"""Mental models as the first tier of reflect: a fresh model answers the question that it was made for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from perdure.domain.filter import TagExpression
from perdure.domain.mental_model import MentalModel
from perdure.domain.recall import Evidence
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.scope import is_stale
from perdure.reflect.mental_models.search import search_mental_models
from perdure.reflect.reflection import MentalModelText
from perdure.text.terms import index_terms

MOST_MODELS = 3


def model_texts(
    components: ReflectComponents,
    bank: str,
    query: str,
    tags: Sequence[TagExpression] = (),
    exclude: Collection[str] = (),
) -> list[MentalModelText]:
    """The models nearest to a question; strong is one that answers it, fresh and asked in the same words."""
    models = search_mental_models(components, bank, query, limit=MOST_MODELS, tags=tags, exclude=exclude)
    with components.store.reading(bank) as reading:
        stale = {model.id for model in models if is_stale(reading, model, components.clock())}
    return [_text(model, query, model.id in stale) for model in models]


def _text(model: MentalModel, query: str, stale: bool) -> MentalModelText:
    answers = not stale and index_terms(query).keys() == index_terms(model.source_query).keys()
    return MentalModelText(
        id=model.id,
        name=model.name,
        content=model.content,
        evidence=Evidence.STRONG if answers else Evidence.WEAK,
        fact_ids=model.cited_fact_ids,
    )
