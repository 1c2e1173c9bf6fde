"""Segments: what an index loads of thousands of facts, in a few blobs that are read at once.

They repeat rows of `feature` and `vector_original`, from which `perdure.stores.sqlite.segments` makes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from struct import error as struct_error

import numpy as np
from numpy.typing import NDArray

from perdure.errors import StoreCorrupt
from perdure.stores.index.rows import FeatureRows, read_features
from perdure.stores.sqlite import codec

FACTS = "facts"
"""The part that holds rows of `feature`; the others are views."""
_MOST_CHANGES = 20_000
"""When more was changed since a bank was packed, its rows are read instead."""
_LENGTHS = Struct("<9Q")
_COUNT = Struct("<Q")


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """All facts of a bank; those up to a number as they were after a change."""

    rows: FeatureRows
    last: int
    change: int


def view_part(view: str) -> str:
    """The name of the part that holds a view's codes."""
    return f"view {view}"


def pack_rows(read: FeatureRows) -> bytes:
    """Facts in one blob."""
    distinct = {tags: code for code, tags in enumerate(dict.fromkeys(read.tags))}
    parts = (
        codec.compact([list(read.ids), list(distinct)]).encode(),
        np.array([distinct[tags] for tags in read.tags], "<i4").tobytes(),
        read.numbers.astype("<i8").tobytes(),
        read.columns.tobytes(),
        read.terms.tobytes(),
        read.entities.tobytes(),
        read.metadata.tobytes(),
        read.links.tobytes(),
        read.link_counts.astype("<i8").tobytes(),
    )
    return b"".join((_LENGTHS.pack(*map(len, parts)), *parts))


def read_packed(db: sqlite3.Connection, bank_no: int) -> Packed | None:
    """All facts of a bank, None when none is packed or too much was changed since."""
    segments = db.execute(
        "SELECT last, change, body FROM segment WHERE bank = ? AND part = ? ORDER BY last", (bank_no, FACTS)
    ).fetchall()
    if not segments:
        return None
    change = min(change for _, change, _ in segments)
    if _changes(db, bank_no, change) > _MOST_CHANGES:
        return None
    try:
        # In one piece with what is not packed yet, so that postings are in one run.
        rest = pack_rows(read_features(db, bank_no, "fact > ?", (segments[-1][0],)))
        rows = _unpack_rows([*(body for _, _, body in segments), rest])
    except (ValueError, TypeError, IndexError, struct_error) as error:
        raise StoreCorrupt(f"the packed columns of bank {bank_no} cannot be read: {error}") from error
    rows.check()
    return Packed(rows, segments[-1][0], change)


def _changes(db: sqlite3.Connection, bank_no: int, after: int) -> int:
    (count,) = db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM change WHERE bank = ? AND seq > ? LIMIT ?)",
        (bank_no, after, _MOST_CHANGES + 1),
    ).fetchone()
    return int(count)


def _unpack_rows(bodies: Sequence[bytes]) -> FeatureRows:
    names, *columns = zip(*map(_split, bodies), strict=True)
    ids: list[str] = []
    tags: list[str | None] = []
    for packed, codes in zip(names, columns[0], strict=True):
        some, distinct = json.loads(bytes(packed))
        ids += some
        tags += [distinct[code] for code in np.frombuffer(codes, "<i4").tolist()]
    # Joined as bytes: numpy takes ten times as long to join arrays of records.
    numbers, packed_columns, terms, entities, metadata, links, counts = map(b"".join, columns[1:])
    return FeatureRows(
        numbers=np.frombuffer(numbers, "<i8"),
        ids=ids,
        tags=tags,
        columns=np.frombuffer(packed_columns, codec.COLUMNS),
        terms=np.frombuffer(terms, codec.TERM),
        entities=np.frombuffer(entities, "<u8"),
        metadata=np.frombuffer(metadata, "<u8"),
        links=np.frombuffer(links, codec.EDGE),
        link_counts=np.frombuffer(counts, "<i8"),
    )


def _split(body: bytes) -> list[memoryview]:
    start, whole = _LENGTHS.size, memoryview(body)
    parts = []
    for length in _LENGTHS.unpack_from(body):
        parts.append(whole[start : start + length])
        start += length
    if start != len(body):
        raise ValueError(f"{len(body)} bytes where {start} were written")
    return parts


Codes = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int8]]
"""Numbers of facts, scales, values."""


def pack_codes(numbers: NDArray[np.int64], scales: NDArray[np.float32], values: NDArray[np.int8]) -> bytes:
    """A view's codes in one blob."""
    arrays = (numbers.astype("<i8"), scales.astype("<f4"), values)
    return b"".join((_COUNT.pack(len(numbers)), *(array.tobytes() for array in arrays)))


def unpack_codes(body: bytes) -> Codes:
    """What `pack_codes` packed."""
    try:
        (count,) = _COUNT.unpack_from(body)
        scales_at, values_at = _COUNT.size + 8 * count, _COUNT.size + 12 * count
        numbers = np.frombuffer(body, "<i8", count, _COUNT.size)
        scales = np.frombuffer(body, "<f4", count, scales_at)
        return numbers, scales, np.frombuffer(body, np.int8, offset=values_at).reshape(count, -1)
    except (ValueError, struct_error) as error:
        raise StoreCorrupt(f"packed vectors cannot be read: {error}") from error
