"""The rows of an opinion: how its record is worded, and the fact under which recall finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.fact import Fact, FactType
from perdure.domain.opinion import STANDS_ALONE, EvidenceLabel, OpinionEvidence, beginning
from perdure.ports.embedder import Embedder, LateInteraction
from perdure.ports.store import Features, Rows
from perdure.recall.beliefs import BeliefKind, StoredOpinion, in_time_order, subject_entities
from perdure.reflect.opinions.attitudes import Attitude
from perdure.retain.features import features_of_edited
from perdure.text.names import normal_name


def worded_by(attitude: Attitude, stored: StoredOpinion) -> StoredOpinion:
    """The opinion in the words of a statement of it."""
    return replace(
        stored,
        subject=attitude.subject,
        statement=attitude.statement,
        polarity=attitude.polarity,
        kind=attitude.kind,
        topic=attitude.topic,
        over=attitude.over,
        issue=attitude.issue,
    )


def is_stronger(attitude: Attitude, stored: StoredOpinion) -> bool:
    """Whether a statement prefers, by itself, what an opinion so far only likes: then it gives the wording."""
    prefers = attitude.kind is BeliefKind.PREFERENCE and stored.kind is BeliefKind.LIKING
    return prefers and attitude.strength >= STANDS_ALONE


def said_at(fact: Fact, now: datetime) -> datetime:
    """When evidence was given: when the fact was said, else when it was recorded."""
    return fact.mentioned_at or fact.recorded_at or now


def opinion_fact(
    rows: Rows,
    stored: StoredOpinion,
    log: Sequence[OpinionEvidence],
    facts: Mapping[str, Fact],
    before: Fact | None = None,
) -> Fact | None:
    """The fact of an opinion, which follows from its log; None while no part of the log makes a belief.

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


def opinion_features(fact: Fact, embedder: Embedder | None, late: LateInteraction | None) -> Features:
    """How an opinion is found: by its statement; it is never merged with what somebody says."""
    return replace(features_of_edited(fact, embedder, late), dedupe_key="")
