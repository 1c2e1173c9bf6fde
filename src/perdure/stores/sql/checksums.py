"""Checksums of what a person would miss: the content of facts, documents and chunks.

A checksum is the CRC-32 of the values as they are stored, in the order of the columns named here, followed by
those of the rows that belong to them (what a fact mentions, its tags and sources; a document's tags; a
chunk's turns). Values are joined by U+001F, rows of one table are led by U+001D; an integer stands in
decimal, NULL as `None`. So it differs whenever a bit of a text, a name or a date was changed. It protects
against decay, not against forgery.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from zlib import crc32

from perdure.stores.sql.columns import DOCUMENT, FACT, FACT_ROW, Values

_COUNTED = frozenset({"relevance", "emotion", "confidence", "proof_count"})
"""Columns of facts that are weights and counts, not content."""
_DERIVED = frozenset({"listener", "asked", "dates"})
"""Columns of facts that are read from the text again when a document is reprocessed."""
_SET_BY_STORE = frozenset({"created_at", "updated_at"})
FACT_CONTENT = tuple(name for name in FACT if name not in _COUNTED | _DERIVED)
DOCUMENT_CONTENT = tuple(name for name in DOCUMENT if name not in _SET_BY_STORE)
_fact_content = itemgetter(*(FACT_ROW.index(name) for name in FACT_CONTENT))
_document_content = itemgetter(*(DOCUMENT.index(name) for name in DOCUMENT_CONTENT))

Rows = Sequence[Values]
"""Rows of another table, in the order of their keys, without bank and owner."""


def fact_checksum(row: Values, mentions: Rows, tags: Rows, sources: Rows) -> int:
    """Return the checksum of a fact's row with its mentions, tags and sources."""
    return crc32(canonical(_fact_content(row), mentions, tags, sources))


def document_checksum(row: Values, tags: Rows) -> int:
    """Return the checksum of a row of DOCUMENT and (tag,)."""
    return crc32(canonical(_document_content(row), tags))


def chunk_checksum(row: Values, turns: Rows) -> int:
    """Return the checksum of a row of CHUNK and (ordinal, columns of TURN)."""
    return crc32(canonical(row, turns))


def canonical(row: Values, *tables: Rows) -> bytes:
    """Return the bytes that a checksum is of."""
    parts = [*row]
    for rows in tables:
        parts.append("\x1d")
        for one in rows:
            parts += one
    return "\x1f".join(map(str, parts)).encode()
