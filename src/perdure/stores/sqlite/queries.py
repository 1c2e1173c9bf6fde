"""Reads that go to the file and not to the index."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from perdure.domain.bank import Bank
from perdure.domain.fact import Chunk, Document, Fact
from perdure.domain.record import Record
from perdure.ports.embedder import Vector
from perdure.ports.store import BankStats, Features, KeyedEntity, Proof
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.fact_body import FACT_COLUMNS, decode_facts
from perdure.stores.sqlite.working import AT_ONCE, chunked, marks, views_of


def banks(db: sqlite3.Connection, ids: Sequence[str] | None) -> list[Bank]:
    """All banks, or those of `ids`, by id."""
    if ids is None:
        rows = db.execute(f"SELECT {codec.BANK_COLUMNS} FROM bank ORDER BY id").fetchall()
        return [codec.decode_bank(row) for row in rows]
    found = []
    for group in chunked(ids):
        query = f"SELECT {codec.BANK_COLUMNS} FROM bank WHERE id IN ({marks(group)})"
        found += [codec.decode_bank(row) for row in db.execute(query, group)]
    return sorted(found, key=lambda bank: bank.id)


Numbers = Sequence[int]
"""For each id the number of the fact, 0 where no index knows it: by number rows are found in half the time."""


def facts(
    db: sqlite3.Connection, bank_no: int, bank: str, ids: Sequence[str], numbers: Numbers
) -> list[Fact]:
    """Facts in the order of the ids."""
    if 0 not in numbers:
        return facts_by_number(db, bank, numbers)
    by_number = _facts_by_number(db, bank, numbers)
    by_id: dict[str, Fact] = {}
    for group in chunked(ident for ident, no in zip(ids, numbers, strict=True) if no == 0):
        query = f"SELECT {FACT_COLUMNS} FROM fact WHERE bank = ? AND id IN ({marks(group)})"
        found = decode_facts(bank, db.execute(query, (bank_no, *group)).fetchone())
        by_id |= {fact.id: fact for fact in found.values()}
    held = (by_number.get(no) or by_id.get(ident) for ident, no in zip(ids, numbers, strict=True))
    return [fact for fact in held if fact is not None]


def facts_by_number(db: sqlite3.Connection, bank: str, numbers: Sequence[int]) -> list[Fact]:
    """Facts in the order of their numbers as given."""
    found = _facts_by_number(db, bank, numbers)
    if len(found) == len(numbers):
        return list(map(found.__getitem__, numbers))
    return [found[no] for no in numbers if no in found]


def document_ids(db: sqlite3.Connection, numbers: Sequence[int]) -> list[str]:
    """Ids of the documents that facts come from, in no order."""
    found: list[str | None] = []
    for some in _groups(numbers):
        query = f"SELECT json_group_array(document_id) FROM fact WHERE no IN ({marks(some)})"
        found += json.loads(db.execute(query, some).fetchone()[0])
    return [ident for ident in found if ident is not None]


def ordinals(db: sqlite3.Connection, bank: str, numbers: Sequence[int]) -> list[int]:
    """Ordinals of facts in the order of their numbers as given; no more facts than of one statement are held."""
    found: dict[int, int] = {}
    for some in _groups(numbers):
        found |= {no: fact.ordinal for no, fact in _facts_by_number(db, bank, some).items()}
    return [found.get(no, 0) for no in numbers]


def _facts_by_number(db: sqlite3.Connection, bank: str, numbers: Numbers) -> dict[int, Fact]:
    found: dict[int, Fact] = {}
    for some in _groups(numbers):
        query = f"SELECT {FACT_COLUMNS} FROM fact WHERE no IN ({marks(some)})"
        found |= decode_facts(bank, db.execute(query, some).fetchone())
    return found


def _groups(numbers: Numbers) -> Iterator[list[int]]:
    """The numbers of facts, rising as the rows lie, in groups that fit into one statement."""
    known = sorted(set(numbers) - {0})
    for start in range(0, len(known), AT_ONCE):
        yield known[start : start + AT_ONCE]


def features(db: sqlite3.Connection, bank_no: int, ids: Sequence[str]) -> dict[str, Features]:
    """The stored features of facts."""
    found: dict[str, Features] = {}
    views = views_of(db, bank_no)
    for group in chunked(ids):
        rows = db.execute(
            "SELECT fact.no, fact.id, detail.dedupe_key, detail.terms, detail.words, detail.passage,"
            " detail.tokens, feature.signature FROM fact JOIN detail ON detail.fact = fact.no"
            " JOIN feature ON feature.bank = fact.bank AND feature.fact = fact.no"
            f" WHERE fact.bank = ? AND fact.id IN ({marks(group)})",
            (bank_no, *group),
        ).fetchall()
        vectors: dict[int, dict[str, Vector]] = {row[0]: {} for row in rows}
        numbers = ",".join(str(no) for no in vectors)
        for view in views:
            query = (
                f"SELECT fact, value FROM vector_original WHERE bank = ? AND view = ? AND fact IN ({numbers})"
            )
            for no, value in db.execute(query, (bank_no, view)):
                vectors[no][view] = codec.decode_original(value)
        for no, ident, dedupe_key, terms, words, passage, tokens, signature in rows:
            found[ident] = Features(
                vectors=vectors[no],
                terms=json.loads(terms),
                words=tuple(json.loads(words)),
                signature=signature,
                tokens=tokens,
                dedupe_key=dedupe_key,
                passage=passage,
            )
    return {ident: found[ident] for ident in ids if ident in found}


def proofs(db: sqlite3.Connection, bank_no: int, ids: Sequence[str]) -> list[Proof]:
    """What said the facts again, in the order of the ids."""
    found: dict[str, list[Proof]] = {}
    for group in chunked(ids):
        rows = db.execute(
            "SELECT fact.id, proof.document_id, proof.chunk_id, proof.seen_at FROM fact"
            " JOIN proof ON proof.fact = fact.no"
            f" WHERE fact.bank = ? AND fact.id IN ({marks(group)}) ORDER BY proof.no",
            (bank_no, *group),
        )
        for ident, document_id, chunk_id, seen_at in rows:
            found.setdefault(ident, []).append(Proof(ident, document_id, chunk_id, codec.instant(seen_at)))
    return [proof for ident in ids for proof in found.get(ident, [])]


def passages(
    db: sqlite3.Connection, bank_no: int, ids: Sequence[str], numbers: Numbers
) -> dict[str, tuple[str, bytes]]:
    """Fact id -> (what the reranker reads, packed token vectors)."""
    found: dict[str, tuple[str, bytes]] = {}
    id_of = dict(zip(numbers, ids, strict=True))
    for some in _groups(numbers):
        query = f"SELECT fact, passage, tokens FROM detail WHERE fact IN ({marks(some)})"
        read = {no: (passage, tokens) for no, passage, tokens in db.execute(query, some)}
        # Not joined with the facts, since few need their text.
        wordless = [no for no, (passage, _) in read.items() if not passage]
        query = f"SELECT no, text FROM fact WHERE no IN ({marks(wordless)})"
        read |= {no: (text, read[no][1]) for no, text in (db.execute(query, wordless) if wordless else ())}
        found |= {id_of[no]: held for no, held in read.items()}
    unknown = [ident for ident, no in zip(ids, numbers, strict=True) if no == 0]
    for group in chunked(unknown):
        rows = db.execute(
            "SELECT fact.id, iif(detail.passage = '', fact.text, detail.passage), detail.tokens"
            f" FROM fact JOIN detail ON detail.fact = fact.no WHERE fact.bank = ? AND fact.id IN ({marks(group)})",
            (bank_no, *group),
        )
        found |= {ident: (passage, tokens) for ident, passage, tokens in rows}
    return found


def documents(db: sqlite3.Connection, bank_no: int, bank: str, ids: Sequence[str] | None) -> list[Document]:
    """All documents, newest first, or those of `ids` in that order."""
    if ids is None:
        rows = db.execute(
            "SELECT id, body FROM document WHERE bank = ? ORDER BY created_at DESC, id", (bank_no,)
        )
        return codec.decode_documents(bank, rows.fetchall())
    found: dict[str, Document] = {}
    for group in chunked(ids):
        query = f"SELECT id, body FROM document WHERE bank = ? AND id IN ({marks(group)})"
        read = codec.decode_documents(bank, db.execute(query, (bank_no, *group)).fetchall())
        found |= {document.id: document for document in read}
    return [found[ident] for ident in ids if ident in found]


_CHUNK = f"SELECT {codec.CHUNK_COLUMNS} FROM chunk WHERE bank = ?"


def chunks(
    db: sqlite3.Connection, bank_no: int, bank: str, ids: Sequence[str] | None, document_id: str | None
) -> list[Chunk]:
    """The chunks of `ids` in that order, or of a document by ordinal."""
    if ids is None:
        rows = db.execute(f"{_CHUNK} AND document_id = ? ORDER BY ordinal, id", (bank_no, document_id))
        return [codec.decode_chunk(bank, row) for row in rows]
    found: dict[str, Chunk] = {}
    for group in chunked(ids):
        rows = db.execute(f"{_CHUNK} AND id IN ({marks(group)})", (bank_no, *group))
        found |= {row[0]: codec.decode_chunk(bank, row) for row in rows}
    return [found[ident] for ident in ids if ident in found]


def entities(
    db: sqlite3.Connection, bank_no: int, bank: str, ids: Sequence[str] | None, keys: Sequence[str] | None
) -> list[KeyedEntity]:
    """All entities, most mentioned first; those of `ids` in that order; or those that hold one of `keys`."""
    rows: list[tuple[str, int, str]] = []
    base = "SELECT id, mentions, body FROM entity WHERE bank = ?"
    if ids is None and keys is None:
        rows = db.execute(base, (bank_no,)).fetchall()
    for group in chunked(ids or ()):
        rows += db.execute(f"{base} AND id IN ({marks(group)})", (bank_no, *group))
    for group in chunked(keys or () if ids is None else ()):
        held = f"SELECT entity FROM entity_key WHERE bank = ? AND key IN ({marks(group)})"
        rows += db.execute(f"{base} AND id IN ({held})", (bank_no, bank_no, *group))
    known = _keys(db, bank_no, None if ids is None and keys is None else [row[0] for row in rows])
    found = {
        ident: KeyedEntity(codec.decode_entity(bank, ident, mentions, body), tuple(known.get(ident, ())))
        for ident, mentions, body in rows
    }
    if ids is not None:
        return [found[ident] for ident in ids if ident in found]
    return sorted(found.values(), key=lambda keyed: (-keyed.entity.mentions, keyed.entity.id))


def _keys(db: sqlite3.Connection, bank_no: int, ids: Sequence[str] | None) -> dict[str, list[str]]:
    base = "SELECT entity, key FROM entity_key WHERE bank = ?"
    if ids is None:
        rows = [db.execute(base, (bank_no,))]
    else:
        rows = [
            db.execute(f"{base} AND entity IN ({marks(group)})", (bank_no, *group)) for group in chunked(ids)
        ]
    keys: dict[str, list[str]] = {}
    for entity, key in chain.from_iterable(rows):
        keys.setdefault(entity, []).append(key)
    # Sorted here: ORDER BY key makes SQLite walk all keys of the bank instead of those of the entities.
    return {entity: sorted(found) for entity, found in keys.items()}


def records(db: sqlite3.Connection, kind: str, bank: str, ids: Sequence[str] | None) -> list[Record]:
    """Records of a kind, oldest first."""
    base = "SELECT created_at, id, body FROM record WHERE kind = ? AND bank = ?"
    if ids is None:
        rows = db.execute(base, (kind, bank)).fetchall()
    else:
        rows = [
            row
            for group in chunked(ids)
            for row in db.execute(f"{base} AND id IN ({marks(group)})", (kind, bank, *group))
        ]
    return [codec.decode_record(kind, bank, ident, body) for _, ident, body in sorted(rows)]


def count_rows(db: sqlite3.Connection, bank_no: int) -> BankStats:
    """What can be counted without the index: documents, chunks, entities, bytes."""
    counts = {
        table: db.execute(f"SELECT count(*) FROM {table} WHERE bank = ?", (bank_no,)).fetchone()[0]
        for table in ("document", "chunk", "entity")
    }
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    tags: Counter[str] = Counter()
    query = "SELECT tags, count(*) FROM feature WHERE bank = ? AND tags IS NOT NULL GROUP BY tags"
    for held, count in db.execute(query, (bank_no,)):
        tags.update(dict.fromkeys(json.loads(held), count))
    return BankStats(
        documents=counts["document"],
        chunks=counts["chunk"],
        entities=counts["entity"],
        tags=dict(tags),
        bytes_on_disk=pages * size,
    )


def containing(db: sqlite3.Connection, bank_no: int, text: str) -> list[int]:
    """Numbers of the facts whose text contains a text, in any case."""
    wanted = text.casefold()
    rows = db.execute("SELECT no, text FROM fact WHERE bank = ?", (bank_no,))
    return [no for no, held in rows if wanted in held.casefold()]
