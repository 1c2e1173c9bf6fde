"""What goes from observations when facts are forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from perdure.domain.fact import Fact, FactType
from perdure.domain.observation import (
    FAILED_RECORD,
    OBSERVATION_RECORD,
    PENDING_RECORD,
    read_subject,
)
from perdure.history import mark_changed
from perdure.ports.store import Transaction
from perdure.reflect.observations.subjects import TOPIC, subject_id
from perdure.reflect.observations.write import SUBJECT_RECORD, read_versions

WORK_RECORD = "consolidation_subject"
"""Kind of the records that name subjects whose profile is to be looked at."""
BATCH_RECORD = "consolidation_batch"
"""Kind of the records that list such subjects, as a run does them together."""


def scrub_observations(tx: Transaction, erased: Mapping[str, Fact]) -> bool:
    """Delete what is kept beside erased observations, and have their other sources consolidated again.

    Observations that rest on an erased fact are erased with it. Topics that only erased facts had leave the records too.
    """
    profiles = [fact for fact in erased.values() if fact.type is FactType.OBSERVATION]
    tx.delete_records(OBSERVATION_RECORD, [fact.id for fact in profiles])
    for kind in (PENDING_RECORD, FAILED_RECORD):
        tx.delete_records(kind, list(erased))
    others = dict.fromkeys(
        source for fact in profiles for source in fact.source_fact_ids if source not in erased
    )
    mark_changed(tx, tx.facts(list(others)))
    topics = {fact.topic for fact in erased.values() if fact.topic}
    if topics:
        for record in tx.records(SUBJECT_RECORD):
            subject = read_subject(record)
            if subject.kind == TOPIC and subject.key in topics and not tx.facts(read_versions(record)):
                tx.delete_records(SUBJECT_RECORD, [record.id])
        listed = {record.id for record in tx.records(SUBJECT_RECORD)}
        unlisted = [record for record in tx.records(WORK_RECORD) if record.id not in listed]
        named = [record.id for record in unlisted if read_subject(record).key in topics]
        tx.delete_records(WORK_RECORD, named)
        for record in tx.records(BATCH_RECORD):
            batch: Any = record.body["subjects"]
            kept = [
                one
                for one in batch
                if one["subject"]["kind"] != TOPIC
                or one["subject"]["key"] not in topics
                or subject_id(record.bank, read_subject(replace(record, body=one))) in listed
            ]
            if len(kept) < len(batch):
                tx.put_records([replace(record, body={"subjects": kept})])
    return bool(profiles)
