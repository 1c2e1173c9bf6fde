"""Documents from recalled facts: a selection of statements as they were said, the most relevant first, at most ten lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter, admits
from perdure.domain.inert import inert
from perdure.domain.mental_model import ModelSection, ModelSentence, render_sections
from perdure.domain.recall import Evidence, Query, RecallResult, Recollection
from perdure.domain.rendering import document_line
from perdure.ports.embedder import Vector
from perdure.ports.notes import NOTE_PREFIX
from perdure.ports.tokens import Tokens
from perdure.reflect.answer import SENTENCE_ENDS
from perdure.reflect.observations.compose import MOST_STATEMENTS, central, is_source
from perdure.text.asking import only_asks
from perdure.text.terms import index_terms

LEAST_SHARED = 0.5
"""Share of the question's words that a fact on its subject has, where no reader has read it."""
LEAST_ANSWER, SHARE_OF_BEST = 0.05, 0.2
"""Probability of answering that a fact on the subject has, at least and relative to the best fact."""


def select_facts(recalled: RecallResult, vectors: Mapping[str, Vector], now: datetime) -> list[Fact]:
    """Return the current facts that bear on the question, best first; the most central ones of a scope if it asks for all."""
    current = [
        one
        for one in recalled.recollections
        if not one.fact.id.startswith(NOTE_PREFIX)
        and is_source(one.fact)
        and admits(Filter().at(now), one.fact)
    ]
    query = recalled.query
    best = max((one.answers for one in current if one.answers is not None), default=None)
    named = [one.fact for one in current if not query.entities.keys().isdisjoint(one.fact.entity_ids)]
    if named and only_asks(query.text, _names_of(query, named)):
        return central(named, vectors)
    if best is None and not query.entities and len(query.terms) <= 1:
        return central([one.fact for one in current], vectors)
    if best is None:
        return [one.fact for one in current if _shares_words(one, query)]
    floor = max(LEAST_ANSWER, best * SHARE_OF_BEST)
    return [one.fact for one in current if (one.answers or 0.0) >= floor]


def _names_of(query: Query, facts: Sequence[Fact]) -> set[str]:
    """Return the names of the entities that a question names."""
    pairs = (pair for fact in facts for pair in zip(fact.entities, fact.entity_ids, strict=False))
    return {name for name, entity_id in pairs if entity_id in query.entities}


def _shares_words(recollection: Recollection, query: Query) -> bool:
    shared = query.terms.keys() & index_terms(recollection.fact.text).keys()
    return recollection.evidence is not Evidence.NONE or len(shared) >= LEAST_SHARED * len(query.terms)


def compose(facts: Sequence[Fact], tokens: Tokens, max_tokens: int) -> tuple[ModelSection, ...]:
    """Return a document of the first facts that fit."""
    kept: tuple[ModelSentence, ...] = ()
    for fact in facts[:MOST_STATEMENTS]:
        text = inert(document_line(fact))
        sentence = ModelSentence(text if text.endswith(SENTENCE_ENDS) else f"{text}.", (fact.id,))
        if tokens.count(render_sections([ModelSection("", (*kept, sentence))])) <= max_tokens:
            kept = (*kept, sentence)
    return (ModelSection("", kept),) if kept else ()


def without_facts(sections: Iterable[ModelSection], fact_ids: Collection[str]) -> tuple[ModelSection, ...]:
    """Return the sections without the sentences that rest on one of the facts, and without sections that become empty."""
    kept = (
        replace(
            section,
            sentences=tuple(one for one in section.sentences if not set(one.fact_ids) & set(fact_ids)),
        )
        for section in sections
    )
    return tuple(section for section in kept if section.sentences)
