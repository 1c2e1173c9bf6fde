"""Postings: which rows belong to a term, an entity or a word, and which facts a fact is linked with.

As in bm25s (Lù, 2024, https://arxiv.org/abs/2407.03618) they are plain arrays: the items of the key keys[k]
are items[offsets[k] : offsets[k + 1]], their weights stand at the same positions of `weights`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.stores.index.arrays import Hashes, Mask, Positions, run_starts, spans

TAIL = 8192
"""Postings kept apart from the base: the base is only sorted when this tail is full."""


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    keys: Hashes
    """Distinct, rising; shape (keys,)."""
    offsets: Positions
    """Shape (keys + 1,)."""
    items: NDArray[np.int32]
    """Shape (postings,)."""
    weights: NDArray[np.float32]
    """Shape (postings,)."""

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.offsets.nbytes + self.items.nbytes + self.weights.nbytes

    def repeated_keys(self) -> Hashes:
        """Return the key of each posting; shape (postings,)."""
        return np.repeat(self.keys, np.diff(self.offsets))

    def bounds(self, keys: Hashes) -> tuple[Positions, Positions]:
        """Return where the postings of each key start, and how many there are."""
        if len(self.keys) == 0:
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        start = self.offsets.take(at)
        return start, np.where(self.keys.take(at) == keys, self.offsets.take(at + 1) - start, 0)


def _block(keys: Hashes, items: NDArray[np.int32], weights: NDArray[np.float32]) -> _Block:
    """Sort postings by key; those of a key stay in their order."""
    order = np.argsort(keys, kind="stable")
    keys = keys.take(order)
    starts = run_starts(keys)
    return _Block(keys.take(starts), np.append(starts, len(keys)), items.take(order), weights.take(order))


_NOTHING = _block(np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Immutable: adding makes new postings, which share the base."""

    base: _Block = _NOTHING
    tail: _Block = _NOTHING

    @property
    def nbytes(self) -> int:
        """Return memory in use."""
        return self.base.nbytes + self.tail.nbytes

    def add(self, keys: Hashes, items: Positions, weights: NDArray[np.float32] | None = None) -> Postings:
        """Return these and further postings; without weights they weigh 1."""
        if len(keys) == 0:
            return self
        added = (
            keys,
            items.astype(np.int32),
            np.ones(len(keys), np.float32) if weights is None else weights.astype(np.float32, copy=False),
        )
        if len(self.tail.items) + len(keys) <= TAIL:
            return Postings(self.base, _merged([self.tail], added))
        return Postings(_merged([self.base, self.tail], added))

    def of(self, key: int) -> tuple[Positions, NDArray[np.float32]]:
        """Return items and weights of a key."""
        (start,), (count,) = self.base.bounds(np.array([key], np.uint64))
        (later,), (more,) = self.tail.bounds(np.array([key], np.uint64))
        items, weights = self.base.items[start : start + count], self.base.weights[start : start + count]
        if more:
            items = np.concatenate([items, self.tail.items[later : later + more]])
            weights = np.concatenate([weights, self.tail.weights[later : later + more]])
        return items.astype(np.int64), weights

    def of_all(self, keys: Hashes) -> tuple[Positions, Positions, NDArray[np.float32]]:
        """Return the postings of several keys: position of the key among `keys`, item and weight of each."""
        parts = []
        for block in (self.base, self.tail):
            start, count = block.bounds(keys)
            at = spans(start, count)
            parts.append(
                (np.repeat(np.arange(len(keys)), count), block.items.take(at), block.weights.take(at))
            )
        position, items, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        return position, items.astype(np.int64), weights

    def counts(self, keys: Hashes) -> Positions:
        """Return how many postings each key has."""
        return self.base.bounds(keys)[1] + self.tail.bounds(keys)[1]

    def entries(self) -> tuple[Hashes, Positions, Positions]:
        """Return all distinct keys, rising; and the position of its key and the item of each posting."""
        keys = np.union1d(self.base.keys, self.tail.keys)
        blocks = (self.base, self.tail)
        positions = [np.repeat(np.searchsorted(keys, one.keys), np.diff(one.offsets)) for one in blocks]
        items = np.concatenate([one.items for one in blocks]).astype(np.int64)
        return keys, np.concatenate(positions), items

    def where(self, kept: Callable[[Hashes, Positions], Mask]) -> Postings:
        """Return only those postings for whose key and item `kept` is true."""
        blocks = []
        for block in (self.base, self.tail):
            keys = block.repeated_keys()
            some = kept(keys, block.items.astype(np.int64))
            blocks.append(_block(keys[some], block.items[some], block.weights[some]))
        return Postings(*blocks)


def _merged(blocks: Sequence[_Block], added: tuple[Hashes, NDArray[np.int32], NDArray[np.float32]]) -> _Block:
    keys = np.concatenate([*(block.repeated_keys() for block in blocks), added[0]])
    items = np.concatenate([*(block.items for block in blocks), added[1]])
    return _block(keys, items, np.concatenate([*(block.weights for block in blocks), added[2]]))
