"""Applies a batch within a transaction."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

import numpy as np

from perdure.domain.bank import Bank, EmbeddingModel, check_bank_id
from perdure.domain.closing import closed, rewritten
from perdure.domain.erasure import rehome, without_entity
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.joining import joined
from perdure.domain.record import Record
from perdure.errors import Conflict, InvalidInput, ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.store import Closure, KeyedEntity, NewFact, WriteBatch, WriteReceipt
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.segments import touch
from perdure.stores.sqlite.working import Change, WorkingSet, chunked, marks, proven


def check_batch(batch: WriteBatch) -> list[Vector]:
    """Raise when the batch contradicts itself; returns its vectors."""
    banks = {document.bank for document in batch.documents} | {chunk.bank for chunk in batch.chunks}
    banks |= {new.fact.bank for new in batch.facts} | {fact.bank for fact in batch.updates}
    banks |= {keyed.entity.bank for keyed in batch.entities}
    strangers = banks - {batch.bank}
    if strangers:
        raise InvalidInput("bank", f"the batch's bank {batch.bank!r}", min(strangers))
    given = [new.features for new in batch.facts] + list(batch.features.values())
    vectors = [vector for features in given for vector in features.vectors.values()]
    if vectors:
        if batch.model is None:
            raise InvalidInput("model", "the model that made the vectors")
        check_dimensions(vectors, batch.model)
    return vectors


def check_dimensions(vectors: Sequence[Vector], model: EmbeddingModel) -> None:
    """Raise when a vector is not of the model."""
    for vector in vectors:
        if vector.shape != (model.dimensions,):
            raise InvalidInput("vectors", f"{model.dimensions} dimensions", vector.shape)


def bank_row(db: sqlite3.Connection, bank: str) -> tuple[int, EmbeddingModel | None] | None:
    """Number and model of a bank."""
    row = db.execute("SELECT no, model, dimensions FROM bank WHERE id = ?", (bank,)).fetchone()
    if row is None:
        return None
    return row[0], None if row[1] is None else EmbeddingModel(row[1], row[2])


def ensure_bank(db: sqlite3.Connection, bank: str, now: datetime) -> tuple[int, EmbeddingModel | None]:
    """Number and model of a bank that is created when it is not there."""
    known = bank_row(db, bank)
    if known is not None:
        return known
    save_bank(db, Bank(id=check_bank_id(bank)), now)
    created = bank_row(db, bank)
    assert created is not None
    return created


def save_bank(db: sqlite3.Connection, bank: Bank, now: datetime) -> None:
    """Insert or update all but the model."""
    traits = bank.disposition
    disposition = {name: getattr(traits, name) for name in traits.__slots__}
    try:
        settings = codec.compact(dict(bank.settings))
    except (TypeError, ValueError) as error:
        raise InvalidInput("settings", "what JSON can hold", bank.settings) from error
    db.execute(
        "INSERT INTO bank (id, name, mission, disposition, settings, created_at, updated_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, ?8), coalesce(?7, ?8))"
        " ON CONFLICT (id) DO UPDATE SET name=?2, mission=?3, disposition=?4, settings=?5,"
        " created_at=coalesce(?6, created_at), updated_at=coalesce(?7, ?8)",
        (
            bank.id,
            bank.name,
            bank.mission,
            codec.compact(disposition),
            settings,
            codec.iso(bank.created_at),
            codec.iso(bank.updated_at),
            codec.iso(now),
        ),
    )


def write_records(db: sqlite3.Connection, records: Sequence[Record], now: datetime) -> None:
    """Insert or replace records; the first time of creation stays."""
    for record in records:
        row = db.execute(
            "SELECT body FROM record WHERE kind = ? AND bank = ? AND id = ?",
            (record.kind, record.bank, record.id),
        ).fetchone()
        known = codec.decode_record(record.kind, record.bank, record.id, row[0]) if row else None
        saved = replace(
            record,
            created_at=record.created_at or (known.created_at if known else now),
            updated_at=record.updated_at or now,
        )
        db.execute(
            "INSERT OR REPLACE INTO record VALUES (?,?,?,?,?)",
            (saved.kind, saved.bank, saved.id, codec.micros(saved.created_at, 0), codec.encode_record(saved)),
        )


class BatchWriter:
    """Applies one batch; the caller holds the transaction."""

    def __init__(self, db: sqlite3.Connection, batch: WriteBatch, now: datetime) -> None:
        self._db = db
        self._batch = batch
        self._now = now
        self._bank_no = 0

    def apply(self, vectors: Sequence[Vector]) -> WriteReceipt:
        """Everything in the order that the port states."""
        batch = self._batch
        self._bank_no, stored = ensure_bank(self._db, batch.bank, self._now)
        if vectors:
            self._settle_model(stored)
        self._facts = WorkingSet(self._db, self._bank_no, batch.bank)
        self._facts.load([fact.id for fact in batch.updates] + list(batch.features))
        self._facts.load(closure.fact_id for closure in batch.closures)
        self._facts.load(proof.fact_id for proof in batch.proofs)
        write_documents(self._db, self._bank_no, batch.documents, self._now)
        self._remove_chunks(batch.removed_chunks)
        write_chunks(self._db, self._bank_no, batch.chunks)
        for entity in batch.removed_entities:
            remove_entity(self._db, self._bank_no, self._facts, entity)
        self._write_entities(batch.entities)
        for fact in batch.updates:
            self._update(fact)
        for ident, features in batch.features.items():
            if self._facts.get(ident) is not None:
                self._facts.put_features(ident, features)
        receipt = self._add_facts()
        write_records(self._db, batch.records, self._now)
        touch(self._db, self._bank_no, self._facts.changes[Change.REPLACED])
        return receipt

    def _settle_model(self, stored: EmbeddingModel | None) -> None:
        model = self._batch.model
        assert model is not None
        if stored is None:
            self._db.execute(
                "UPDATE bank SET model = ?, dimensions = ? WHERE no = ?",
                (model.name, model.dimensions, self._bank_no),
            )
        elif stored != model:
            raise ModelMismatch(self._batch.bank, str(stored), str(model))

    def _remove_chunks(self, chunks: Sequence[str]) -> None:
        for group in chunked(chunks):
            held = f"({marks(group)})"
            remove_sources(self._db, self._bank_no, self._facts, f"chunk_id IN {held}", group)
            self._db.execute(f"DELETE FROM chunk WHERE bank = ? AND id IN {held}", (self._bank_no, *group))

    def _write_entities(self, entities: Sequence[KeyedEntity]) -> None:
        for keyed in entities:
            entity = keyed.entity if keyed.added is None else self._joined(keyed.entity, keyed.added)
            place = (self._bank_no, entity.id)
            if entity is keyed.entity:
                self._db.execute("DELETE FROM entity_key WHERE bank = ? AND entity = ?", place)
            self._db.execute(
                "INSERT OR REPLACE INTO entity VALUES (?,?,?,?)",
                (*place, entity.mentions, codec.encode_entity(entity)),
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO entity_key VALUES (?,?,?)",
                [(self._bank_no, key, entity.id) for key in keyed.keys],
            )

    def _joined(self, entity: Entity, added: int) -> Entity:
        """The entity with what others stored of it since it was read."""
        row = self._db.execute(
            "SELECT mentions, body FROM entity WHERE bank = ? AND id = ?", (self._bank_no, entity.id)
        ).fetchone()
        if row is None:
            return entity
        return joined(codec.decode_entity(entity.bank, entity.id, *row), entity, added)

    def _update(self, fact: Fact) -> None:
        held = self._facts.get(fact.id)
        if held is not None:
            self._facts.put(rewritten(held.fact, fact, reopens=fact.id in self._batch.reopened))

    def _add_facts(self) -> WriteReceipt:
        batch = self._batch
        for closure in batch.closures:
            self._close(closure, {})
        inserted, merged = self._insert(batch.facts)
        for closure in batch.closures:
            self._close(closure, merged)
        for proof in batch.proofs:
            target = merged.get(proof.fact_id, proof.fact_id)
            self._prove(target, proof.document_id, proof.chunk_id, proof.seen_at)
        write_links(self._db, self._bank_no, self._facts, batch.links, merged)
        self._facts.flush()
        return WriteReceipt(inserted=tuple(inserted), merged=merged)

    def _insert(self, facts: Sequence[NewFact]) -> tuple[list[str], dict[str, str]]:
        keys = {new.features.dedupe_key for new in facts if new.features.dedupe_key}
        holders = self._holders(keys)
        self._facts.load([new.fact.id for new in facts] + list(holders.values()))
        inserted: list[str] = []
        merged: dict[str, str] = {}
        for new in facts:
            fact, key = new.fact, new.features.dedupe_key
            holder = holders.get(key) if key and fact.retired_at is None else None
            if holder is not None:
                self._prove(holder, fact.document_id, fact.chunk_id, fact.recorded_at)
                merged[fact.id] = holder
                continue
            if self._facts.get(fact.id) is not None:
                raise Conflict(f"fact {fact.id!r} exists already")
            self._facts.insert(fact, new.features)
            inserted.append(fact.id)
            if key and fact.retired_at is None:
                holders[key] = fact.id
        return inserted, merged

    def _holders(self, keys: set[str]) -> dict[str, str]:
        """dedupe_key -> the fact that holds it after this batch's closures of older facts."""
        holders = find_holders(self._db, self._bank_no, sorted(keys))
        current = {}
        for key, ids in holders.items():
            self._facts.load(ids)
            open_ids = [one for one in ids if (held := self._facts.get(one)) and held.fact.retired_at is None]
            if open_ids:
                current[key] = min(open_ids)
        return current

    def _close(self, closure: Closure, merged: dict[str, str]) -> None:
        ident = merged.get(closure.fact_id, closure.fact_id)
        by = closure.superseded_by
        by = by if by is None else merged.get(by, by)
        held = self._facts.get(ident)
        if held is not None and ident != by:
            self._facts.put(closed(held.fact, closure.retired_at, closure.valid_to, by))

    def _prove(
        self, ident: str, document_id: str | None, chunk_id: str | None, seen_at: datetime | None
    ) -> None:
        held = self._facts.get(ident)
        if held is not None:
            self._facts.put(proven(held.fact))
            self._db.execute(
                "INSERT INTO proof (bank, fact, document_id, chunk_id, seen_at) VALUES (?,?,?,?,?)",
                (self._bank_no, held.no, document_id, chunk_id, codec.iso(seen_at)),
            )


def find_holders(db: sqlite3.Connection, bank_no: int, keys: Sequence[str]) -> dict[str, list[str]]:
    """dedupe_key -> ids of the facts that hold it and are not closed."""
    holders: dict[str, list[str]] = {}
    for group in chunked(keys):
        rows = db.execute(
            f"SELECT open_key, id FROM fact WHERE bank = ? AND open_key IN ({marks(group)})",
            (bank_no, *group),
        )
        for key, ident in rows:
            holders.setdefault(key, []).append(ident)
    return holders


def write_documents(
    db: sqlite3.Connection, bank_no: int, documents: Sequence[Document], now: datetime
) -> None:
    """Insert or replace documents; the first time of creation stays."""
    for document in documents:
        row = db.execute(
            "SELECT body FROM document WHERE bank = ? AND id = ?", (bank_no, document.id)
        ).fetchone()
        known = codec.decode_document(document.bank, document.id, row[0]) if row else None
        saved = replace(
            document,
            created_at=document.created_at or (known.created_at if known else now),
            updated_at=document.updated_at or now,
        )
        db.execute(
            "INSERT OR REPLACE INTO document VALUES (?,?,?,?)",
            (bank_no, saved.id, codec.micros(saved.created_at, 0), codec.encode_document(saved)),
        )


def write_chunks(db: sqlite3.Connection, bank_no: int, chunks: Sequence[Chunk]) -> None:
    """Insert or replace chunks."""
    db.executemany(
        f"INSERT OR REPLACE INTO chunk (bank, {codec.CHUNK_COLUMNS}) VALUES (?,?,?,?,?,?,?)",
        [(bank_no, *codec.encode_chunk(chunk)) for chunk in chunks],
    )


def write_links(
    db: sqlite3.Connection, bank_no: int, facts: WorkingSet, links: Sequence[Link], merged: dict[str, str]
) -> None:
    """Add links to the later fact of each pair; a link that is there takes the new weight."""
    ends = [(link.source, link.target) for link in links]
    if merged:
        ends = [(merged.get(source, source), merged.get(target, target)) for source, target in ends]
    numbers = facts.numbers(chain.from_iterable(ends))
    added: defaultdict[int, dict[tuple[int, int, int], float]] = defaultdict(dict)
    for link, (source, target) in zip(links, ends, strict=True):
        out_of, into = numbers.get(source), numbers.get(target)
        if out_of is None or into is None or out_of == into:
            continue
        kind = codec.KINDS[link.kind]
        if out_of > into:
            added[out_of][into, kind, 1] = link.weight
        else:
            added[into][out_of, kind, 0] = link.weight
    known = []
    for no, edges in added.items():
        if facts.is_new(no):
            facts.links[no] = codec.pack_edges(edges)
            continue
        known.append(no)
        (packed,) = db.execute(
            "SELECT links FROM feature WHERE bank = ? AND fact = ?", (bank_no, no)
        ).fetchone()
        held = {
            (other, kind, out): weight
            for other, kind, out, weight in np.frombuffer(packed, codec.EDGE).tolist()
        }
        db.execute(
            "UPDATE feature SET links = ? WHERE bank = ? AND fact = ?",
            (codec.pack_edges(held | edges), bank_no, no),
        )
    facts.log((no, Change.EDGES) for no in known)


def remove_entity(db: sqlite3.Connection, bank_no: int, facts: WorkingSet, entity: str) -> None:
    """Drop an entity and its memberships; facts stay."""
    db.execute("DELETE FROM entity WHERE bank = ? AND id = ?", (bank_no, entity))
    db.execute("DELETE FROM entity_key WHERE bank = ? AND entity = ?", (bank_no, entity))
    members = facts.load_where(
        "no IN (SELECT fact FROM feature WHERE bank = ? AND instr(entities, ?) > 0)",
        (bank_no, codec.pack_hashes([codec.digest(entity)])),
    )
    for held in members:
        facts.put(without_entity(held.fact, entity))


def remove_sources(
    db: sqlite3.Connection, bank_no: int, facts: WorkingSet, gone: str, values: Sequence[object]
) -> list[str]:
    """Drop the sources for which a condition holds; returns the ids of facts that have no other.

    A fact whose first source goes moves to the oldest proof that is left.
    """
    lost: dict[int, int] = dict(
        db.execute(
            f"SELECT fact, count(*) FROM proof WHERE bank = ? AND {gone} GROUP BY fact", (bank_no, *values)
        )
    )
    db.execute(f"DELETE FROM proof WHERE bank = ? AND {gone}", (bank_no, *values))
    homeless = []
    for held in facts.load_where(gone, values):
        left = db.execute(
            "SELECT no, document_id, chunk_id FROM proof WHERE fact = ? ORDER BY no LIMIT 1", (held.no,)
        ).fetchone()
        dropped = lost.pop(held.no, 0)
        if left is None:
            homeless.append(held.fact.id)
            facts.put(replace(held.fact, proof_count=max(1, held.fact.proof_count - dropped)))
        else:
            db.execute("DELETE FROM proof WHERE no = ?", (left[0],))
            facts.put(rehome(held.fact, left[1], left[2], dropped + 1))
    for group in chunked(str(no) for no in lost):
        for held in facts.load_where(f"no IN ({','.join(group)})", ()):
            fewer = max(1, held.fact.proof_count - lost[held.no])
            facts.put(replace(held.fact, proof_count=fewer))
    return homeless
