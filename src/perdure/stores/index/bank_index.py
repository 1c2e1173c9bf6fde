"""A bank's search index: loaded through a feed, kept in step with it, handed out as snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from threading import RLock
from typing import NamedTuple, Protocol

import numpy as np

from perdure.stores.index.arrays import Rows
from perdure.stores.index.feed import BankState, Change, FactNos, Feed, PackedFact
from perdure.stores.index.fuzzy import Vocabulary, VocabularyBuilder
from perdure.stores.index.masks import FilterMasks
from perdure.stores.index.packing import UnpackedFacts, unpack_facts
from perdure.stores.index.signature import SignatureBuilder, Signatures
from perdure.stores.index.snapshot import Snapshot
from perdure.stores.index.table import FactTable, FactTableBuilder
from perdure.stores.index.vectors import VectorView, ViewBuilder

OpenFeed = Callable[[], AbstractContextManager[Feed]]
"""Opens a feed of the bank as it is now. Any thread that asks for a snapshot or searches one may call it."""

_MAX_DEAD = 0.25
"""Share of dead rows above which the index is built anew."""
_UNPACKED_AT_ONCE = 8192


class _Part(Protocol):
    """What is loaded when a probe first asks for it: a view of vectors, the vocabulary, the signatures."""

    @property
    def nbytes(self) -> int: ...

    def read(self, feed: Feed, row_of: Rows, numbers: Sequence[int] | None = None) -> None: ...


class _Facts(NamedTuple):
    numbers: FactNos
    ids: list[str]
    unpacked: UnpackedFacts


class BankIndex:
    """Grows with the bank."""

    def __init__(self, bank: str, loaded: Callable[[], None] = lambda: None) -> None:
        """`loaded` is called whenever the index or a part of it was loaded into memory."""
        self.bank = bank
        self.nbytes = 0
        """Memory in use, roughly."""
        self._loaded = loaded
        self._lock = RLock()
        self._current: tuple[BankState, Snapshot] | None = None
        self._generation = 0
        self._clear()

    def _clear(self) -> None:
        self._generation += 1
        self._current = None
        self._facts = FactTableBuilder(self._generation)
        self._last_change = 0
        self._views: dict[str, ViewBuilder] = {}
        self._vocabulary: VocabularyBuilder | None = None
        self._signatures: SignatureBuilder | None = None

    def snapshot(self, state: BankState, open_feed: OpenFeed) -> Snapshot | None:
        """A snapshot at least as new as `state`; None when the bank is gone meanwhile."""
        current = self._current
        if current is not None and _covers(current[0], state):
            return current[1]
        with self._lock:
            self._open_feed = open_feed
            generation = self._generation
            with open_feed() as feed:
                newest = feed.state()
                if newest is None:
                    return None
                snapshot = self._brought_up_to(newest, feed)
            loaded = generation != self._generation
        if loaded:
            self._loaded()
        return snapshot

    def view(self, name: str, table: FactTable) -> VectorView:
        """The vectors of a view."""
        with self._lock:
            builder = self._views.get(name)
            if builder is None or table.generation != self._generation:
                builder = ViewBuilder(name)
                if self._load(builder, table):
                    self._views[name] = builder
                    self._publish_parts()
            view = builder.state()
        self._loaded()
        return view

    def vocabulary(self, table: FactTable) -> Vocabulary:
        """The words."""
        with self._lock:
            builder = self._vocabulary
            if builder is None or table.generation != self._generation:
                builder = VocabularyBuilder()
                if self._load(builder, table):
                    self._vocabulary = builder
                    self._publish_parts()
            vocabulary = builder.state()
        self._loaded()
        return vocabulary

    def signatures(self, table: FactTable) -> Signatures:
        """The signatures."""
        with self._lock:
            builder = self._signatures
            if builder is None or table.generation != self._generation:
                builder = SignatureBuilder()
                if self._load(builder, table):
                    self._signatures = builder
                    self._publish_parts()
            signatures = builder.state()
        self._loaded()
        return signatures

    def _load(self, part: _Part, table: FactTable) -> bool:
        """Read a part; returns whether it fits the index, not only a table from before the index was built anew.

        The feed may show a later state than the index: rows that the index lacks are left out, and taken in with their facts.
        """
        fits = table.generation == self._generation
        with self._open_feed() as feed:
            part.read(feed, self._facts.row_of if fits else table.row_of)
        return fits

    def _brought_up_to(self, state: BankState, feed: Feed) -> Snapshot:
        """The snapshot of this state; after an error the index is built anew at the next call."""
        try:
            if self._current is None or not _covers(self._current[0], state):
                self._catch_up(state, feed)
        except BaseException:
            self._clear()
            raise
        assert self._current is not None
        return self._current[1]

    def _catch_up(self, state: BankState, feed: Feed) -> None:
        before = None if self._current is None else self._current[0]
        dead = self._facts.dead > _MAX_DEAD * self._facts.size + 64
        if before is None or before.key != state.key or state.changes_dropped > self._last_change or dead:
            self._clear()
            self._last_change = max(feed.last_change(), state.changes_dropped)
        elif state.vectors_version > before.version:
            self._views.clear()
        last_number = self._facts.last_number
        if added := _read(feed.facts_after(last_number)):
            self._facts.append(*added)
            self._read_parts(feed, added.numbers)
        self._apply_changes(feed, last_number)
        self._publish(state)

    def _apply_changes(self, feed: Feed, last_number: int) -> None:
        """Changes of the facts up to a number; those after it were just read."""
        changes = feed.changes_after(self._last_change)
        if not changes:
            return
        self._last_change = changes[-1][0]
        changed: dict[Change, set[int]] = {kind: set() for kind in Change}
        for _, number, kind in changes:
            if number <= last_number:
                changed[kind].add(number)
        gone = changed[Change.GONE]
        replaced = changed[Change.REPLACED] - gone
        self._facts.remove(np.array(sorted(gone), np.int64))
        if facts := _read_numbers(feed, replaced):
            self._facts.replace(*facts)
            self._read_parts(feed, facts.numbers)
        if facts := _read_numbers(feed, changed[Change.COLUMNS] - gone - replaced):
            self._facts.set_columns(facts.numbers, facts.unpacked)
        if facts := _read_numbers(feed, changed[Change.LINKS] - gone - replaced):
            self._facts.set_links(facts.numbers, facts.unpacked)

    def _read_parts(self, feed: Feed, numbers: FactNos) -> None:
        """Bring what is loaded up to date with facts that have new rows."""
        for part in self._parts():
            part.read(feed, self._facts.row_of, numbers.tolist())

    def _parts(self) -> Iterator[_Part]:
        yield from self._views.values()
        if self._vocabulary is not None:
            yield self._vocabulary
        if self._signatures is not None:
            yield self._signatures

    def _publish(self, state: BankState) -> None:
        table = self._facts.table()
        self._current = state, Snapshot(self.bank, table, FilterMasks(table), {}, None, None, self)
        self._publish_parts()

    def _publish_parts(self) -> None:
        """Show in the snapshot what is loaded now."""
        assert self._current is not None
        state, snapshot = self._current
        snapshot = replace(
            snapshot,
            views={name: builder.state() for name, builder in self._views.items()},
            vocabulary=None if self._vocabulary is None else self._vocabulary.state(),
            signatures=None if self._signatures is None else self._signatures.state(),
        )
        self._current = state, snapshot
        self.nbytes = self._facts.nbytes + sum(part.nbytes for part in self._parts())


def _covers(held: BankState, asked: BankState) -> bool:
    """Whether an index of one state is new enough for another."""
    return held.key == asked.key and held.version >= asked.version


def _read_numbers(feed: Feed, numbers: set[int]) -> _Facts | None:
    return _read(feed.facts_of(sorted(numbers))) if numbers else None


def _read(blocks: Iterator[Sequence[PackedFact]]) -> _Facts | None:
    """Facts as arrays, None without any; bodies are let go as soon as enough of them were unpacked."""
    numbers: list[int] = []
    ids: list[str] = []
    bodies: list[bytes] = []
    unpacked: list[UnpackedFacts] = []
    for block in blocks:
        for number, fact_id, body in block:
            numbers.append(number)
            ids.append(fact_id)
            bodies.append(body)
        if len(bodies) >= _UNPACKED_AT_ONCE:
            unpacked.append(unpack_facts(bodies))
            bodies.clear()
    if bodies:
        unpacked.append(unpack_facts(bodies))
    return _Facts(np.array(numbers, np.int64), ids, UnpackedFacts.joined(unpacked)) if numbers else None
