"""A bank's search index: built from the file, kept in step with it, handed out as snapshots."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from perdure.stores.index.growing import Array, Growing
from perdure.stores.index.lazy import LazyParts, RowOfNumber
from perdure.stores.index.links import link_runs
from perdure.stores.index.packed import read_packed
from perdure.stores.index.rank import id_keys
from perdure.stores.index.rows import EdgeRows, FeatureRows, read_features
from perdure.stores.index.runs import Runs, term_run
from perdure.stores.index.snapshot import Admission, Snapshot, Timeline
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.connections import Reader
from perdure.stores.sqlite.working import Change

_MOST_DEAD = 0.25
"""Share of erased rows at which the index is built anew."""
_MOST_TOUCHED = 500
"""So many rows may be touched until what was known of an earlier state is given up."""


@dataclass(frozen=True, slots=True)
class BankState:
    """What the file says of a bank: an index of a lower version is out of date."""

    no: int
    version: int
    vectors_since: int
    changes_since: int
    model: str | None
    dimensions: int | None


def read_state(db: sqlite3.Connection, bank: str) -> BankState | None:
    """The state of a bank in the file, None when there is no such bank."""
    row = db.execute(
        "SELECT no, version, vectors_since, changes_since, model, dimensions FROM bank WHERE id = ?", (bank,)
    ).fetchone()
    return None if row is None else BankState(*row)


class BankIndex:
    """Grows with the bank; searches go to the snapshot, which never changes."""

    def __init__(self, bank: str) -> None:
        self.bank = bank
        self._lock = RLock()
        self._state: BankState | None = None
        self._snapshot: Snapshot | None = None
        self._clear()

    def snapshot(self, reader: Reader, state: BankState) -> Snapshot | None:
        """A snapshot at least as new as `state`; None when the bank is gone meanwhile."""
        held = self.current(state)
        if held is not None:
            return held
        with self._lock, reader.snapshot() as db:
            seen = read_state(db, self.bank)
            if seen is None:
                return None
            if self._snapshot is None or self._state is None or not _fresh(self._state, seen):
                self._catch_up(db, seen)
            return self._snapshot

    def current(self, state: BankState) -> Snapshot | None:
        """The snapshot when it is at least as new as `state`; reads nothing."""
        held, snapshot = self._state, self._snapshot
        return snapshot if held is not None and _fresh(held, state) else None

    def with_part(
        self, reader: Reader, load: Callable[[LazyParts, sqlite3.Connection, RowOfNumber], None]
    ) -> Snapshot:
        """The snapshot with a part that was not loaded before.

        The file is read after the lock is taken: so it shows what the index shows, or a later state whose
        additional rows the index will take in when it catches up.
        """
        with self._lock, reader.snapshot() as db:
            load(self._lazy, db, self._row_of_number())
            return self._publish()

    @property
    def nbytes(self) -> int:
        """Memory held, roughly."""
        arrays = sum(column.nbytes for column in self._columns.values())
        runs = sum(part.nbytes for part in (self._terms, self._members, self._mentions, *self._links))
        return arrays + runs + self._lazy.nbytes + 220 * len(self._ids)

    def _clear(self) -> None:
        self._ids: list[str] = []
        self._id_keys = Growing(np.empty((2, 0), np.uint64))
        self._row_of: dict[str, int] = {}
        self._numbers = Growing(np.empty(0, np.int64))
        self._alive = Growing(np.empty(0, np.bool_))
        self._columns = {
            name: Growing(np.empty(0, codec.COLUMNS[name])) for name in codec.COLUMNS.names or ()
        }
        self._timeline = Timeline()
        self._tag_code = Growing(np.empty(0, np.int32))
        self._tag_sets: list[frozenset[str]] = [frozenset()]
        self._tag_number: dict[str | None, int] = {None: 0}
        self._pair_hash = Growing(np.empty(0, np.uint64))
        self._pair_row = Growing(np.empty(0, np.int64))
        self._terms, self._members, self._mentions = Runs(), Runs(), Runs()
        self._links = (Runs(),) * len(codec.KIND_OF)
        self._entity_of: dict[int, int] = {}
        self._degree = Growing(np.empty(0, np.int64))
        self._touched: list[Array] | None = None
        self._last_number = 0
        self._last_change = 0
        self._dead = 0
        self._ordered = True
        self._lazy = LazyParts()

    def _catch_up(self, db: sqlite3.Connection, state: BankState) -> None:
        """Bring the index to the state; after an error it is built anew at the next call."""
        known, self._state = self._state, None
        outdated = known is None or known.no != state.no or state.changes_since > self._last_change
        if outdated or self._dead > _MOST_DEAD * len(self._ids) + 64:
            self._clear()
        self._lazy.bank_no = state.no
        if known is not None and state.vectors_since > known.version:
            self._lazy.drop_vectors()
        seen_before = self._last_number or self._begin(db, state)
        self._connect(self._append(db, read_features(db, state.no, "fact > ?", (self._last_number,))))
        self._apply_changes(db, state.no, seen_before)
        self._publish()
        self._state = state

    def _begin(self, db: sqlite3.Connection, state: BankState) -> int:
        """Take in all facts; returns the number up to which they are as they were when packed, to be brought up to date."""
        packed = read_packed(db, state.no)
        if packed is None:
            (last,) = db.execute("SELECT max(seq) FROM change WHERE bank = ?", (state.no,)).fetchone()
            self._last_change = max(last or 0, state.changes_since)
            return 0
        self._connect(self._append(db, packed.rows))
        self._last_number, self._last_change = max(self._last_number, packed.last), packed.change
        return packed.last

    def _append(self, db: sqlite3.Connection, read: FeatureRows) -> EdgeRows:
        """Add facts; returns their links, which can be added when all facts are there."""
        if len(read.numbers) == 0:
            return read.edges
        first = len(self._ids)
        rows = np.arange(first, first + len(read.numbers))
        self._ids.extend(read.ids)
        self._id_keys.append(id_keys(read.ids))
        self._row_of.update(zip(read.ids, rows.tolist(), strict=True))
        self._ordered = self._ordered and int(read.numbers[0]) > self._last_number
        self._last_number = max(self._last_number, int(read.numbers[-1]))
        self._numbers.append(read.numbers)
        self._alive.append(np.ones(len(rows), np.bool_))
        for name, column in self._columns.items():
            column.append(read.columns[name])
        self._timeline = self._timeline.with_rows(self._views(), first)
        self._tag_code.append(self._tag_codes(read.tags))
        self._pair_hash.append(read.metadata)
        self._pair_row.append(rows[read.repeat("metadata")])
        self._terms = self._terms.with_run(term_run(read.terms, read.columns["terms"].copy(), first))
        member = rows[read.repeat("entities")]
        entity = self._entities(read.entities)
        ones = np.ones(len(member), np.float32)
        self._members = self._members.add(entity, member, ones)
        self._mentions = self._mentions.add(member, entity, ones)
        self._degree.append(read.columns["entities"].astype(np.int64))
        self._touch(rows)
        self._lazy.append(db, read.numbers, rows)
        return read.edges

    def _tag_codes(self, held: Sequence[str | None]) -> NDArray[np.int32]:
        for tags in set(held) - self._tag_number.keys():
            self._tag_number[tags] = len(self._tag_sets)
            self._tag_sets.append(frozenset(json.loads(tags or "[]")))
        return np.fromiter(map(self._tag_number.__getitem__, held), np.int32, len(held))

    def _entities(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        distinct, places = np.unique(hashes, return_inverse=True)
        numbers = [self._entity_of.setdefault(value, len(self._entity_of)) for value in distinct.tolist()]
        return np.array(numbers, np.int64)[places]

    def _connect(self, edges: EdgeRows) -> None:
        """Add links in both directions; those with an erased fact are left out."""
        near, far = self._rows(edges.number), self._rows(edges.other)
        kept = (near >= 0) & (far >= 0)
        if kept.all():
            self._add_links(near, far, edges.kind, edges.outgoing, edges.weight)
        else:
            self._add_links(near[kept], far[kept], edges.kind[kept], edges.outgoing[kept], edges.weight[kept])

    def _add_links(self, near: Array, far: Array, kind: Array, outgoing: Array, weight: Array) -> None:
        if len(near) == 0:
            return
        self._touch(near, far)
        self._links = tuple(
            held.with_run(run)
            for held, run in zip(self._links, link_runs(near, far, kind, outgoing, weight), strict=True)
        )
        if 2 * len(near) > len(self._ids):
            counts = np.bincount(near, minlength=len(self._ids)) + np.bincount(far, minlength=len(self._ids))
            self._degree = Growing(self._degree.view + counts)
        else:
            rows, counts = np.unique(np.concatenate([near, far]), return_counts=True)
            self._degree.assign(rows, self._degree.view[rows] + counts)

    def _apply_changes(self, db: sqlite3.Connection, bank_no: int, seen_before: int) -> None:
        """Changes of facts that the index held before it looked."""
        rows = db.execute(
            "SELECT seq, fact, kind FROM change WHERE bank = ? AND seq > ? ORDER BY seq",
            (bank_no, self._last_change),
        ).fetchall()
        if not rows:
            return
        self._last_change = rows[-1][0]
        kinds: dict[Change, list[int]] = {kind: [] for kind in Change}
        for _, fact, kind in rows:
            if fact <= seen_before:
                kinds[Change(kind)].append(fact)
        gone = set(kinds[Change.GONE])
        self._kill(np.array(sorted(gone), np.int64))
        self._replace(db, bank_no, sorted(set(kinds[Change.REPLACED]) - gone))
        self._overwrite(db, bank_no, sorted(set(kinds[Change.COLUMNS]) - gone))
        self._reconnect(db, bank_no, sorted(set(kinds[Change.EDGES]) - gone))

    def _kill(self, numbers: NDArray[np.int64]) -> None:
        rows = self._rows(numbers)
        rows = rows[rows >= 0]
        if len(rows) == 0:
            return
        self._touched = None
        # An id may come back in another row: hits from before must not pass for those of this state (ports/hits.py).
        self._ids = self._ids.copy()
        self._alive.assign(rows, False)
        self._dead += len(rows)
        for row in rows.tolist():
            if self._row_of.get(self._ids[row]) == row:
                del self._row_of[self._ids[row]]
        far = np.concatenate([links.of_all(rows).tail >> 1 for links in self._links])
        touched, counts = np.unique(far, return_counts=True)
        self._degree.assign(touched, self._degree.view[touched] - counts)

    def _replace(self, db: sqlite3.Connection, bank_no: int, numbers: list[int]) -> None:
        """Facts whose postings changed move to new rows and take their links along."""
        if not numbers:
            return
        old = self._rows(np.array(numbers, np.int64))
        held = [links.of_all(old) for links in self._links]
        self._kill(np.array(numbers, np.int64))
        first = len(self._ids)
        self._append(db, read_features(db, bank_no, f"fact IN ({_listed(numbers)})"))
        self._ordered = False
        moved = {int(row): first + place for place, row in enumerate(old.tolist())}
        for code, found in enumerate(held):
            near = first + found.head
            far = np.array([moved.get(row, row) for row in (found.tail >> 1).tolist()], np.int64)
            kept = self._alive.view[far] & ((far < first) | (near < far))
            self._add_links(
                near[kept],
                far[kept],
                np.full(int(kept.sum()), code),
                (found.tail & 1)[kept].astype(np.bool_),
                found.weight[kept],
            )

    def _overwrite(self, db: sqlite3.Connection, bank_no: int, numbers: list[int]) -> None:
        if not numbers:
            return
        read = read_features(db, bank_no, f"fact IN ({_listed(numbers)})")
        rows = self._rows(read.numbers)
        for name, column in self._columns.items():
            if not np.array_equal(column.view[rows], read.columns[name]):
                column.assign(rows, read.columns[name])
        self._timeline = Timeline().with_rows(self._views(), 0)

    def _reconnect(self, db: sqlite3.Connection, bank_no: int, numbers: list[int]) -> None:
        """Links added between known facts; when a weight changed, all links are read anew."""
        if not numbers:
            return
        edges = read_features(db, bank_no, f"fact IN ({_listed(numbers)})").edges
        near, far = self._rows(edges.number), self._rows(edges.other)
        fresh = np.zeros(len(near), np.bool_)
        for place in np.flatnonzero((near >= 0) & (far >= 0)).tolist():
            tails, weights = self._links[int(edges.kind[place])].of(int(near[place]))
            known = weights[tails == (int(far[place]) << 1 | int(edges.outgoing[place]))]
            if len(known) == 0:
                fresh[place] = True
            elif edges.weight[place] != known[0]:
                self._touched = None
                self._links = (Runs(),) * len(codec.KIND_OF)
                entities = self._columns["entities"].view.astype(np.int64)
                self._degree = Growing(entities)
                self._connect(read_features(db, bank_no, "true").edges)
                return
        self._add_links(
            near[fresh], far[fresh], edges.kind[fresh], edges.outgoing[fresh], edges.weight[fresh]
        )

    def _rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of living facts, -1 for others."""
        if len(self._ids) == 0:
            return np.full(len(numbers), -1, np.int64)
        first = int(self._numbers.view[0])
        if self._ordered and self._last_number - first == len(self._ids) - 1:
            rows = numbers - first
            if not self._dead and rows.min(initial=0) >= 0 and rows.max(initial=0) < len(self._ids):
                return rows
            known = (rows >= 0) & (rows < len(self._ids))
            return np.where(known & self._alive.view[np.where(known, rows, 0)], rows, -1)
        held, rows = self._row_of_number()
        places = np.minimum(np.searchsorted(held, numbers), len(held) - 1)
        found = np.where(held[places] == numbers, rows[places], -1)
        return np.where((found >= 0) & self._alive.view[np.maximum(found, 0)], found, -1)

    def _row_of_number(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of facts in rising order, and their rows."""
        numbers = self._numbers.view
        if self._ordered:
            return numbers, np.arange(len(numbers))
        living = np.flatnonzero(self._alive.view)
        order = living[np.argsort(numbers[living], kind="stable")]
        return numbers[order], order

    def _views(self) -> dict[str, Array]:
        return {name: column.view for name, column in self._columns.items()}

    def _touch(self, *rows: Array) -> None:
        """Note rows that are new or have more links."""
        if self._touched is not None:
            self._touched += rows

    def _inherited(self) -> tuple[Sequence[Admission], NDArray[np.int64]]:
        """What the last states knew of filters, and the rows touched since; nothing when more than that changed."""
        held, touched = self._snapshot, self._touched
        if held is not None and touched is not None:
            rows = np.unique(np.concatenate([np.empty(0, np.int64), *touched]))
            if len(rows) <= _MOST_TOUCHED:
                self._touched = [rows]
                return tuple(held.admissions) or held.earlier, rows
        self._touched = []
        return (), np.empty(0, np.int64)

    def _publish(self) -> Snapshot:
        earlier, touched = self._inherited()
        self._snapshot = Snapshot(
            size=len(self._ids),
            ids=self._ids,
            id_keys=self._id_keys.view,
            row_of=self._row_of,
            numbers=self._numbers.view,
            alive=self._alive.view,
            columns=self._views(),
            timeline=self._timeline,
            tag_code=self._tag_code.view,
            tag_sets=tuple(self._tag_sets),
            pair_hash=self._pair_hash.view,
            pair_row=self._pair_row.view,
            terms=self._terms,
            links=self._links,
            members=self._members,
            mentions=self._mentions,
            entity_of=self._entity_of,
            degree=self._degree.view,
            views=self._lazy.views(),
            vocabulary=self._lazy.vocabulary(),
            signatures=self._lazy.signatures(),
            earlier=earlier,
            touched=touched,
        )
        return self._snapshot


def _fresh(held: BankState, wanted: BankState) -> bool:
    return held.no == wanted.no and held.version >= wanted.version


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))
