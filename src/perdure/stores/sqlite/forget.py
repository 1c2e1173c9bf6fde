"""Erasure within a transaction: the facts, what quotes them, and every row that names them."""

from __future__ import annotations

import sqlite3

from perdure.domain.erasure import needles, scrub, scrub_chunk, scrub_document, scrub_sibling
from perdure.stores.sqlite import catalog, codec
from perdure.stores.sqlite.index.snapshot import Snapshot
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
        homeless = remove_sources(self._db, self._bank_no, self._facts, "document_id = ?", (document_id,))
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
        for document_id in sorted({document for document, _ in sources if document is not None}):
            self._scrub_document(document_id, wordings)
            for held in self._facts.load_where("document_id = ?", (document_id,)):
                if held.no not in gone:
                    self._facts.put(scrub_sibling(held.fact, wordings))
                    self._scrub_passage(held.no, wordings)

    def _scrub_document(self, document_id: str, wordings: tuple[str, ...]) -> None:
        row = self._db.execute(
            "SELECT body FROM document WHERE bank = ? AND id = ?", (self._bank_no, document_id)
        ).fetchone()
        if row is not None:
            document = codec.decode_document(self._bank, document_id, row[0])
            scrubbed = scrub_document(document, wordings)
            assert document.updated_at is not None
            write_documents(self._db, self._bank_no, [scrubbed], document.updated_at)

    def _scrub_passage(self, no: int, wordings: tuple[str, ...]) -> None:
        (passage,) = self._db.execute("SELECT passage FROM detail WHERE fact = ?", (no,)).fetchone()
        scrubbed = scrub(passage, wordings)
        if scrubbed != passage:
            self._db.execute("UPDATE detail SET passage = ? WHERE fact = ?", (scrubbed, no))

    def _delete(self, doomed: list[Held]) -> None:
        numbers = [held.no for held in doomed]
        keyed = [(self._bank_no, no) for no in numbers]
        single = [(no,) for no in numbers]
        self._db.executemany("DELETE FROM feature WHERE bank = ? AND fact = ?", keyed)
        for table in ("detail", "proof", "derived"):
            self._db.executemany(f"DELETE FROM {table} WHERE fact = ?", single)
        staged = self._db.execute(
            "SELECT DISTINCT model, dimensions FROM staged WHERE bank = ?", (self._bank_no,)
        ).fetchall()
        for model, dimensions in staged:
            self._db.executemany(
                "DELETE FROM staged WHERE bank = ? AND model = ? AND dimensions = ? AND fact = ?",
                [(self._bank_no, model, dimensions, no) for no in numbers],
            )
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
