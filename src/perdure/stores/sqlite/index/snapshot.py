"""One state of a bank's index: never changes, so that any thread may search it without a lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perdure.domain.filter import Filter
from perdure.stores.sqlite.codec import NEVER
from perdure.stores.sqlite.index.growing import Array
from perdure.stores.sqlite.index.runs import Runs
from perdure.stores.sqlite.index.vectors import VectorView
from perdure.stores.sqlite.index.vocabulary import Vocabulary

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Admission:
    """Which rows a filter admits."""

    wanted: Filter
    mask: Mask
    hubs: dict[tuple[int, int], NDArray[np.int64]]
    """(Entity, cap) -> its best-connected admitted rows; shared by filters that admit the same rows."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenFacts:
    """The facts that are not closed, over which BM25 counts."""

    mask: Mask
    count: int
    average_length: float


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The columns of a bank's facts by row; rows of erased facts are not alive."""

    size: int
    ids: Sequence[str]
    """At least `size` of them: the list grows with later states."""
    id_keys: NDArray[np.uint64]
    """Numbers that sort as the beginnings of the ids do: rank.id_keys."""
    row_of: Mapping[str, int]
    """Id -> row; rows of later states too."""
    numbers: NDArray[np.int64]
    alive: Mask
    columns: Mapping[str, Array]
    tag_code: NDArray[np.int32]
    tag_sets: Sequence[frozenset[str]]
    pair_hash: NDArray[np.uint64]
    pair_row: NDArray[np.int64]
    terms: Runs
    links: tuple[Runs, ...]
    """One for each kind: row -> other row << 1 | outgoing."""
    members: Runs
    """Entity -> rows."""
    mentions: Runs
    """Row -> entities."""
    entity_of: Mapping[int, int]
    """Hash of an entity's id -> its number in this index."""
    degree: NDArray[np.int64]
    views: Mapping[str, VectorView]
    vocabulary: Vocabulary | None
    signatures: NDArray[np.uint8] | None
    admissions: list[Admission] = field(default_factory=list)
    """The last filters with what they admit."""
    memo: dict[str, OpenFacts] = field(default_factory=dict)

    def row(self, ident: str) -> int | None:
        """The row of a living fact."""
        row = self.row_of.get(ident)
        return row if row is not None and row < self.size and self.alive[row] else None

    @property
    def open(self) -> OpenFacts:
        """The facts that are not closed."""
        held = self.memo.get("open")
        if held is None:
            mask: Mask = self.alive & (self.columns["retired"] == NEVER)
            count = int(mask.sum())
            total = float(self.columns["length"][mask].sum())
            held = self.memo["open"] = OpenFacts(mask, count, total / count if count else 0.0)
        return held
