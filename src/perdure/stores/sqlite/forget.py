"""Erasure within a transaction: the facts, what quotes them, and every row that names them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import replace

from perdure.domain.erasure import (
    needles,
    own_terms,
    pieces,
    scrub_chunk,
    scrub_document,
    scrub_passage,
    scrub_sibling,
    scrub_terms,
)
from perdure.stores.index.snapshot import Snapshot
from perdure.stores.sqlite import codec
from perdure.stores.sqlite import queries as catalog
from perdure.stores.sqlite.segments import touch
from perdure.stores.sqlite.working import Change, Held, WorkingSet, chunked, delete_vectors, marks
from perdure.stores.sqlite.writer import remove_sources, write_chunks, write_documents

_BANK_TABLES = (
    "document", "chunk", "segment", "vector_original", "staged",
    "proof", "derived", "entity", "entity_key", "change", "feature", "fact",
)  # fmt: skip


class Eraser:
    """Erases from one bank; the caller holds the transaction."""

    def __init__(self, db: sqlite3.Connection, bank_no: int, bank: str, index: Snapshot | None) -> None:
        """`index` shows the bank as it was when the transaction began, where there is one in memory."""
        self._db = db
        self._index = index
        self._bank_no = bank_no
        self._bank = bank
        self._facts = WorkingSet(db, bank_no, bank)
        self._changes_before = db.total_changes

    def bank(self) -> int:
        """Erase the bank, but for its records."""
        (count,) = self._db.execute("SELECT count(*) FROM fact WHERE bank = ?", (self._bank_no,)).fetchone()
        self._db.execute(
            "DELETE FROM detail WHERE fact IN (SELECT no FROM fact WHERE bank = ?)", (self._bank_no,)
        )
        for table in _BANK_TABLES:
            self._db.execute(f"DELETE FROM {table} WHERE bank = ?", (self._bank_no,))
        self._db.execute("DELETE FROM bank WHERE no = ?", (self._bank_no,))
        return int(count)

    def document(self, document_id: str) -> int:
        """Erase a document, its chunks and the facts that nothing else proves."""
        housed = [held.fact.id for held in self._facts.load_where("document_id = ?", (document_id,))]
        homeless = remove_sources(self._db, self._bank_no, self._facts, "document_id = ?", (document_id,))
        self._strip(set(housed) - set(homeless))
        key = (self._bank_no, document_id)
        self._db.execute("DELETE FROM document WHERE bank = ? AND id = ?", key)
        self._db.execute("DELETE FROM chunk WHERE bank = ? AND document_id = ?", key)
        return self.facts(homeless)

    def facts(self, ids: list[str]) -> int:
        """Erase facts, all that was synthesised from them, and what quotes them."""
        doomed = self._with_derived(ids)
        if doomed:
            self._scrub_surroundings(doomed)
        for held in doomed:
            self._facts.drop(held.fact.id)
        self._facts.flush()
        self._delete(doomed)
        self._drop_entities(doomed)
        if self._db.total_changes > self._changes_before:
            touch(self._db, self._bank_no, set().union(*self._facts.changes.values()))
        return len(doomed)

    def _with_derived(self, ids: list[str]) -> list[Held]:
        found: dict[str, Held] = {}
        pending = list(ids)
        while pending:
            self._facts.load(pending)
            for ident in pending:
                held = self._facts.get(ident)
                if held is not None:
                    found[ident] = held
            derived = []
            for group in chunked(pending):
                derived += self._facts.load_where(
                    f"no IN (SELECT fact FROM derived WHERE bank = ? AND source_id IN ({marks(group)}))",
                    (self._bank_no, *group),
                )
            pending = [held.fact.id for held in derived if held.fact.id not in found]
        return list(found.values())

    def _scrub_surroundings(self, doomed: list[Held]) -> None:
        wordings = needles(held.fact for held in doomed)
        sources = {(held.fact.document_id, held.fact.chunk_id) for held in doomed}
        for held in doomed:
            sources |= set(
                self._db.execute("SELECT document_id, chunk_id FROM proof WHERE fact = ?", (held.no,))
            )
        quoted = sorted({chunk for _, chunk in sources if chunk is not None})
        for chunk in catalog.chunks(self._db, self._bank_no, self._bank, quoted, None):
            write_chunks(self._db, self._bank_no, [scrub_chunk(chunk, wordings)])
        gone = {held.no for held in doomed}
        known, erased = pieces(wordings), self._own_terms(doomed)
        for document_id in sorted({document for document, _ in sources if document is not None}):
            self._scrub_document(document_id, wordings)
            for held in self._facts.load_where("document_id = ?", (document_id,)):
                if held.no not in gone and held.features is None:
                    self._facts.put(scrub_sibling(held.fact, wordings))
                    self._scrub_features(held, wordings, known, erased)

    def _scrub_document(self, document_id: str, wordings: tuple[str, ...]) -> None:
        row = self._db.execute(
            "SELECT body FROM document WHERE bank = ? AND id = ?", (self._bank_no, document_id)
        ).fetchone()
        if row is not None:
            document = codec.decode_document(self._bank, document_id, row[0])
            scrubbed = scrub_document(document, wordings)
            assert document.updated_at is not None
            write_documents(self._db, self._bank_no, [scrubbed], document.updated_at)

    def _own_terms(self, doomed: list[Held]) -> set[str]:
        """The index terms that go with facts."""
        terms: set[str] = set()
        for held in doomed:
            (packed,) = self._db.execute("SELECT terms FROM detail WHERE fact = ?", (held.no,)).fetchone()
            terms |= own_terms(held.fact, json.loads(packed)).keys()
        return terms

    def _scrub_features(
        self, held: Held, wordings: tuple[str, ...], known: frozenset[str], erased: set[str]
    ) -> None:
        """What a sibling is found by and read with holds words of the facts around it."""
        passage, packed = self._db.execute(
            "SELECT passage, terms FROM detail WHERE fact = ?", (held.no,)
        ).fetchone()
        scrubbed, terms = scrub_passage(passage, wordings, known, held.fact), json.loads(packed)
        left = scrub_terms(held.fact, terms, erased, scrubbed)
        if scrubbed != passage or len(left) < len(terms):
            features = catalog.features(self._db, self._bank_no, [held.fact.id])[held.fact.id]
            self._facts.put_features(held.fact.id, replace(features, passage=scrubbed, terms=left))

    def _strip(self, ids: Collection[str]) -> None:
        """Facts that move to another document are found by and read with their own words alone."""
        for ident, features in catalog.features(self._db, self._bank_no, sorted(ids)).items():
            held = self._facts.get(ident)
            assert held is not None
            bare = replace(features, passage="", terms=own_terms(held.fact, features.terms))
            self._facts.put_features(ident, bare)

    def _delete(self, doomed: list[Held]) -> None:
        numbers = [held.no for held in doomed]
        keyed = [(self._bank_no, no) for no in numbers]
        single = [(no,) for no in numbers]
        self._db.executemany("DELETE FROM feature WHERE bank = ? AND fact = ?", keyed)
        for table in ("detail", "proof", "derived"):
            self._db.executemany(f"DELETE FROM {table} WHERE fact = ?", single)
        delete_vectors(self._db, self._bank_no, numbers)
        self._db.executemany("DELETE FROM fact WHERE no = ?", single)
        self._facts.log((no, Change.GONE) for no in numbers)

    def _drop_entities(self, doomed: list[Held]) -> None:
        """Entities lose a mention for each erased fact, and go with the last one."""
        lost: dict[str, int] = {}
        gone = {held.no for held in doomed}
        for held in doomed:
            for entity in set(held.fact.entity_ids):
                lost[entity] = lost.get(entity, 0) + 1
        for entity, count in lost.items():
            key = (self._bank_no, entity)
            if not self._mentioned(entity, gone):
                self._db.execute("DELETE FROM entity WHERE bank = ? AND id = ?", key)
                self._db.execute("DELETE FROM entity_key WHERE bank = ? AND entity = ?", key)
            else:
                self._db.execute(
                    "UPDATE entity SET mentions = max(0, mentions - ?) WHERE bank = ? AND id = ?",
                    (count, *key),
                )

    def _mentioned(self, entity: str, gone: set[int]) -> bool:
        """Whether a fact that stays mentions an entity; `gone` are deleted already, but the index still has them."""
        if self._index is not None:
            return not gone.issuperset(self._index.mentioning(codec.digest(entity)))
        found = self._db.execute(
            "SELECT 1 FROM feature WHERE bank = ? AND instr(entities, ?) > 0 LIMIT 1",
            (self._bank_no, codec.pack_hashes([codec.digest(entity)])),
        ).fetchone()
        return found is not None
