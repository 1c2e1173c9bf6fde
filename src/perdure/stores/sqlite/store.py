"""The embedded store: one SQLite file is the truth, an index in memory answers the channels."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from typing import Literal

import numpy as np

from perdure.domain.bank import Bank, EmbeddingModel, check_bank_id
from perdure.domain.fact import Chunk, Document, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.ranking import RankingFields, ranking_fields
from perdure.domain.recall import Hit
from perdure.domain.record import Record
from perdure.errors import InvalidInput, ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.probe import Probe, RelationProbe
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
from perdure.stores.index import listing, search
from perdure.stores.index.bank_index import BankIndex, BankState, read_state
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.snapshot import Snapshot
from perdure.stores.sqlite import queries as catalog
from perdure.stores.sqlite import reembed
from perdure.stores.sqlite.connections import Connections, Reader, SqliteErrors
from perdure.stores.sqlite.forget import Eraser
from perdure.stores.sqlite.outlines import KnownNames, outlines
from perdure.stores.sqlite.segments import touch
from perdure.stores.sqlite.working import WorkingSet
from perdure.stores.sqlite.writer import (
    BatchWriter,
    bank_row,
    check_batch,
    ensure_bank,
    find_holders,
    remove_entity,
    save_bank,
    write_records,
)

_RECALLS_KEPT = 20
_BANKS_SEEN = 4096


class SqliteStore:
    """The Store protocol on one file, which any number of processes may share."""

    def __init__(self, connections: Connections, indexes: IndexCache, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._translation = SqliteErrors(connections.path)
        self._indexes = indexes
        self._known_names = KnownNames()
        self._clock = clock

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        synchronous: Literal["normal", "full"] = "normal",
        busy_timeout_ms: int = 5000,
        index_memory_mb: int = 1024,
        clock: Callable[[], datetime] | None = None,
    ) -> SqliteStore:
        """Open a file, creating it when there is none.

        `synchronous="full"` keeps acknowledged writes through a loss of power, not only of the process.
        """
        if synchronous not in ("normal", "full"):
            raise InvalidInput("synchronous", "'normal' or 'full'", synchronous)
        if str(path) == ":memory:" or "\x00" in str(path):
            raise InvalidInput("database", "the path of a file", str(path))
        connections = Connections(str(path), synchronous=synchronous, busy_timeout_ms=busy_timeout_ms)
        indexes = IndexCache(index_memory_mb * 1024 * 1024)
        return cls(connections, indexes, clock or (lambda: datetime.now(UTC)))

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        with self._translation:
            reader = self._connections.reader()
            return catalog.banks(reader.connection, ids)

    def save_bank(self, bank: Bank) -> None:
        with self._writing() as db:
            save_bank(db, bank, self._clock())

    def write(self, batch: WriteBatch) -> WriteReceipt:
        vectors = check_batch(batch)
        with self._writing() as db:
            return BatchWriter(db, batch, self._clock()).apply(vectors)

    def search(self, bank: str, probe: Probe, wanted: Filter, limit: int) -> Sequence[Hit]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            if state is None or limit < 1:
                return []
            _check_probe(bank, state, probe)
            index, snapshot = self._indexed(reader, bank, state)
            if snapshot is None:
                return []
            prepared = search.prepare(index, reader, snapshot, probe)
            if prepared is not snapshot:
                self._indexes.trim()
            _check_view(bank, state, prepared, probe)
            names = self._names(reader, state, bank, probe) if isinstance(probe, RelationProbe) else {}
            return search.answer(prepared, probe, wanted, limit, names)

    def facts(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            if state is None:
                return []
            numbers = self._numbers(bank, state, ids)
            return catalog.facts(reader.connection, state.no, bank, ids, numbers)

    def outlines(self, bank: str, ids: Sequence[str]) -> dict[str, RankingFields]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            snapshot = None if state is None else self._indexes.current(bank, state)
            if snapshot is None or not snapshot.size:
                return {fact.id: ranking_fields(fact) for fact in self.facts(bank, ids)}
            return outlines(reader.connection, bank, snapshot, self._known_names, ids)

    def features(self, bank: str, ids: Sequence[str]) -> dict[str, Features]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            return catalog.features(reader.connection, state.no, ids) if state else {}

    def passages(self, bank: str, ids: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            if state is None:
                return {}
            numbers = self._numbers(bank, state, ids)
            return catalog.passages(reader.connection, state.no, ids, numbers)

    def browse(self, bank: str, selection: Selection) -> FactPage:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            snapshot = self._snapshot(reader, bank, state)
            if state is None or snapshot is None:
                return FactPage((), 0)
            rows = listing.selected(snapshot, selection)
            if selection.text:
                numbers = catalog.containing(reader.connection, state.no, selection.text)
                rows = rows[np.isin(snapshot.numbers[rows], numbers)]
            ordinals = partial(catalog.ordinals, reader.connection, bank)
            page = listing.page(snapshot, rows, selection, ordinals)
            return FactPage(tuple(catalog.facts_by_number(reader.connection, bank, page)), len(rows))

    def documents(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            return catalog.documents(reader.connection, state.no, bank, ids) if state else []

    def chunks(
        self, bank: str, *, ids: Sequence[str] | None = None, document_id: str | None = None
    ) -> list[Chunk]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            return catalog.chunks(reader.connection, state.no, bank, ids, document_id) if state else []

    def entities(
        self, bank: str, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            return catalog.entities(reader.connection, state.no, bank, ids, keys) if state else []

    def links(self, bank: str, ids: Sequence[str]) -> list[Link]:
        with self._translation:
            reader = self._connections.reader()
            snapshot = self._snapshot(reader, bank, self._look(reader, bank))
            return listing.links(snapshot, ids) if snapshot else []

    def proofs(self, bank: str, ids: Sequence[str]) -> list[Proof]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            return catalog.proofs(reader.connection, state.no, ids) if state else []

    def known(self, bank: str, dedupe_keys: Sequence[str]) -> dict[str, str]:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            if state is None:
                return {}
            holders = find_holders(reader.connection, state.no, [key for key in dedupe_keys if key])
            return {key: min(ids) for key, ids in holders.items()}

    def record_recalls(self, bank: str, ids: Sequence[str], at: datetime) -> None:
        with self._writing() as db:
            known = bank_row(db, bank)
            if known is None:
                return
            for ident in ids:
                key = (known[0], ident)
                row = db.execute("SELECT recall_times FROM fact WHERE bank = ? AND id = ?", key).fetchone()
                if row is not None:
                    times = json.dumps([*json.loads(row[0] or "[]"), at.isoformat()][-_RECALLS_KEPT:])
                    db.execute(
                        "UPDATE fact SET recalls = recalls + 1, recall_times = ? WHERE bank = ? AND id = ?",
                        (times, *key),
                    )

    def forget(self, bank: str, target: Target) -> int:
        _check_target(target)
        with self._writing() as db:
            before = db.total_changes
            count = self._erase(db, bank, target)
            if db.total_changes > before:
                db.execute("INSERT OR IGNORE INTO residue VALUES (1)")
        if target.bank:
            self._indexes.drop(bank)
        with self._translation:
            self._connections.expunge()
        return count

    def save_records(self, records: Sequence[Record]) -> None:
        with self._writing() as db:
            write_records(db, records, self._clock())

    def records(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        with self._translation:
            reader = self._connections.reader()
            return catalog.records(reader.connection, kind, bank, ids)

    def stage_vectors(
        self, bank: str, model: EmbeddingModel, vectors: Iterable[tuple[str, Mapping[str, Vector], bytes]]
    ) -> None:
        for group in reembed.groups(vectors):
            with self._writing() as db:
                known = bank_row(db, bank)
                if known is not None:
                    reembed.stage(db, known[0], model, group)

    def switch_model(self, bank: str, model: EmbeddingModel) -> list[str]:
        with self._writing() as db:
            bank_no, _ = ensure_bank(db, bank, self._clock())
            lacking = reembed.lacking(db, bank_no, model)
            if not lacking:
                reembed.switch(db, bank_no, model)
            return lacking

    def stats(self, bank: str) -> BankStats:
        with self._translation:
            reader = self._connections.reader()
            state = self._look(reader, bank)
            snapshot = self._snapshot(reader, bank, state)
            if state is None or snapshot is None:
                return BankStats()
            return listing.count(snapshot, catalog.count_rows(reader.connection, state.no))

    def close(self) -> None:
        """Release files and memory."""
        self._indexes.clear()
        self._connections.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._translation, self._connections.writing() as db:
            yield db

    def _look(self, reader: Reader, bank: str) -> BankState | None:
        """The state of a bank in the file, read again only when something was committed."""
        version = reader.data_version()
        seen = reader.seen.get(bank)
        if seen is None or seen[0] != version:
            if len(reader.seen) > _BANKS_SEEN:
                reader.seen.clear()
            seen = reader.seen[bank] = (version, read_state(reader.connection, check_bank_id(bank)))
            if seen[1] is None:
                self._indexes.drop(bank)
        state = seen[1]
        assert state is None or isinstance(state, BankState)
        return state

    def _snapshot(self, reader: Reader, bank: str, state: BankState | None) -> Snapshot | None:
        return None if state is None else self._indexed(reader, bank, state)[1]

    def _indexed(self, reader: Reader, bank: str, state: BankState) -> tuple[BankIndex, Snapshot | None]:
        """The index of a bank and its snapshot; one that comes into memory may drive others out."""
        known = bank in self._indexes
        index = self._indexes.get(bank)
        snapshot = index.snapshot(reader, state)
        if not known:
            self._indexes.trim()
        return index, snapshot

    def _numbers(self, bank: str, state: BankState, ids: Sequence[str]) -> list[int]:
        """The numbers of facts, 0 where no index that is in memory and up to date knows them."""
        snapshot = self._indexes.current(bank, state)
        return [0] * len(ids) if snapshot is None or not snapshot.size else snapshot.numbers_of(ids)

    def _names(self, reader: Reader, state: BankState, bank: str, probe: RelationProbe) -> dict[str, float]:
        """Names in lower case of a probe's entities, with their weights."""
        names = {ident.casefold(): weight for ident, weight in probe.entities.items()}
        found = catalog.entities(reader.connection, state.no, bank, list(probe.entities), None)
        for keyed in found:
            weight = probe.entities[keyed.entity.id]
            for name in (keyed.entity.name, *keyed.entity.aliases):
                names[name.casefold()] = max(weight, names.get(name.casefold(), 0.0))
        return names

    def _erase(self, db: sqlite3.Connection, bank: str, target: Target) -> int:
        if target.record is not None:
            kind, ident = target.record
            db.execute("DELETE FROM record WHERE kind = ? AND bank = ? AND id = ?", (kind, bank, ident))
            return 0
        if target.bank:
            db.execute("DELETE FROM record WHERE bank = ?", (bank,))
        known = bank_row(db, bank)
        if known is None:
            return 0
        state = read_state(db, bank)
        snapshot = self._indexes.current(bank, state) if state else None
        eraser = Eraser(db, known[0], bank, snapshot)
        if target.bank:
            return eraser.bank()
        if target.document_id is not None:
            return eraser.document(target.document_id)
        if target.entity_id is not None:
            facts = WorkingSet(db, known[0], bank)
            remove_entity(db, known[0], facts, target.entity_id)
            facts.flush()
            touch(db, known[0], set().union(*facts.changes.values()))
            return 0
        return eraser.facts([target.fact_id or ""])


def _check_target(target: Target) -> None:
    named = [target.fact_id, target.document_id, target.entity_id, target.record]
    if sum(part is not None for part in named) + target.bank != 1:
        raise InvalidInput("target", "exactly one of a fact, document, entity, record or the bank", target)


def _check_view(bank: str, state: BankState, snapshot: Snapshot, probe: Probe) -> None:
    """Vectors may have been loaded after another model replaced those that the state tells of."""
    vector, view = getattr(probe, "vector", None), snapshot.views.get(getattr(probe, "view", ""))
    if vector is None or view is None or len(view.rows) == 0:
        return
    held = view.exact if view.exact is not None else view.codes
    if held is not None and held.shape[1] != len(vector):
        raise ModelMismatch(bank, f"one of {held.shape[1]} dimensions", f"one of {len(vector)} dimensions")


def _check_probe(bank: str, state: BankState, probe: Probe) -> None:
    vector = getattr(probe, "vector", None)
    if vector is not None and state.dimensions is not None and len(vector) != state.dimensions:
        stored = EmbeddingModel(state.model or "", state.dimensions)
        raise ModelMismatch(bank, str(stored), f"one of {len(vector)} dimensions")
