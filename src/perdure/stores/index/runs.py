"""Postings: which rows belong to a term, an entity or another row, in sorted runs of 64-bit keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Weights = NDArray[np.float32]
Places = NDArray[np.int64]

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_POSTING_BYTES = 12
_RATIO = 8
"""A run is merged into the one before unless that is this many times longer; so runs stay few."""
_TABLED = 4096
"""Runs of this many postings get a table of where each head starts when they are asked for several heads."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Postings of several heads: `head` is the position of the head that was asked for."""

    head: Places
    tail: Places
    weight: Weights


Postings = tuple[Keys, Weights]


class Run:
    """Keys in rising order with their weights; made when first asked for, since a bank's first question needs few."""

    __slots__ = ("_held", "_make", "_starts", "size")

    def __init__(self, size: int, make: Callable[[], Postings]) -> None:
        """`make` returns `size` keys in rising order, the same each time."""
        self.size = size
        self._make: Callable[[], Postings] | None = make
        self._held: Postings | None = None
        self._starts: NDArray[np.int32] | None = None

    @property
    def keys(self) -> Keys:
        """The keys."""
        return self._postings()[0]

    @property
    def weights(self) -> Weights:
        """The weights in the order of the keys."""
        return self._postings()[1]

    @property
    def nbytes(self) -> int:
        """Memory held; before the postings are made, what they are made of takes about as much."""
        return _POSTING_BYTES * self.size + (0 if self._starts is None else self._starts.nbytes)

    def _postings(self) -> Postings:
        """Threads that come here at once make the same."""
        held, make = self._held, self._make
        if held is None:
            held = self._held = make() if make is not None else self._held
            assert held is not None
            self._make = None
        return held

    def bounds(self, heads: Places) -> tuple[Places, Places]:
        """Where the postings of each head start and end.

        Looked up in a table where heads are numbers of rows or entities; terms are hashes, and found by halving.
        """
        if self.size < _TABLED:
            first = heads.astype(np.uint64)
            return (
                np.searchsorted(self.keys, first << _SHIFT),
                np.searchsorted(self.keys, (first + np.uint64(1)) << _SHIFT),
            )
        starts = self._starts
        if starts is None:
            counts = np.bincount((self.keys >> _SHIFT).astype(np.int64))
            starts = self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        last = len(starts) - 1
        return (
            starts[np.minimum(heads, last)].astype(np.int64),
            starts[np.minimum(heads + 1, last)].astype(np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Immutable sorted runs of `head << 32 | tail` with a weight each; adding makes new Runs."""

    parts: tuple[Run, ...] = ()

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(run.nbytes for run in self.parts)

    @property
    def keys(self) -> Keys:
        """All keys, in no order."""
        if len(self.parts) == 1:
            return self.parts[0].keys
        return np.concatenate([run.keys for run in self.parts]) if self.parts else np.empty(0, np.uint64)

    def add(self, head: Places, tail: Places, weight: Weights) -> Runs:
        """With these postings too."""
        if len(head) == 0:
            return self
        return self.with_run(sorted_run(join(head, tail), weight.astype(np.float32, copy=False)))

    def with_run(self, run: Run) -> Runs:
        """With the postings of a run too."""
        if run.size == 0:
            return self
        parts = [*self.parts, run]
        while len(parts) > 1 and parts[-2].size < _RATIO * parts[-1].size:
            parts[-2:] = [_merged(*parts[-2:])]
        return Runs(tuple(parts))

    def of(self, head: int) -> tuple[Places, Weights]:
        """Tails and weights of one head, which may be any 32-bit number."""
        return self.of_each([head])[0]

    def of_each(self, heads: Sequence[int]) -> list[tuple[Places, Weights]]:
        """Tails and weights of each of some heads, which may be any 32-bit numbers."""
        first = np.array(heads, np.uint64) << _SHIFT
        found: list[list[tuple[Places, Weights]]] = [[] for _ in heads]
        for run in self.parts:
            keys, weights = run.keys, run.weights
            starts = np.searchsorted(keys, first).tolist()
            ends = np.searchsorted(keys, first | _LOW, side="right").tolist()
            for held, start, end in zip(found, starts, ends, strict=True):
                if end > start:
                    tails = keys[start:end] & _LOW
                    held.append((tails.view(np.int64), weights[start:end]))
        return [_joined(held) for held in found]

    def counts(self, heads: Places) -> Places:
        """How many postings each head has; heads are numbers of rows or entities."""
        total = np.zeros(len(heads), np.int64)
        for run in self.parts:
            start, end = run.bounds(heads)
            total += end - start
        return total

    def of_all(self, heads: Places) -> Found:
        """The postings of several heads, which are numbers of rows, entities, words or trigrams."""
        found = [(head, tail, run.weights.take(places)) for run, head, tail, places in self._gathered(heads)]
        if len(found) == 1:
            return Found(*found[0])
        if not found:
            return Found(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        head, tail, weight = (np.concatenate(column) for column in zip(*found, strict=True))
        return Found(head, tail, weight)

    def slices(self, heads: Places) -> tuple[Places, Places, Places]:
        """The tails of several heads, copied in whole slices: (position of the head, tails in the slice), tails."""
        positions, counts, keys = [], [], []
        for run in self.parts:
            held = run.keys
            start, end = run.bounds(heads)
            positions.append(np.arange(len(heads)))
            counts.append(end - start)
            keys += [held[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True)]
        if not keys:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
        tails = np.concatenate(keys)
        tails &= _LOW
        return np.concatenate(positions), np.concatenate(counts), tails.view(np.int64)

    def tails(self, heads: Places) -> tuple[Places, Places]:
        """The postings of several heads without weights: the position of the head, and the tail."""
        found = [(head, tail) for _, head, tail, _ in self._gathered(heads)]
        if len(found) == 1:
            return found[0]
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate([head for head, _ in found]), np.concatenate([tail for _, tail in found])

    def _gathered(self, heads: Places) -> Iterator[tuple[Run, Places, Places, Places]]:
        """From each run that has any: positions of heads, tails, and where in the run they are."""
        for run in self.parts:
            start, end = run.bounds(heads)
            counts = end - start
            until = np.cumsum(counts)
            total = int(until[-1]) if len(until) else 0
            if total:
                head = np.repeat(np.arange(len(heads)), counts)
                places = np.arange(total)
                places += np.repeat(start - until + counts, counts)
                keys = run.keys.take(places)
                keys &= _LOW
                yield run, head, keys.view(np.int64), places


def _joined(found: Sequence[tuple[Places, Weights]]) -> tuple[Places, Weights]:
    """Postings of several runs."""
    if len(found) == 1:
        return found[0]
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    tails, weights = zip(*found, strict=True)
    return np.concatenate(tails), np.concatenate(weights)


def join(head: Places, tail: Places) -> Keys:
    """Keys of heads and tails."""
    return (head.astype(np.uint64) << _SHIFT) | tail.astype(np.uint64)


def split(keys: Keys) -> tuple[Places, Places]:
    """Heads and tails of keys."""
    return (keys >> _SHIFT).astype(np.int64), (keys & _LOW).astype(np.int64)


def term_run(terms: NDArray[Any], counts: NDArray[Any], first: int) -> Run:
    """A run of the terms (codec.TERM) of rows from `first` on, of which each has so many."""

    def make() -> Postings:
        rows = np.repeat(np.arange(first, first + len(counts)), counts)
        return _sorted(join(terms["hash"], rows), terms["tf"].astype(np.float32), "quicksort")

    return Run(len(terms), make)


def sorted_run(keys: Keys, weights: Weights) -> Run:
    """A run of keys in any order."""
    return Run(len(keys), lambda: _sorted(keys, weights, "quicksort"))


def _merged(longer: Run, shorter: Run) -> Run:
    def merge() -> Postings:
        # "stable" is the way of sorting that merges two sorted runs in one pass.
        return _sorted(
            np.concatenate([longer.keys, shorter.keys]),
            np.concatenate([longer.weights, shorter.weights]),
            "stable",
        )

    return Run(longer.size + shorter.size, merge)


def _sorted(keys: Keys, weights: Weights, kind: Literal["quicksort", "stable"]) -> Postings:
    order = np.argsort(keys, kind=kind)
    return keys.take(order), weights.take(order)
