"""Documents from recalled facts: each fact a sentence, sentences grouped by what they are about, within a budget of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter, admits
from perdure.domain.inert import inert
from perdure.domain.mental_model import ModelSection, ModelSentence, render_sections
from perdure.domain.recall import Evidence, Query, RecallResult
from perdure.domain.rendering import document_line, iso_day
from perdure.ports.notes import NOTE_PREFIX
from perdure.ports.tokens import Tokens
from perdure.text.terms import index_terms

REST = "Further"
"""Heading of what is about nothing that another sentence is about."""
LEAST_SHARED = 0.5
"""Of the question's words, which a fact on its subject has at least."""
_ENDS = (".", "!", "?", "…", '"', "”", "]", ")", "。")


def supported_facts(recalled: RecallResult) -> list[Fact]:
    """The recalled facts that bear on the question: observations first, then best first.

    That is what there is evidence for, and what names what the question names or shares most of its words: a document
    gathers what is known of its subject, where an answer needs the one fact that answers.
    """
    facts = [
        one.fact
        for one in recalled.recollections
        if not one.fact.id.startswith(NOTE_PREFIX)
        and (one.evidence is not Evidence.NONE or _is_on_subject(one.fact, recalled.query))
    ]
    return sorted(facts, key=lambda fact: fact.type is not FactType.OBSERVATION)


def _is_on_subject(fact: Fact, query: Query) -> bool:
    if not query.entities.keys().isdisjoint(fact.entity_ids):
        return True
    if not query.entities and len(query.terms) <= 1:
        return True  # "What is known?" asks for all of the scope.
    shared = query.terms.keys() & index_terms(fact.text).keys()
    return len(shared) >= LEAST_SHARED * len(query.terms)


def sentence_of(fact: Fact, now: datetime) -> ModelSentence:
    """A fact as a sentence, with its date; what is over says until when, and rests on what ended it too."""
    text = inert(document_line(fact))
    text = text if text.endswith(_ENDS) else text + "."
    if admits(Filter().at(now), fact):
        return ModelSentence(text, (fact.id,))
    until = f" (until {iso_day(fact.valid_to)})" if fact.valid_to is not None else " (over)"
    ended_by = () if fact.superseded_by is None else (fact.superseded_by,)
    return ModelSentence(text + until, (fact.id, *ended_by), ended=True)


def group_facts(facts: Sequence[Fact], headings: Collection[str] = ()) -> dict[str, list[Fact]]:
    """Heading -> facts about it, both in the order of the facts.

    A fact stands under a heading that the document has already, else under the one of its entities that most facts mention, if
    two do; what is left stands last.
    """
    mentions = Counter(name for fact in facts for name in names_of(fact))
    groups: dict[str, list[Fact]] = {}
    rest: list[Fact] = []
    for fact in facts:
        names = names_of(fact)
        heading = next((name for name in names if name in headings), None)
        if heading is None and names:
            commonest = max(names, key=lambda name: mentions[name])
            heading = commonest if mentions[commonest] > 1 else None
        if heading is None:
            rest.append(fact)
        else:
            groups.setdefault(heading, []).append(fact)
    return {**groups, REST: rest} if rest else groups


def names_of(fact: Fact) -> tuple[str, ...]:
    """What a fact is about, its subject first."""
    names = ([fact.subject] if fact.subject in fact.entities else []) + list(fact.entities)
    return tuple(dict.fromkeys(inert(name) for name in names if name and inert(name)))


def compose(
    facts: Sequence[Fact], tokens: Tokens, max_tokens: int, now: datetime
) -> tuple[ModelSection, ...]:
    """A document of the first facts that fit."""
    chosen = list(facts)
    while chosen:
        sections = tuple(
            ModelSection(heading, tuple(sentence_of(fact, now) for fact in group))
            for heading, group in group_facts(chosen).items()
        )
        sections = without_lone_heading(sections)
        size = tokens.count(render_sections(sections))
        if size <= max_tokens:
            return sections
        # The share that fits, at least one fact less: the sizes of sentences are alike.
        chosen = chosen[: min(len(chosen) - 1, len(chosen) * max_tokens // size)]
    return ()


def without_lone_heading(sections: Iterable[ModelSection]) -> tuple[ModelSection, ...]:
    """Sections that hold something; what is left for want of a heading needs none where it stands alone."""
    filled = tuple(section for section in sections if section.sentences)
    if len(filled) == 1 and filled[0].heading == REST:
        return (replace(filled[0], heading=""),)
    return filled


def without_facts(sections: Iterable[ModelSection], fact_ids: Collection[str]) -> tuple[ModelSection, ...]:
    """The sections without the sentences that rest on one of the facts, and without those that this empties."""
    kept = (
        replace(
            section,
            sentences=tuple(one for one in section.sentences if not set(one.fact_ids) & set(fact_ids)),
        )
        for section in sections
    )
    return tuple(section for section in kept if section.sentences)
