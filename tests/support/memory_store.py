"""A store in dictionaries: slow, obvious, and the oracle that real stores are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from threading import RLock
from typing import TypeVar

from perdure.domain.bank import Bank, EmbeddingModel, check_bank_id
from perdure.domain.damage import Damage, Verification
from perdure.domain.fact import Chunk, Document, Fact, Link, LinkKind, RankingFields, ranking_fields
from perdure.domain.filter import Filter, admits
from perdure.domain.recall import Hit
from perdure.domain.record import Record
from perdure.errors import Conflict, ModelMismatch, Unavailable
from perdure.ports.probe import Probe
from perdure.ports.store import (
    BankStats,
    FactPage,
    FactsWhere,
    Features,
    IndexUsage,
    KeyedEntity,
    NewFact,
    Order,
    Passage,
    Proof,
    Selection,
    StagedVectors,
    Traces,
)
from tests.support.memory_search import MemorySearch

_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
_RECALLS_KEPT = 20
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(slots=True)
class BankState:
    """Everything a bank holds; `bank` is None when there is no such bank. Facts are in recorded order."""

    bank: Bank | None = None
    documents: dict[str, Document] = field(default_factory=dict)
    chunks: dict[str, Chunk] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    features: dict[str, Features] = field(default_factory=dict)
    entities: dict[str, KeyedEntity] = field(default_factory=dict)
    links: dict[tuple[str, str, LinkKind], Link] = field(default_factory=dict)
    proofs: dict[str, tuple[Proof, ...]] = field(default_factory=dict)
    records: dict[tuple[str, str], Record] = field(default_factory=dict)
    staged: dict[tuple[EmbeddingModel, str], StagedVectors] = field(default_factory=dict)

    def copy(self) -> BankState:
        """A state that can be changed without changing this one."""
        tables = (getattr(self, table.name) for table in fields(self) if table.name != "bank")
        return BankState(self.bank, *(dict(table) for table in tables))


class MemoryRows:
    """The reads that readings and transactions share."""

    def __init__(self, state: Callable[[], BankState]) -> None:
        self._current = state

    @property
    def _state(self) -> BankState:
        return self._current()

    def damaged(self) -> tuple[Damage, ...]:
        return ()

    def bank(self) -> Bank | None:
        return self._state.bank

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        return _of(self._state.facts, ids)

    def features(self, ids: Sequence[str]) -> dict[str, Features]:
        features = self._state.features
        return {fact_id: features[fact_id] for fact_id in ids if fact_id in features}

    def documents(self, ids: Sequence[str] | None = None) -> list[Document]:
        documents = self._state.documents
        if ids is not None:
            return _of(documents, ids)
        by_id = sorted(documents.values(), key=lambda document: document.id)
        return sorted(by_id, key=lambda document: document.created_at or _LONG_AGO, reverse=True)

    def chunks(self, *, ids: Sequence[str] | None = None, document_id: str | None = None) -> list[Chunk]:
        chunks = self._state.chunks
        if ids is not None:
            return _of(chunks, ids)
        of_document = [chunk for chunk in chunks.values() if chunk.document_id == document_id]
        return sorted(of_document, key=lambda chunk: (chunk.ordinal, chunk.id))

    def entities(
        self, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        entities = self._state.entities
        if ids is not None:
            return _of(entities, ids)
        ranked = sorted(entities.values(), key=lambda keyed: (-keyed.entity.mentions, keyed.entity.id))
        return [keyed for keyed in ranked if keys is None or set(keys) & set(keyed.keys)]

    def links(self, ids: Sequence[str], kind: LinkKind | None = None) -> list[Link]:
        links, asked = self._state.links, set(ids)
        touching = (links[key] for key in sorted(links) if key[0] in asked or key[1] in asked)
        return [link for link in touching if kind in (None, link.kind)]

    def proofs(self, ids: Sequence[str]) -> dict[str, list[Proof]]:
        proofs = self._state.proofs
        return {fact_id: list(proofs[fact_id]) for fact_id in ids if proofs.get(fact_id)}

    def facts_by_dedupe_key(self, keys: Sequence[str]) -> dict[str, str]:
        state = self._state
        holders: dict[str, str] = {}
        for fact in state.facts.values():
            key = state.features[fact.id].dedupe_key
            if key and key in keys and fact.is_open:
                holders.setdefault(key, fact.id)
        return holders

    def find_facts(self, where: FactsWhere) -> list[Fact]:
        return [
            fact
            for fact in self._state.facts.values()
            if fact.document_id in where.document_ids
            or fact.chunk_id in where.chunk_ids
            or set(fact.entity_ids) & set(where.entity_ids)
            or set(fact.source_fact_ids) & set(where.source_fact_ids)
            or fact.superseded_by in where.superseded_by
        ]

    def records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        return _records(self._state.records, kind, ids)


class MemoryReading(MemoryRows):
    """Rows as they are now; searches as the bank was when the reading began."""

    def __init__(self, state: Callable[[], BankState]) -> None:
        super().__init__(state)
        self._index = state()

    def search(self, probe: Probe, where: Filter, limit: int) -> list[Hit]:
        index = self._index
        if index.bank is None or limit < 1:
            return []
        vector = getattr(probe, "vector", None)
        if vector is not None and index.bank.model and len(vector) != index.bank.model.dimensions:
            raise ModelMismatch(index.bank.id, str(index.bank.model), f"one of {len(vector)} dimensions")
        entities = {entity_id: keyed.entity for entity_id, keyed in index.entities.items()}
        search = MemorySearch(index.facts, index.features, index.links.values(), entities, where)
        return search.answer(probe, limit)

    def ranking_fields(self, ids: Sequence[str]) -> dict[str, RankingFields]:
        return {fact.id: ranking_fields(fact) for fact in self.facts(ids)}

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        texts = {fact.id: fact.text for fact in self.facts(ids)}
        passages = {}
        for fact_id, features in self.features(ids).items():
            own = features.passage or texts[fact_id]
            passages[fact_id] = Passage(own, features.passage_in_context or own)
        return passages

    def browse(self, selection: Selection) -> FactPage:
        facts = [fact for fact in self._state.facts.values() if _is_selected(fact, selection)]
        if selection.order in (Order.LATEST_DATED, Order.EARLIEST_DATED):
            dated = [(fact.dated, fact.ordinal, fact) for fact in facts if fact.dated is not None]
            facts = [fact for _, _, fact in sorted(dated, key=lambda item: item[:2])]
        if selection.order in (Order.NEWEST_RECORDED, Order.LATEST_DATED):
            facts.reverse()
        page = facts[selection.offset : selection.offset + selection.limit]
        return FactPage(tuple(page), len(facts))

    def stats(self) -> BankStats:
        state = self._state
        facts = state.facts.values()
        return BankStats(
            facts=len(facts),
            current_facts=sum(1 for fact in facts if fact.is_open),
            facts_by_type=dict(Counter(str(fact.type) for fact in facts)),
            documents=len(state.documents),
            chunks=len(state.chunks),
            entities=len(state.entities),
            links_by_kind=dict(Counter(str(link.kind) for link in state.links.values())),
            tags=dict(Counter(tag for fact in facts for tag in fact.tags)),
        )

    def check_reached(self) -> None:
        """Nothing to check: it is all in memory."""


class MemoryTransaction(MemoryRows):
    """Changes a copy of a bank's state, which the store takes over when the transaction ends well."""

    def __init__(self, bank: str, state: BankState, now: datetime) -> None:
        super().__init__(lambda: self.state)
        self.state = state
        self.erases = False
        self._bank_id, self._now = bank, now

    def _writable(self) -> BankState:
        """The state of a bank that exists by now."""
        if self.state.bank is None:
            self.state.bank = Bank(id=self._bank_id, created_at=self._now, updated_at=self._now)
        return self.state

    def put_bank(self, bank: Bank) -> None:
        stored = self.state.bank
        self.state.bank = replace(
            bank,
            model=stored.model if stored else None,
            created_at=bank.created_at or (stored.created_at if stored else self._now),
            updated_at=bank.updated_at or self._now,
        )

    def set_model(self, model: EmbeddingModel) -> None:
        state = self._writable()
        assert state.bank is not None
        state.bank = replace(state.bank, model=model)

    def put_documents(self, documents: Sequence[Document]) -> None:
        for document in documents:
            stored = self._writable().documents.get(document.id)
            self.state.documents[document.id] = replace(
                document,
                created_at=document.created_at or (stored.created_at if stored else self._now),
                updated_at=document.updated_at or self._now,
            )

    def delete_documents(self, ids: Sequence[str]) -> None:
        _drop(self.state.documents, ids)

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self._writable().chunks[chunk.id] = chunk

    def delete_chunks(self, ids: Sequence[str]) -> None:
        _drop(self.state.chunks, ids)

    def insert_facts(self, facts: Sequence[NewFact]) -> None:
        for new in facts:
            if new.fact.id in self._writable().facts:
                raise Conflict(f"fact {new.fact.id!r} exists already")
            self.state.facts[new.fact.id] = new.fact
            self.state.features[new.fact.id] = new.features

    def update_facts(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            stored = self.state.facts.get(fact.id)
            if stored is not None:
                self.state.facts[fact.id] = replace(
                    fact,
                    recall_count=stored.recall_count,
                    last_recalled_at=stored.last_recalled_at,
                    recall_times=stored.recall_times,
                )

    def put_features(self, features: Mapping[str, Features]) -> None:
        """Vectors staged for a fact as it was before go."""
        for fact_id, new in features.items():
            if fact_id in self.state.facts:
                self.state.features[fact_id] = new
                self._drop_staged([fact_id])

    def delete_facts(self, ids: Sequence[str]) -> None:
        _drop(self.state.facts, ids)
        _drop(self.state.features, ids)
        _drop(self.state.proofs, ids)
        _drop(self.state.links, [key for key in self.state.links if {key[0], key[1]} & set(ids)])
        self._drop_staged(ids)

    def put_entities(self, entities: Sequence[KeyedEntity]) -> None:
        for keyed in entities:
            self._writable().entities[keyed.entity.id] = keyed

    def delete_entities(self, ids: Sequence[str]) -> None:
        _drop(self.state.entities, ids)

    def put_links(self, links: Sequence[Link]) -> None:
        for link in links:
            if link.source in self.state.facts and link.target in self.state.facts:
                self.state.links[link.source, link.target, link.kind] = link

    def add_proofs(self, proofs: Sequence[Proof]) -> None:
        for proof in proofs:
            if proof.fact_id in self.state.facts:
                self.state.proofs[proof.fact_id] = (*self.state.proofs.get(proof.fact_id, ()), proof)

    def replace_proofs(self, proofs: Mapping[str, Sequence[Proof]]) -> None:
        for fact_id, new in proofs.items():
            if fact_id in self.state.facts:
                self.state.proofs[fact_id] = tuple(new)

    def proofs_from(
        self, *, document_ids: Sequence[str] = (), chunk_ids: Sequence[str] = ()
    ) -> dict[str, list[Proof]]:
        matching = {
            fact_id: [p for p in proofs if p.document_id in document_ids or p.chunk_id in chunk_ids]
            for fact_id, proofs in self.state.proofs.items()
        }
        return {fact_id: proofs for fact_id, proofs in matching.items() if proofs}

    def put_records(self, records: Sequence[Record]) -> None:
        if records:
            own = [replace(record, bank=self._bank_id) for record in records]
            _put_records(self._writable().records, own, self._now)

    def delete_records(self, kind: str, ids: Sequence[str]) -> None:
        _drop(self.state.records, [(kind, record_id) for record_id in ids])

    def stage_vectors(self, model: EmbeddingModel, vectors: Sequence[StagedVectors]) -> None:
        for staged in vectors:
            if staged.fact_id in self.state.facts:
                self.state.staged[model, staged.fact_id] = staged

    def unstaged_facts(self, model: EmbeddingModel) -> list[str]:
        return [fact_id for fact_id in self.state.facts if (model, fact_id) not in self.state.staged]

    def switch_model(self, model: EmbeddingModel) -> None:
        """Facts without staged vectors have none afterwards."""
        state = self.state
        for fact_id, features in state.features.items():
            staged = state.staged.pop((model, fact_id), StagedVectors(fact_id, {}))
            state.features[fact_id] = replace(features, vectors=staged.vectors)
        self.set_model(model)

    def delete_bank(self) -> None:
        self.state = BankState()

    def erased_content(self) -> bool:
        self.erases = True
        return False

    def _drop_staged(self, ids: Sequence[str]) -> None:
        _drop(self.state.staged, [key for key in self.state.staged if key[1] in ids])


class MemoryStore:
    """The Store protocol without a database; nothing outlives the process.

    It has no files, but says that traces of erased content are there until they are cleared, as a store with files does.
    """

    def __init__(
        self, clock: Callable[[], datetime] = lambda: datetime.now(UTC), *, clears_at_once: bool = True
    ) -> None:
        self._clock, self._clears_at_once = clock, clears_at_once
        self._states: dict[str, BankState] = {}
        self._shared: dict[tuple[str, str], Record] = {}
        self._traces = Traces.CLEARED
        self._lock = RLock()

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        banks = (state.bank for _, state in sorted(self._states.items()))
        return [bank for bank in banks if bank is not None and (ids is None or bank.id in ids)]

    def banks_with_records(self, kind: str) -> list[str]:
        return sorted(
            bank for bank, state in self._states.items() if any(key[0] == kind for key in state.records)
        )

    @contextmanager
    def reading(self, bank: str) -> Iterator[MemoryReading]:
        check_bank_id(bank)
        yield MemoryReading(lambda: self._states.get(bank, BankState()))

    @contextmanager
    def transaction(self, bank: str) -> Iterator[MemoryTransaction]:
        check_bank_id(bank)
        with self._lock:
            tx = MemoryTransaction(bank, self._states.get(bank, BankState()).copy(), self._clock())
            yield tx
            if tx.erases:
                self._traces = Traces.PENDING
            if tx.state.bank is None:
                self._states.pop(bank, None)
            else:
                self._states[bank] = tx.state

    def record_recalls(self, bank: str, recalls: Iterable[tuple[str, datetime]]) -> None:
        with self._lock:
            state = self._states.get(bank, BankState()).copy()
            for fact_id, moment in recalls:
                fact = state.facts.get(fact_id)
                if fact is not None:
                    state.facts[fact_id] = replace(
                        fact,
                        recall_count=fact.recall_count + 1,
                        last_recalled_at=moment,
                        recall_times=(*fact.recall_times, moment)[-_RECALLS_KEPT:],
                    )
            if state.bank is not None:
                self._states[bank] = state

    def shared_records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        return _records(self._shared, kind, ids)

    def put_shared_records(self, records: Sequence[Record]) -> None:
        with self._lock:
            _put_records(self._shared, records, self._clock())

    def delete_shared_records(self, kind: str, ids: Sequence[str]) -> None:
        with self._lock:
            _drop(self._shared, [(kind, record_id) for record_id in ids])

    def traces(self) -> Traces:
        return self._traces

    def pending_traces(self) -> tuple[str, ...]:
        return () if self._traces is Traces.CLEARED else ("what was erased, until it is cleared",)

    def clears_traces_at_once(self) -> bool:
        return self._clears_at_once

    def clear_traces(self) -> Traces:
        self._traces = Traces.CLEARED
        return self._traces

    def evictions(self) -> int:
        return 0

    def index_usage(self) -> IndexUsage:
        """Everything is in memory, and nothing of it is an index."""
        return IndexUsage()

    def search_tables_due(self, bank: str) -> bool:
        return False

    def build_search_tables(self, bank: str, progress: Callable[[float], None], *, wait: bool = True) -> bool:
        """Nothing to do: every bank is searched in memory."""
        return True

    @property
    def read_only(self) -> bool:
        return False

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        facts = sum(len(state.facts) for state in self._states.values())
        return Verification(checked={} if quick else {"facts": facts}, quick=quick)

    def backup(self, file: str) -> None:
        raise Unavailable("backup: a store in memory has no file to copy")

    def close(self) -> None:
        self._states.clear()
        self._shared.clear()


def _of(table: Mapping[str, Value], ids: Sequence[str]) -> list[Value]:
    return [table[row_id] for row_id in ids if row_id in table]


def _drop(table: dict[Key, Value], keys: Iterable[Key]) -> None:
    for key in keys:
        table.pop(key, None)


def _records(table: Mapping[tuple[str, str], Record], kind: str, ids: Sequence[str] | None) -> list[Record]:
    records = [
        record for record in table.values() if record.kind == kind and (ids is None or record.id in ids)
    ]
    return sorted(records, key=lambda record: (record.created_at or _LONG_AGO, record.id))


def _put_records(table: dict[tuple[str, str], Record], records: Sequence[Record], now: datetime) -> None:
    for record in records:
        stored = table.get((record.kind, record.id))
        table[record.kind, record.id] = replace(
            record,
            created_at=record.created_at or (stored.created_at if stored else now),
            updated_at=record.updated_at or now,
        )


def _is_selected(fact: Fact, selection: Selection) -> bool:
    return (
        admits(selection.where, fact)
        and selection.text.casefold() in fact.text.casefold()
        and (selection.entity_id is None or selection.entity_id in fact.entity_ids)
        and _is_same(selection.subject, fact.subject)
        and _is_same(selection.relation, fact.relation)
        and _is_same(selection.speaker, fact.speaker)
        and (selection.dated is None or selection.dated.overlaps(fact.dated, fact.dated))
    )


def _is_same(asked: str | None, value: str | None) -> bool:
    return asked is None or (value is not None and value.casefold() == asked.casefold())
