"""Reading observations: the profiles in force, one of them, its versions; and deleting them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter, TagLeaf, TagsMatch
from perdure.domain.observation import (
    CONSOLIDATION_RECORD,
    OBSERVATION_RECORD,
    PENDING_RECORD,
    Observation,
    Scope,
    read_observation,
    read_subject,
)
from perdure.domain.record import Record
from perdure.errors import NotFound
from perdure.ports.store import FactsWhere, Order, Reading, Rows, Selection, Store, Transaction
from perdure.recall.freshness import stale_observations
from perdure.reflect.observations.subjects import subject_id
from perdure.reflect.observations.write import SUBJECT_RECORD, delete_versions, read_versions
from perdure.text.names import normal_name

PAGE = 500


def list_observations(
    store: Store,
    bank: str,
    now: datetime,
    *,
    name: str | None = None,
    tags: Sequence[str] | None = None,
    stale: bool = False,
) -> list[Observation]:
    """The observations in force, newest first; with `stale` also those of which a source has changed since.

    `name` is that of an entity or topic, in any case; `tags` are a scope, which must match exactly.
    """
    exactly = (TagLeaf(frozenset(tags), TagsMatch.EXACT),) if tags is not None else ()
    where = Filter(types=frozenset({FactType.OBSERVATION}), tags=exactly).at(now)
    chosen: list[Observation] = []
    with store.reading(bank) as reading:
        for page in _pages(reading, where):
            for observation in _observations(reading, page, where):
                if (stale or not observation.stale) and _is_named(observation, name):
                    chosen.append(observation)
    return chosen


def _is_named(observation: Observation, name: str | None) -> bool:
    return name is None or normal_name(observation.name) == normal_name(name)


def _pages(reading: Reading, where: Filter) -> Iterator[Sequence[Fact]]:
    offset = 0
    while True:
        selection = Selection(where=where, order=Order.NEWEST_RECORDED, offset=offset, limit=PAGE)
        facts = reading.browse(selection).facts
        if facts:
            yield facts
        offset += len(facts)
        if len(facts) < PAGE:
            return


def _observations(rows: Rows, facts: Sequence[Fact], where: Filter) -> list[Observation]:
    """Observations of facts, without facts of that type that consolidation did not make."""
    records = {record.id: record for record in rows.records(OBSERVATION_RECORD, [fact.id for fact in facts])}
    changed = stale_observations(rows, facts, where)
    return [
        read_observation(fact, records[fact.id], stale=fact.id in changed)
        for fact in facts
        if fact.id in records
    ]


def find_observation(store: Store, bank: str, observation_id: str, now: datetime) -> Observation:
    """One observation, in force or not."""
    with store.reading(bank) as reading:
        observations = _observations(reading, reading.facts([observation_id]), Filter().at(now))
    if not observations:
        raise NotFound("observation", observation_id)
    return observations[0]


def observation_versions(store: Store, bank: str, observation_id: str, now: datetime) -> list[Observation]:
    """All versions of the profile that an observation is one of, oldest first."""
    with store.reading(bank) as reading:
        for record in reading.records(OBSERVATION_RECORD, [observation_id]):
            for listed in reading.records(SUBJECT_RECORD, [subject_id(bank, read_subject(record))]):
                return _observations(reading, reading.facts(read_versions(listed)), Filter().at(now))
    raise NotFound("observation", observation_id)


def observation_scopes(store: Store, bank: str, now: datetime) -> list[tuple[Scope, int]]:
    """The scopes of the observations in force and how many each has, most first."""
    counts = Counter(tuple(sorted(one.tags)) for one in list_observations(store, bank, now))
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def delete_observations(store: Store, bank: str, fact_id: str | None = None) -> int:
    """Delete all observations with their versions, or those that rest on a fact; returns how many in force went.

    Their sources are consolidated again by the next run.
    """
    with store.transaction(bank) as tx:
        listed = tx.records(SUBJECT_RECORD)
        if fact_id is not None:
            if not tx.facts([fact_id]):
                raise NotFound("fact", fact_id)
            resting = {fact.id for fact in tx.find_facts(FactsWhere(source_fact_ids=[fact_id]))}
            listed = [record for record in listed if resting.intersection(read_versions(record))]
        return _delete_subjects(tx, bank, listed)


def _delete_subjects(tx: Transaction, bank: str, listed: Sequence[Record]) -> int:
    facts = tx.facts([fact_id for record in listed for fact_id in read_versions(record)])
    in_force = [fact for fact in facts if fact.is_open]
    sources = dict.fromkeys(source for fact in in_force for source in fact.source_fact_ids)
    delete_versions(tx, [fact.id for fact in facts])
    tx.delete_records(SUBJECT_RECORD, [record.id for record in listed])
    if in_force and tx.records(CONSOLIDATION_RECORD, [CONSOLIDATION_RECORD]):
        tx.put_records([Record(kind=PENDING_RECORD, id=source, bank=bank) for source in sources])
    return len(in_force)
