"""One state of a bank's index: never changes, so that any thread may search it without a lock."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Self

import numpy as np
from numpy.typing import NDArray

from perdure.domain.filter import Filter
from perdure.ports.hits import FactIds
from perdure.stores.index.growing import Array
from perdure.stores.index.runs import Runs
from perdure.stores.index.vectors import VectorView
from perdure.stores.index.vocabulary import Vocabulary
from perdure.stores.sqlite.codec import ALWAYS, NEVER

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Admission:
    """Which rows a filter admits."""

    wanted: Filter
    mask: Mask
    everything: bool
    """Whether it admits all rows."""
    hubs: dict[tuple[int, int], Rows]
    """(Entity, cap) -> its best-connected admitted rows; shared by filters that admit the same rows."""
    before: Mapping[tuple[int, int], Rows] = field(default_factory=dict)
    """The same before rows were touched (`Snapshot.touched`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """What makes most comparisons of times needless."""

    recorded: int = ALWAYS
    """No fact was recorded later."""
    valid_from: int = ALWAYS
    """No fact begins to be valid later."""
    ending: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The rows of facts that are retired, valid to some time, or expire."""

    def with_rows(self, columns: Mapping[str, Array], first: int) -> Self:
        """With the rows from `first` on."""
        recorded, begins = columns["recorded"][first:], columns["valid_from"][first:]
        ends = columns["retired"][first:] != NEVER
        ends |= columns["valid_to"][first:] != NEVER
        ends |= columns["expires"][first:] != NEVER
        return type(self)(
            max(self.recorded, int(recorded.max(initial=ALWAYS))),
            max(self.valid_from, int(begins.max(initial=ALWAYS))),
            np.concatenate([self.ending, first + np.flatnonzero(ends)]),
        )


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
    timeline: Timeline
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
    earlier: Sequence[Admission] = ()
    """Those of an earlier state, from which this one differs by rows that are new or have more links."""
    touched: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    """These rows."""
    touching: list[tuple[Sequence[int], Rows]] = field(default_factory=list)
    """The entities that these rows mention, rising, and which row mentions each; made when first asked for."""
    memo: dict[str, OpenFacts] = field(default_factory=dict)

    def row(self, ident: str) -> int | None:
        """The row of a living fact."""
        row = self.row_of.get(ident)
        return row if row is not None and row < self.size and self.alive[row] else None

    def rows_of(self, ids: Sequence[str]) -> Rows:
        """The rows of facts, -1 for those that are not there; those that this index found it knows by their places."""
        if isinstance(ids, FactIds) and ids.all_ids is self.ids:
            rows = ids.places
        else:
            rows = np.fromiter(map(self.row_of.get, ids, repeat(-1)), np.int64, len(ids))
        return np.where(rows < self.size, rows, -1)

    def numbers_of(self, ids: Sequence[str]) -> list[int]:
        """The numbers of facts, 0 for those that are not there."""
        rows = self.rows_of(ids)
        numbers: list[int] = np.where(rows < 0, 0, self.numbers.take(rows, mode="clip")).tolist()
        return numbers

    def mentioning(self, entity: int) -> list[int]:
        """The numbers of the facts that mention an entity, which is given by its hash."""
        known = self.entity_of.get(entity)
        if known is None:
            return []
        rows, _ = self.members.of(known)
        numbers: list[int] = self.numbers[rows[self.alive[rows]]].tolist()
        return numbers

    def touched_of(self, entity: int) -> Rows | None:
        """The touched rows that mention an entity, None when there are none."""
        if not self.touching:
            places, entities = self.mentions.tails(self.touched)
            order = np.argsort(entities, kind="stable")
            self.touching.append((entities.take(order).tolist(), self.touched.take(places.take(order))))
        mentioned, rows = self.touching[0]
        first = bisect_left(mentioned, entity)
        last = bisect_right(mentioned, entity, lo=first)
        return rows[first:last] if last > first else None

    @property
    def open(self) -> OpenFacts:
        """The facts that are not closed."""
        held = self.memo.get("open")
        if held is None:
            mask: Mask = self.alive & (self.columns["retired"] == NEVER)
            count = int(mask.sum())
            total = float(self.columns["length"].sum(where=True if count == self.size else mask))
            held = self.memo["open"] = OpenFacts(mask, count, total / count if count else 0.0)
        return held
