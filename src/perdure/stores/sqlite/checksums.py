"""Checksums of what a person would miss: the content of facts, documents and chunks.

A checksum is the CRC-32 of the values as they are stored, in the order of the columns named here, followed by those of
the rows that belong to them (what a fact mentions, its tags and sources; a document's tags; a chunk's turns). Values are
joined by U+001F, rows of one table are led by U+001D; an integer stands in decimal, NULL as `None`. So it differs
whenever a bit of a text, a name or a date was changed. It protects against decay, not against forgery.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from operator import itemgetter
from zlib import crc32

from perdure.stores.sqlite.columns import CHUNK, DOCUMENT, FACT, FACT_ROW, TURN, Values, names

_COUNTED = frozenset({"relevance", "emotion", "confidence", "proof_count"})
"""Columns of facts that are weights and counts, not content."""
_SET_BY_STORE = frozenset({"created_at", "updated_at"})
FACT_CONTENT = tuple(name for name in FACT if name not in _COUNTED)
DOCUMENT_CONTENT = tuple(name for name in DOCUMENT if name not in _SET_BY_STORE)
_fact_content = itemgetter(*(FACT_ROW.index(name) for name in FACT_CONTENT))
_document_content = itemgetter(*(DOCUMENT.index(name) for name in DOCUMENT_CONTENT))
_BLOCK = 500

Rows = Sequence[Values]
"""Rows of another table, in the order of their keys, without bank and owner."""


def fact_checksum(row: Values, mentions: Rows, tags: Rows, sources: Rows) -> int:
    """Of a row of FACT_ROW, (ordinal, entity id, name), (tag,) and (ordinal, source id)."""
    return crc32(canonical(_fact_content(row), mentions, tags, sources))


def document_checksum(row: Values, tags: Rows) -> int:
    """Of a row of DOCUMENT and (tag,)."""
    return crc32(canonical(_document_content(row), tags))


def chunk_checksum(row: Values, turns: Rows) -> int:
    """Of a row of CHUNK and (ordinal, columns of TURN)."""
    return crc32(canonical(row, turns))


def canonical(row: Values, *tables: Rows) -> bytes:
    """The bytes that a checksum is of."""
    parts = [*row]
    for rows in tables:
        parts.append("\x1d")
        for one in rows:
            parts += one
    return "\x1f".join(map(str, parts)).encode()


def write_checksums(db: sqlite3.Connection) -> None:
    """Fill in the checksums of all rows, as they stand; the caller holds a transaction."""
    facts = f"SELECT bank, no, {names(FACT_ROW)} FROM fact"
    lists = (
        "SELECT ordinal, entity_id, name FROM fact_entity WHERE bank = ? AND fact = ? ORDER BY ordinal",
        "SELECT tag FROM fact_tag WHERE bank = ? AND fact = ? ORDER BY tag",
        "SELECT ordinal, source_id FROM fact_source WHERE bank = ? AND fact = ? ORDER BY ordinal",
    )
    for bank, no, *row in _all(db, facts):
        mentions, tags, sources = (db.execute(query, (bank, no)).fetchall() for query in lists)
        checksum = fact_checksum(tuple(row), mentions, tags, sources)
        db.execute("UPDATE fact SET checksum = ? WHERE bank = ? AND no = ?", (checksum, bank, no))
    tag_query = "SELECT tag FROM document_tag WHERE bank = ? AND document_id = ? ORDER BY tag"
    for bank, *row in _all(db, f"SELECT bank, {names(DOCUMENT)} FROM document"):
        checksum = document_checksum(tuple(row), db.execute(tag_query, (bank, row[0])).fetchall())
        db.execute("UPDATE document SET checksum = ? WHERE bank = ? AND id = ?", (checksum, bank, row[0]))
    turn_query = (
        f"SELECT ordinal, {names(TURN)} FROM chunk_turn WHERE bank = ? AND chunk_id = ? ORDER BY ordinal"
    )
    for bank, *row in _all(db, f"SELECT bank, {names(CHUNK)} FROM chunk"):
        checksum = chunk_checksum(tuple(row), db.execute(turn_query, (bank, row[0])).fetchall())
        db.execute("UPDATE chunk SET checksum = ? WHERE bank = ? AND id = ?", (checksum, bank, row[0]))


def _all(db: sqlite3.Connection, query: str) -> Iterable[Values]:
    """All rows of a query on a table that is changed meanwhile: its keys first, so that none is met twice."""
    key = "bank, no" if " FROM fact" in query else "bank, id"
    table = query.rpartition(" ")[2]
    keys = db.execute(f"SELECT {key} FROM {table} ORDER BY {key}").fetchall()
    condition = " AND ".join(f"{name} = ?" for name in key.split(", "))
    for one in keys:
        yield db.execute(f"{query} WHERE {condition}", one).fetchone()
