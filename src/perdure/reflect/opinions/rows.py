"""The opinions of a bank as they are stored: their logs, which facts state one, and the fact under which recall finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import BELIEF, INSTRUCTION, Entity, Fact, FactType
from perdure.domain.opinion import EvidenceLabel, OpinionEvidence, beginning
from perdure.ports.embedder import Embedder
from perdure.ports.store import Features, Rows
from perdure.recall.beliefs import (
    StoredOpinion,
    in_time_order,
    logs_of,
    stored_opinions,
    subject_entities,
)
from perdure.retain.features import features_of_edited
from perdure.text.names import normal_name

STATED = 0.65
"""Strength of a stated belief that does not say how sure it is: it makes an opinion alone."""


MAX_ASSESSED = 20
"""Opinions on a subject that a fact is assessed against, the newest."""


@dataclass(slots=True)
class Belief:
    """An opinion with its log."""

    stored: StoredOpinion
    log: list[OpinionEvidence]
    is_new: bool = False
    is_changed: bool = False

    @property
    def fact_ids(self) -> set[str]:
        return {row.fact_id for row in self.log}


class Beliefs:
    """The opinions of a bank, found by what they are about."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        logs = logs_of(rows)
        self.by_id = {one.id: Belief(one, logs.get(one.id, [])) for one in stored_opinions(rows).values()}
        self._entities: dict[str, Entity | None] = {}

    def on_subjects_of(self, fact: Fact) -> list[Belief]:
        """Return the newest beliefs on what a fact is about; none for what is no evidence, as thoughts are not."""
        if fact.type is FactType.OBSERVATION or fact.id in self.by_id:
            return []
        keys = {self._key(name) for name in (subject_of(fact), *fact.entities) if name} | set(fact.entity_ids)
        about = [
            belief
            for belief in self.by_id.values()
            if belief.stored.tags == fact.tags
            and (self._key(belief.stored.subject) in keys or mentions(fact.text, belief.stored.subject))
        ]
        about.sort(key=lambda belief: belief.stored.id)  # ids sort by the time of their making
        return about[-MAX_ASSESSED:]

    def _key(self, name: str) -> str:
        """Return what tells a subject from others: the entity with that name, or the name itself."""
        if name not in self._entities:
            self._entities[name] = subject_entities(self._rows, [name]).get(normal_name(name))
        entity = self._entities[name]
        return entity.id if entity is not None else normal_name(name)


def stated_strength(fact: Fact) -> float | None:
    """Return how surely a fact states a belief of who says it; None where it states none."""
    states = fact.type is FactType.OPINION or BELIEF in fact.flags
    if not states or INSTRUCTION in fact.flags or fact.is_foreign:
        return None
    return STATED if fact.confidence is None else fact.confidence


def subject_of(fact: Fact) -> str:
    """Return whom or what the belief that a fact states is about: its subject, else who says it."""
    return fact.subject or fact.speaker or next(iter(fact.entities), "")


def mentions(text: str, name: str) -> bool:
    """Return whether a text has the words of a name."""
    return f" {normal_name(name)} " in f" {normal_name(text)} "


def said_at(fact: Fact, now: datetime) -> datetime:
    """Return when evidence was given: when the fact was said, else when it was recorded."""
    return fact.mentioned_at or fact.recorded_at or now


def opinion_fact(
    rows: Rows,
    stored: StoredOpinion,
    log: Sequence[OpinionEvidence],
    facts: Mapping[str, Fact],
    before: Fact | None = None,
) -> Fact | None:
    """Return the fact of an opinion, which follows from its log; None while no part of the log makes a belief.

    It has the plain statement and no confidence, which depend on the moment. It is known since its first support is, as it
    follows from that, and as secret as the most secret one.
    """
    ordered = in_time_order(log, facts)
    first = beginning(ordered)
    supports = [
        facts[row.fact_id]
        for row in ordered
        if row.label is EvidenceLabel.SUPPORTING and row.fact_id in facts
    ]
    if first is None or not supports:
        return None
    entity = subject_entities(rows, [stored.subject]).get(normal_name(stored.subject))
    recorded = [fact.recorded_at for fact in supports if fact.recorded_at is not None]
    base = before or Fact(id=stored.id, bank=stored.bank, text=stored.statement, type=FactType.OPINION)
    return replace(
        base,
        text=stored.statement,
        mentioned_at=first.at,
        recorded_at=min(recorded, default=base.recorded_at),
        entities=(entity.name,) if entity is not None else (),
        entity_ids=(entity.id,) if entity is not None else (),
        tags=stored.tags,
        classification=max(fact.classification for fact in supports),
        source_fact_ids=tuple(fact.id for fact in supports),
    )


def opinion_features(fact: Fact, embedder: Embedder | None) -> Features:
    """Return the features of an opinion: those of its statement, never merged with what somebody says."""
    return replace(features_of_edited(fact, embedder), dedupe_key="")
