"""A bank's search index: loaded through a feed, kept in step with it, handed out as snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from perdure.stores.index.feed import BankState, Change, FactNos, Feed, PackedFact
from perdure.stores.index.masks import FilterMasks
from perdure.stores.index.packing import UnpackedFacts, unpack_facts
from perdure.stores.index.snapshot import Part, Snapshot, State
from perdure.stores.index.table import FactTable, FactTableBuilder
from perdure.stores.index.vectors import ViewBuilder

OpenFeed = Callable[[], AbstractContextManager[Feed]]
"""Opens a feed of the bank as it is now. Any thread that asks for a snapshot or searches one may call it."""

_MAX_DEAD = 0.25
"""Share of dead rows above which the index is built anew."""


class _Facts(NamedTuple):
    numbers: FactNos
    ids: Sequence[str]
    unpacked: UnpackedFacts


class BankIndex:
    """Grows with the bank."""

    def __init__(self, bank: str, loaded: Callable[[], None] = lambda: None) -> None:
        """Call `loaded` whenever the index or a part of it was loaded into memory."""
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
        self._parts: dict[str, Part[Any]] = {}

    def snapshot(self, state: BankState, open_feed: OpenFeed) -> Snapshot | None:
        """Return a snapshot at least as new as `state`; None when the bank is gone meanwhile."""
        current = self._current
        if current is not None and _covers(current[0], state):
            return current[1]
        with self._lock, open_feed() as feed:
            newest = feed.state()
            if newest is None:
                return None
            generation, current = self._generation, self._current
            if current is None or not _covers(current[0], newest):
                try:
                    self._catch_up(newest, feed)
                    current = self._publish(newest, open_feed)
                except BaseException:
                    # It may stand between two states: built anew at the next call.
                    self._clear()
                    raise
        if generation != self._generation:
            self._loaded()
        return current[1]

    def part(self, open_feed: OpenFeed, part: Part[State], table: FactTable) -> State:
        """Return the state of a part, which is read when it was not before.

        The feed may show a later state than the index: facts that the index lacks are left out, and taken in
        when it learns of them. A table from before the index was built anew has other rows, and a part that
        only its snapshot gets.
        """
        with self._lock:
            outdated = table.generation != self._generation
            existing: Part[State] | None = None if outdated else self._parts.get(part.key)
            if existing is None:
                with open_feed() as feed:
                    part.read(feed, table.row_of if outdated else self._facts.row_of)
                if self._current is not None and not outdated:
                    self._parts[part.key] = part
                    self._publish_parts(*self._current)
            state = (existing or part).state()
        if existing is None:
            self._loaded()
        return state

    def _catch_up(self, state: BankState, feed: Feed) -> None:
        before = None if self._current is None else self._current[0]
        dead = self._facts.dead > _MAX_DEAD * self._facts.size + 64
        other = before is None or _origin(before) != _origin(state)
        if before is None or other or state.changes_dropped > self._last_change or dead:
            self._clear()
            self._last_change = max(feed.last_change(), state.changes_dropped)
        elif state.vectors_version > before.version:
            self._parts = {
                key: part for key, part in self._parts.items() if not isinstance(part, ViewBuilder)
            }
        last_number = self._facts.last_number
        if added := _read(feed.facts_after(last_number)):
            self._facts.append(*added)
            self._read_parts(feed, added.numbers)
        self._apply_changes(feed, last_number)

    def _apply_changes(self, feed: Feed, last_number: int) -> None:
        """Apply the changes of facts up to a number; those after it were just read."""
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
        for part in self._parts.values():
            part.read(feed, self._facts.row_of, numbers.tolist())

    def _publish(self, state: BankState, open_feed: OpenFeed) -> tuple[BankState, Snapshot]:
        table = self._facts.table()
        snapshot = Snapshot(self.bank, table, FilterMasks(table), {}, partial(self.part, open_feed))
        return self._publish_parts(state, snapshot)

    def _publish_parts(self, state: BankState, snapshot: Snapshot) -> tuple[BankState, Snapshot]:
        """Show in the snapshot what is loaded now."""
        parts = {key: part.state() for key, part in self._parts.items()}
        self.nbytes = self._facts.nbytes + sum(part.nbytes for part in self._parts.values())
        self._current = state, replace(snapshot, parts=parts)
        return self._current


def _covers(current: BankState, asked: BankState) -> bool:
    """Return whether an index of one state is new enough for another."""
    return _origin(current) == _origin(asked) and current.version >= asked.version


def _origin(state: BankState) -> tuple[int, float]:
    """Return the origin of a state: states of one origin follow each other."""
    return state.key, state.server_started


def _read_numbers(feed: Feed, numbers: set[int]) -> _Facts | None:
    return _read(feed.facts_of(sorted(numbers))) if numbers else None


def _read(blocks: Iterator[Sequence[PackedFact]]) -> _Facts | None:
    """Return facts as arrays, None without any."""
    numbers: list[int] = []
    ids: list[str] = []
    bodies: list[bytes] = []
    for block in blocks:
        for number, fact_id, body in block:
            numbers.append(number)
            ids.append(fact_id)
            bodies.append(body)
    return _Facts(np.array(numbers, np.int64), ids, unpack_facts(bodies)) if numbers else None
