"""Checksums of the rows of a file that had none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from perdure.stores.sql.checksums import chunk_checksum, document_checksum, fact_checksum
from perdure.stores.sql.columns import CHUNK, DOCUMENT, FACT_ROW, TURN, Values, names


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
