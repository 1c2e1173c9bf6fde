"""Rows of the file as arrays."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.errors import StoreCorrupt
from perdure.stores.index.growing import Array
from perdure.stores.sqlite import codec

BLOCK = 512
"""Rows fetched at once: their tuples are gone again before there are enough to start the garbage collector (700)."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRows:
    """The indexed parts of some facts, in the order of their numbers."""

    numbers: NDArray[np.int64]
    ids: Sequence[str]
    tags: Sequence[str | None]
    columns: Array
    terms: Array
    entities: NDArray[np.uint64]
    metadata: NDArray[np.uint64]
    links: Array
    link_counts: NDArray[np.int64]

    def repeat(self, count: str) -> NDArray[np.int64]:
        """The position of the fact for each of its terms, entities or metadata pairs."""
        return np.repeat(np.arange(len(self.numbers)), self.columns[count])

    @property
    def edges(self) -> EdgeRows:
        """The links."""
        return EdgeRows(
            number=np.repeat(self.numbers, self.link_counts),
            other=self.links["other"].astype(np.int64),
            kind=self.links["kind"].copy(),
            outgoing=self.links["outgoing"].astype(np.bool_),
            weight=self.links["weight"].copy(),
        )

    def check(self) -> None:
        """Raise when the parts do not fit together."""
        held = {"terms": len(self.terms), "entities": len(self.entities), "metadata": len(self.metadata)}
        sizes = {len(self.numbers), len(self.ids), len(self.tags), len(self.columns), len(self.link_counts)}
        if len(sizes) > 1:
            raise StoreCorrupt(
                f"the search columns hold {len(self.columns)} rows of {len(self.numbers)} facts"
            )
        counted = {name: int(self.columns[name].sum()) for name in held}
        if held != counted or len(self.links) != int(self.link_counts.sum()):
            raise StoreCorrupt(f"the search columns are inconsistent: {held} where {counted} were written")


@dataclass(frozen=True, slots=True, eq=False)
class EdgeRows:
    """Links: between the fact of `number` and an earlier one, `other`."""

    number: NDArray[np.int64]
    other: NDArray[np.int64]
    kind: NDArray[np.uint8]
    outgoing: NDArray[np.bool_]
    weight: NDArray[np.float32]


def read_features(
    db: sqlite3.Connection, bank_no: int, condition: str, values: Sequence[int] = ()
) -> FeatureRows:
    """The facts of a bank for which a condition holds."""
    cursor = db.execute(
        "SELECT fact, id, tags, columns, terms, entities, metadata, links FROM feature"
        f" WHERE bank = ? AND {condition} ORDER BY fact",
        (bank_no, *values),
    )
    numbers: list[int] = []
    ids: list[str] = []
    tags: list[str | None] = []
    counts: list[int] = []
    packed: list[list[bytes]] = [[], [], [], [], []]
    try:
        while block := cursor.fetchmany(BLOCK):
            some_numbers, some_ids, some_tags, *blobs = zip(*block, strict=True)
            numbers += some_numbers
            ids += some_ids
            tags += some_tags
            counts += map(len, blobs[-1])
            for held, blob in zip(packed, blobs, strict=True):
                held.append(b"".join(blob))
        columns, terms, entities, metadata, links = (b"".join(blocks) for blocks in packed)
        read = FeatureRows(
            numbers=np.array(numbers, np.int64),
            ids=ids,
            tags=tags,
            columns=np.frombuffer(columns, codec.COLUMNS),
            terms=np.frombuffer(terms, codec.TERM),
            entities=np.frombuffer(entities, "<u8"),
            metadata=np.frombuffer(metadata, "<u8"),
            links=np.frombuffer(links, codec.EDGE),
            link_counts=np.array(counts, np.int64) // codec.EDGE.itemsize,
        )
    except (ValueError, TypeError) as error:
        raise StoreCorrupt(f"the search columns of bank {bank_no} cannot be read: {error}") from error
    read.check()
    return read
