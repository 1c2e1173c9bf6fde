"""The observations of a bank: the profiles in force, their versions, and how far consolidation has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from perdure.domain.bank import check_bank_id
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
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import NotFound
from perdure.ports.clock import Clock
from perdure.ports.store import FactsWhere, Order, Reading, Rows, Selection, Store, Transaction
from perdure.recall.freshness import stale_observations
from perdure.reflect.observations.progress import (
    ConsolidationStatus,
    consolidation_status,
    pending_fact_ids,
    recover,
)
from perdure.reflect.observations.subjects import subject_id
from perdure.reflect.observations.write import SUBJECT_RECORD, delete_versions, read_versions
from perdure.text.names import normal_name

PAGE = 500


class Observations:
    """The observations of a memory, and how far consolidation has come: `memory.observations`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    @verb(READ)
    def get(self, bank: str, observation_id: str) -> Observation:
        """Return an observation, in force or not, with its clauses and their sources."""
        with self._store.reading(check_bank_id(bank)) as reading:
            where = Filter().at(self._clock())
            for observation in _observations(reading, reading.facts([observation_id]), where):
                return observation
        raise NotFound("observation", observation_id)

    @verb(READ)
    def versions(self, bank: str, observation_id: str) -> list[Observation]:
        """Return every version of the profile that an observation belongs to, oldest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            where = Filter().at(self._clock())
            for record in reading.records(OBSERVATION_RECORD, [observation_id]):
                for listed in reading.records(SUBJECT_RECORD, [subject_id(bank, read_subject(record))]):
                    return _observations(reading, reading.facts(read_versions(listed)), where)
        raise NotFound("observation", observation_id)

    @verb(READ)
    def scopes(self, bank: str) -> list[tuple[Scope, int]]:
        """Return the combinations of tags that observations carry and how many carry each, most first."""
        counts = Counter(tuple(sorted(observation.tags)) for observation in self.list(bank))
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    @verb(READ)
    def status(self, bank: str) -> ConsolidationStatus:
        """Return what the next consolidation will look at, what was set aside, and when the last one ended."""
        return consolidation_status(self._store, check_bank_id(bank), self._clock())

    @verb(READ)
    def pending_fact_ids(self, bank: str) -> frozenset[str]:
        """Return the ids of the facts that the next consolidation will look at."""
        return pending_fact_ids(self._store, check_bank_id(bank), self._clock())

    @verb(WRITE)
    def recover(self, bank: str) -> int:
        """Have the next consolidation look again at the facts that were set aside. Return how many there are."""
        return recover(self._store, check_bank_id(bank))

    @verb(WRITE, needs_admin=lambda arguments: arguments.get("fact_id") is None)
    def delete(self, bank: str, *, fact_id: str | None = None) -> int:
        """Delete all observations with their versions, or those that rest on a fact. Return how many in force there were.

        The next consolidation looks at their sources again.
        """
        with self._store.transaction(check_bank_id(bank)) as tx:
            listed = tx.records(SUBJECT_RECORD)
            if fact_id is not None:
                if not tx.facts([fact_id]):
                    raise NotFound("fact", fact_id)
                resting = {fact.id for fact in tx.find_facts(FactsWhere(source_fact_ids=[fact_id]))}
                listed = [record for record in listed if resting.intersection(read_versions(record))]
            return _delete_subjects(tx, bank, listed)

    @verb(READ)
    def list(
        self, bank: str, *, name: str | None = None, tags: Sequence[str] | None = None, stale: bool = False
    ) -> list[Observation]:
        """Return the profiles in force, newest first: all, those of an entity or topic, or those of exactly these tags.

        With `stale` also those of which a source has changed since, which recall leaves out.
        """
        exactly = (TagLeaf(frozenset(tags), TagsMatch.EXACT),) if tags is not None else ()
        where = Filter(types=frozenset({FactType.OBSERVATION}), tags=exactly).at(self._clock())
        with self._store.reading(check_bank_id(bank)) as reading:
            return [
                observation
                for page in _pages(reading, where)
                for observation in _observations(reading, page, where)
                if (stale or not observation.stale) and _is_named(observation, name)
            ]


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


def _delete_subjects(tx: Transaction, bank: str, listed: Sequence[Record]) -> int:
    facts = tx.facts([fact_id for record in listed for fact_id in read_versions(record)])
    in_force = [fact for fact in facts if fact.is_open]
    sources = dict.fromkeys(source for fact in in_force for source in fact.source_fact_ids)
    delete_versions(tx, [fact.id for fact in facts])
    tx.delete_records(SUBJECT_RECORD, [record.id for record in listed])
    if in_force and tx.records(CONSOLIDATION_RECORD, [CONSOLIDATION_RECORD]):
        tx.put_records([Record(kind=PENDING_RECORD, id=source, bank=bank) for source in sources])
    return len(in_force)
