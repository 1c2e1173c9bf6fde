"""A store in dictionaries: slow, obvious, and the oracle that real stores are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from threading import RLock

from perdure.domain.bank import Bank, EmbeddingModel, check_bank_id
from perdure.domain.fact import Chunk, Document, Fact, Link
from perdure.domain.filter import Filter, admits
from perdure.domain.ranking import RankingFields, ranking_fields
from perdure.domain.recall import Hit
from perdure.domain.record import Record
from perdure.errors import InvalidInput, ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import (
    BankStats,
    FactPage,
    Features,
    KeyedEntity,
    Proof,
    Selection,
    Target,
    WriteBatch,
    WriteReceipt,
)
from perdure.testing import memory_graph, memory_search
from perdure.testing.memory_forget import forget_document, forget_facts
from perdure.testing.memory_state import BankState, apply, check_batch, check_dimensions, remove_entity

_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
_RECALLS_KEPT = 20


class MemoryStore:
    """The Store protocol without a database; nothing outlives the process."""

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        self._clock = clock or (lambda: datetime.now(UTC))
        self._states: dict[str, BankState] = {}
        self._records: dict[tuple[str, str, str], Record] = {}
        self._lock = RLock()

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        with self._lock:
            wanted = self._states if ids is None else set(ids) & self._states.keys()
            return [self._states[ident].bank for ident in sorted(wanted)]

    def save_bank(self, bank: Bank) -> None:
        with self._lock:
            known = self._states.get(bank.id)
            held = known.bank if known else None
            now = self._clock()
            saved = replace(
                bank,
                model=held.model if held else None,
                created_at=bank.created_at or (held.created_at if held else now),
                updated_at=bank.updated_at or now,
            )
            self._states[bank.id] = replace(known, bank=saved) if known else BankState(saved)

    def write(self, batch: WriteBatch) -> WriteReceipt:
        with self._lock:
            known = self._states.get(batch.bank)
            check_batch(batch, known.bank.model if known else None)
            state = known.copy() if known else self._new_state(batch.bank)
            receipt = apply(state, batch, self._clock())
            self._states[batch.bank] = state
            self.save_records(batch.records)
            return receipt

    def search(self, bank: str, probe: Probe, wanted: Filter, limit: int) -> list[Hit]:
        with self._lock:
            state = self._states.get(bank)
            if state is None or limit < 1:
                return []
            _check_probe(state, probe)
            facts = [fact for fact in state.facts.values() if admits(wanted, fact)]
            return _answer(state, probe, wanted, facts, limit)

    def facts(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        held = self._state(bank).facts
        return [held[ident] for ident in ids if ident in held]

    def outlines(self, bank: str, ids: Sequence[str]) -> dict[str, RankingFields]:
        return {fact.id: ranking_fields(fact) for fact in self.facts(bank, ids)}

    def features(self, bank: str, ids: Sequence[str]) -> dict[str, Features]:
        held = self._state(bank).features
        return {ident: held[ident] for ident in ids if ident in held}

    def passages(self, bank: str, ids: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        state = self._state(bank)
        return {
            ident: (state.features[ident].passage or state.facts[ident].text, state.features[ident].tokens)
            for ident in ids
            if ident in state.facts
        }

    def browse(self, bank: str, selection: Selection) -> FactPage:
        found = [fact for fact in self._state(bank).facts.values() if _selected(fact, selection)]
        found.sort(key=lambda fact: fact.id)
        if selection.by_date is None:
            found.sort(key=lambda fact: fact.recorded_at or _EPOCH, reverse=not selection.oldest_first)
        else:
            found.sort(key=_date, reverse=not selection.oldest_first)
        page = found[selection.offset : selection.offset + selection.limit]
        return FactPage(tuple(page), len(found))

    def documents(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        held = self._state(bank).documents
        if ids is not None:
            return [held[ident] for ident in ids if ident in held]
        by_id = sorted(held.values(), key=lambda document: document.id)
        return sorted(by_id, key=lambda document: document.created_at or _EPOCH, reverse=True)

    def chunks(
        self, bank: str, *, ids: Sequence[str] | None = None, document_id: str | None = None
    ) -> list[Chunk]:
        held = self._state(bank).chunks
        if ids is not None:
            return [held[ident] for ident in ids if ident in held]
        of_document = [chunk for chunk in held.values() if chunk.document_id == document_id]
        return sorted(of_document, key=lambda chunk: (chunk.ordinal, chunk.id))

    def entities(
        self, bank: str, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        held = self._state(bank).entities
        if ids is not None:
            return [held[ident] for ident in ids if ident in held]
        ranked = sorted(held.values(), key=lambda keyed: (-keyed.entity.mentions, keyed.entity.id))
        return [keyed for keyed in ranked if keys is None or set(keys) & set(keyed.keys)]

    def links(self, bank: str, ids: Sequence[str]) -> list[Link]:
        wanted = set(ids)
        held = self._state(bank).links
        return [held[key] for key in sorted(held) if key[0] in wanted or key[1] in wanted]

    def known(self, bank: str, dedupe_keys: Sequence[str]) -> dict[str, str]:
        state = self._state(bank)
        holders = {key: state.holder(key) for key in dedupe_keys if key}
        return {key: ident for key, ident in holders.items() if ident is not None}

    def record_recalls(self, bank: str, ids: Sequence[str], at: datetime) -> None:
        with self._lock:
            held = self._state(bank).facts
            for ident in ids:
                if ident in held:
                    times = (*held[ident].recall_times, at)[-_RECALLS_KEPT:]
                    count = held[ident].recall_count + 1
                    held[ident] = replace(
                        held[ident], recall_count=count, last_recalled_at=at, recall_times=times
                    )

    def forget(self, bank: str, target: Target) -> int:
        check_target(target)
        with self._lock:
            if target.record is not None:
                self._records.pop((target.record[0], bank, target.record[1]), None)
                return 0
            if target.bank:
                self._records = {key: record for key, record in self._records.items() if key[1] != bank}
            state = self._states.get(bank)
            if state is None:
                return 0
            if target.bank:
                del self._states[bank]
                return len(state.facts)
            if target.document_id is not None:
                return forget_document(state, target.document_id)
            if target.entity_id is not None:
                remove_entity(state, target.entity_id)
                return 0
            return forget_facts(state, [target.fact_id or ""])

    def save_records(self, records: Sequence[Record]) -> None:
        with self._lock:
            for record in records:
                key = (record.kind, record.bank, record.id)
                known = self._records.get(key)
                now = self._clock()
                self._records[key] = replace(
                    record,
                    created_at=record.created_at or (known.created_at if known else now),
                    updated_at=record.updated_at or now,
                )

    def records(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        with self._lock:
            found = [
                record
                for key, record in self._records.items()
                if key[:2] == (kind, bank) and (ids is None or record.id in ids)
            ]
            return sorted(found, key=lambda record: (record.created_at or _EPOCH, record.id))

    def stage_vectors(
        self, bank: str, model: EmbeddingModel, vectors: Iterable[tuple[str, Mapping[str, Vector], bytes]]
    ) -> None:
        with self._lock:
            state = self._states.get(bank)
            for ident, views, tokens in vectors:
                check_dimensions(list(views.values()), model)
                if state is not None and ident in state.facts:
                    state.staged.setdefault(model, {})[ident] = (dict(views), tokens)

    def switch_model(self, bank: str, model: EmbeddingModel) -> list[str]:
        with self._lock:
            state = self._states.setdefault(bank, self._new_state(bank))
            staged = state.staged.get(model, {})
            lacking = sorted(state.facts.keys() - staged.keys())
            if lacking:
                return lacking
            for ident, (views, tokens) in staged.items():
                state.features[ident] = replace(state.features[ident], vectors=views, tokens=tokens)
            state.staged.pop(model, None)
            state.bank = replace(state.bank, model=model)
            return []

    def proofs(self, bank: str, ids: Sequence[str]) -> list[Proof]:
        held = self._state(bank).proofs
        return [proof for ident in ids for proof in held.get(ident, [])]

    def stats(self, bank: str) -> BankStats:
        state = self._state(bank)
        facts = state.facts.values()
        return BankStats(
            facts=len(facts),
            current_facts=sum(1 for fact in facts if fact.retired_at is None),
            facts_by_type=dict(Counter(str(fact.type) for fact in facts)),
            documents=len(state.documents),
            chunks=len(state.chunks),
            entities=len(state.entities),
            links_by_kind=dict(Counter(str(link.kind) for link in state.links.values())),
            tags=dict(Counter(tag for fact in facts for tag in fact.tags)),
        )

    def close(self) -> None:
        self._states.clear()
        self._records.clear()

    def _new_state(self, bank: str) -> BankState:
        now = self._clock()
        return BankState(Bank(id=check_bank_id(bank), created_at=now, updated_at=now))

    def _state(self, bank: str) -> BankState:
        with self._lock:
            return self._states.get(bank) or BankState(Bank(id=check_bank_id(bank)))


def check_target(target: Target) -> None:
    """Raise unless the target names exactly one thing."""
    named = [target.fact_id, target.document_id, target.entity_id, target.record]
    if sum(part is not None for part in named) + target.bank != 1:
        raise InvalidInput("target", "exactly one of a fact, document, entity, record or the bank", target)


def _check_probe(state: BankState, probe: Probe) -> None:
    vector = getattr(probe, "vector", None)
    if vector is not None and state.bank.model is not None and len(vector) != state.bank.model.dimensions:
        raise ModelMismatch(state.bank.id, str(state.bank.model), f"one of {len(vector)} dimensions")


def _selected(fact: Fact, selection: Selection) -> bool:
    return (
        admits(selection.wanted, fact)
        and selection.text.casefold() in fact.text.casefold()
        and (selection.entity_id is None or selection.entity_id in fact.entity_ids)
        and _same(selection.subject, fact.subject)
        and _same(selection.relation, fact.relation)
        and _same(selection.speaker, fact.speaker)
        and (selection.by_date is None or selection.by_date.overlaps(fact.dated, fact.dated))
    )


def _date(fact: Fact) -> tuple[datetime, int, str]:
    return fact.dated or _EPOCH, fact.ordinal, fact.id


def _same(wanted: str | None, held: str | None) -> bool:
    return wanted is None or (held is not None and held.casefold() == wanted.casefold())


def _answer(state: BankState, probe: Probe, wanted: Filter, facts: list[Fact], limit: int) -> list[Hit]:
    links = list(state.links.values())
    match probe:
        case SemanticProbe():
            return memory_search.semantic(probe, facts, state.features, limit)
        case KeywordProbe():
            return memory_search.keyword(probe, facts, state.facts.values(), state.features, limit)
        case GraphProbe():
            return memory_graph.graph(probe, facts, links, limit)
        case TemporalProbe():
            return memory_search.temporal(probe, wanted, facts, state.features, links, limit)
        case FuzzyProbe():
            return memory_search.fuzzy(probe, facts, state.features, limit)
        case SignatureProbe():
            return memory_search.signature(probe, facts, state.features, limit)
        case RelationProbe():
            named = {ident: keyed.entity for ident, keyed in state.entities.items()}
            return memory_search.relation(probe, facts, named, limit)
        case PageRankProbe():
            return memory_graph.pagerank(probe, facts, links, limit)
