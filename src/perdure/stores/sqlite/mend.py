"""One changed bit of a text, found by the checksum of its row and set right.

A CRC is linear: the checksum of a text with one bit changed differs from the right one by a number that depends on the
place of the bit alone. So the place follows from the difference of the two checksums.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from zlib import crc32

from perdure.stores.sqlite.checksums import DOCUMENT_CONTENT, FACT_CONTENT
from perdure.stores.sqlite.columns import CHUNK, TURN, Values, names
from perdure.stores.sqlite.damage import is_damage

_POLYNOMIAL = 0xEDB88320
_LONGEST = 1 << 20
"""Bytes of content up to which a bit is looked for."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A value to set in a row."""

    statement: str
    parameters: tuple[object, ...]
    told: str

    def apply(self, db: sqlite3.Connection) -> None:
        db.execute(self.statement, self.parameters)


def changed_bit(difference: int, size: int) -> int | None:
    """The bit of a text of `size` bytes whose change alters its CRC-32 by `difference`: 8 times the byte, plus the bit; None if there is none."""
    syndrome = _POLYNOMIAL
    # From the last bit of the text to the first: the syndrome of each follows from that of the bit after it.
    for place in range(8 * size - 1, -1, -1):
        if syndrome == difference:
            return place
        syndrome = (syndrome >> 1) ^ (_POLYNOMIAL if syndrome & 1 else 0)
    return None


def fact_id(db: sqlite3.Connection, bank: int, no: int) -> str:
    """The id of a fact, empty when it cannot be read."""
    with _raw(db):
        try:
            row = db.execute("SELECT id FROM fact WHERE bank = ? AND no = ?", (bank, no)).fetchone()
            return row[0].decode() if row else ""
        except (sqlite3.Error, AttributeError, UnicodeDecodeError):
            return ""


def find_fact(db: sqlite3.Connection, bank: int, no: int) -> Fix | None:
    """How to set right the row of a fact; None when more than one bit is wrong, or the row cannot be read at all."""
    lists = (
        "SELECT ordinal, entity_id, name FROM fact_entity WHERE bank = ? AND fact = ? ORDER BY ordinal",
        "SELECT tag FROM fact_tag WHERE bank = ? AND fact = ? ORDER BY tag",
        "SELECT ordinal, source_id FROM fact_source WHERE bank = ? AND fact = ? ORDER BY ordinal",
    )
    return _find(db, "fact", FACT_CONTENT, {"bank": bank, "no": no}, lists)


def find_text(db: sqlite3.Connection, table: str, bank: int, row_id: str) -> Fix | None:
    """The same for the row of a document or chunk."""
    if table == "document":
        tags = "SELECT tag FROM document_tag WHERE bank = ? AND document_id = ? ORDER BY tag"
        return _find(db, table, DOCUMENT_CONTENT, {"bank": bank, "id": row_id}, (tags,))
    turns = f"SELECT ordinal, {names(TURN)} FROM chunk_turn WHERE bank = ? AND chunk_id = ? ORDER BY ordinal"
    return _find(db, table, CHUNK, {"bank": bank, "id": row_id}, (turns,))


def _find(
    db: sqlite3.Connection,
    table: str,
    content: Sequence[str],
    key: Mapping[str, object],
    lists: Sequence[str],
) -> Fix | None:
    where = " AND ".join(f"{name} = ?" for name in key)
    values = tuple(key.values())
    with _raw(db):
        try:
            row = db.execute(
                f"SELECT {names(content)}, checksum FROM {table} WHERE {where}", values
            ).fetchone()
            rows = [db.execute(query, values).fetchall() for query in lists]
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return None
    if row is None or not isinstance(row[-1], int):
        return None
    parts = list(map(_plain, row[:-1]))
    text = b"\x1f".join([*parts, *_list_parts(rows)])
    difference = crc32(text) ^ row[-1]
    if difference.bit_count() == 1:
        statement = f"UPDATE {table} SET checksum = ? WHERE {where}"
        return Fix(statement, (crc32(text), *values), "its checksum set right")
    place = changed_bit(difference, len(text)) if len(text) <= _LONGEST else None
    if place is None:
        return None
    for name, stored, part in zip(content, row, parts, strict=False):
        if place < 8 * len(part):
            return _flip(table, name, stored, place, where, values)
        place -= 8 * (len(part) + 1)
    return None


def _flip(
    table: str, column: str, stored: object, place: int, where: str, key: tuple[object, ...]
) -> Fix | None:
    """The value of a column with one bit changed, where it is a text that can be read then."""
    if not isinstance(stored, bytes) or place < 0:
        return None
    right = bytearray(stored)
    right[place // 8] ^= 1 << place % 8
    try:
        text = right.decode()
    except UnicodeDecodeError:
        return None
    return Fix(
        f'UPDATE {table} SET "{column}" = ? WHERE {where}', (text, *key), f"one bit of {column} set right"
    )


def _list_parts(tables: Sequence[Sequence[Values]]) -> Iterator[bytes]:
    for rows in tables:
        yield b"\x1d"
        for row in rows:
            yield from map(_plain, row)


def _plain(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@contextmanager
def _raw(db: sqlite3.Connection) -> Iterator[None]:
    """Texts as the bytes that are stored."""
    before = db.text_factory
    db.text_factory = bytes
    try:
        yield
    finally:
        db.text_factory = before
