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
from perdure.text.terms import index_terms

LEAST_SHARED = 0.5
"""Share of the question's words that a fact on its subject has, where no reader has read it."""
LEAST_ANSWER, SHARE_OF_BEST = 0.03, 0.1
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
    named = recalled.query.entities.keys()
    of_named = [one.fact for one in current if not named.isdisjoint(one.fact.entity_ids)]
    if _asks_for_all(recalled.query, of_named):
        return central(of_named if named else [one.fact for one in current], vectors)
    best = max((one.answers for one in current if one.answers is not None), default=None)
    if best is None:
        return [one.fact for one in current if _shares_words(one, recalled.query)]
    floor = max(LEAST_ANSWER, best * SHARE_OF_BEST)
    return [one.fact for one in current if (one.answers or 0.0) >= floor]


def _asks_for_all(query: Query, of_named: Sequence[Fact]) -> bool:
    """Return whether a question has hardly a word beyond the names in it: "What is known of Ann?"."""
    names = {
        name
        for fact in of_named
        for name, entity_id in zip(fact.entities, fact.entity_ids, strict=False)
        if entity_id in query.entities
    }
    return len(query.terms.keys() - index_terms(" ".join(names)).keys()) <= 1


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
