"""Rows of the file as arrays."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.errors import StoreCorrupt
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.index.growing import Array


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRows:
    """The indexed parts of some facts, in the order of their numbers."""

    numbers: NDArray[np.int64]
    ids: Sequence[str]
    columns: Array
    terms: Array
    entities: NDArray[np.uint64]
    metadata: NDArray[np.uint64]
    tags: Sequence[str | None]

    def repeat(self, count: str) -> NDArray[np.int64]:
        """The position of the fact for each of its terms, entities or metadata pairs."""
        return np.repeat(np.arange(len(self.numbers)), self.columns[count])


def read_features(
    db: sqlite3.Connection, bank_no: int, condition: str, values: Sequence[int] = ()
) -> FeatureRows:
    """The facts of a bank for which a condition holds."""
    rows = db.execute(
        "SELECT fact, id, columns, terms, entities, metadata, tags FROM feature"
        f" WHERE bank = ? AND {condition} ORDER BY fact",
        (bank_no, *values),
    ).fetchall()
    if not rows:
        rows_by_column: list[Sequence[object]] = [()] * 7
    else:
        rows_by_column = list(zip(*rows, strict=True))
    numbers, ids, columns, terms, entities, metadata, tags = rows_by_column
    try:
        read = FeatureRows(
            numbers=np.array(numbers, np.int64),
            ids=ids,  # type: ignore[arg-type]
            columns=np.frombuffer(b"".join(columns), codec.COLUMNS),  # type: ignore[arg-type]
            terms=np.frombuffer(b"".join(terms), codec.TERM),  # type: ignore[arg-type]
            entities=np.frombuffer(b"".join(entities), "<u8"),  # type: ignore[arg-type]
            metadata=np.frombuffer(b"".join(metadata), "<u8"),  # type: ignore[arg-type]
            tags=tags,  # type: ignore[arg-type]
        )
    except (ValueError, TypeError) as error:
        raise StoreCorrupt(f"the search columns of bank {bank_no} cannot be read: {error}") from error
    _check_counts(read)
    return read


def _check_counts(read: FeatureRows) -> None:
    held = {"terms": len(read.terms), "entities": len(read.entities), "metadata": len(read.metadata)}
    counted = {name: int(read.columns[name].sum()) for name in held}
    if len(read.columns) != len(read.numbers) or held != counted:
        raise StoreCorrupt(f"the search columns are inconsistent: {held} where {counted} were written")


@dataclass(frozen=True, slots=True, eq=False)
class EdgeRows:
    """Links: between the fact of `number` and an earlier one, `other`."""

    number: NDArray[np.int64]
    other: NDArray[np.int64]
    kind: NDArray[np.uint8]
    outgoing: NDArray[np.bool_]
    weight: NDArray[np.float32]


def read_edges(db: sqlite3.Connection, bank_no: int, condition: str, values: Sequence[int] = ()) -> EdgeRows:
    """The links kept with the facts for which a condition holds."""
    rows = db.execute(
        f"SELECT fact, links FROM edge WHERE bank = ? AND {condition}", (bank_no, *values)
    ).fetchall()
    counts = [len(links) // codec.EDGE.itemsize for _, links in rows]
    edges = np.frombuffer(b"".join(links for _, links in rows), codec.EDGE)
    return EdgeRows(
        number=np.repeat(np.array([no for no, _ in rows], np.int64), counts),
        other=edges["other"].astype(np.int64),
        kind=edges["kind"].copy(),
        outgoing=edges["outgoing"].astype(np.bool_),
        weight=edges["weight"].copy(),
    )
