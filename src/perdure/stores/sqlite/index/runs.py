"""Postings: which rows belong to a term, an entity or another row, in sorted runs of 64-bit keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Weights = NDArray[np.float32]
Places = NDArray[np.int64]

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_RATIO = 8
"""A run is merged into the one before unless that is this many times longer; so runs stay few."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Postings of several heads: `head` is the position of the head that was asked for."""

    head: Places
    tail: Places
    weight: Weights


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Immutable sorted runs of `head << 32 | tail` with a weight each; adding makes new Runs."""

    parts: tuple[tuple[Keys, Weights], ...] = ()

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(keys.nbytes + weights.nbytes for keys, weights in self.parts)

    @property
    def keys(self) -> Keys:
        """All keys, in no order."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        return np.concatenate([keys for keys, _ in self.parts]) if self.parts else np.empty(0, np.uint64)

    def add(self, head: Places, tail: Places, weight: Weights) -> Runs:
        """With these postings too."""
        if len(head) == 0:
            return self
        parts = [*self.parts, _sorted(join(head, tail), weight.astype(np.float32), "quicksort")]
        while len(parts) > 1 and len(parts[-2][0]) < _RATIO * len(parts[-1][0]):
            (keys, weights), (more_keys, more_weights) = parts[-2:]
            merged = _sorted(
                np.concatenate([keys, more_keys]), np.concatenate([weights, more_weights]), "stable"
            )
            parts[-2:] = [merged]
        return Runs(tuple(parts))

    def of(self, head: int) -> tuple[Places, Weights]:
        """Tails and weights of one head."""
        first, last = np.uint64(head) << _SHIFT, np.uint64(head + 1) << _SHIFT
        tails, weights = [], []
        for keys, values in self.parts:
            start, end = np.searchsorted(keys, [first, last]) if head < 0xFFFFFFFF else (
                np.searchsorted(keys, first), len(keys)
            )  # fmt: skip
            if end > start:
                tails.append((keys[start:end] & _LOW).astype(np.int64))
                weights.append(values[start:end])
        if len(tails) == 1:
            return tails[0], weights[0]
        if not tails:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        return np.concatenate(tails), np.concatenate(weights)

    def counts(self, heads: Places) -> Places:
        """How many postings each head has."""
        first = heads.astype(np.uint64) << _SHIFT
        last = (heads.astype(np.uint64) + np.uint64(1)) << _SHIFT
        total = np.zeros(len(heads), np.int64)
        for keys, _ in self.parts:
            total += np.searchsorted(keys, last) - np.searchsorted(keys, first)
        return total

    def of_all(self, heads: Places) -> Found:
        """The postings of several heads."""
        first = heads.astype(np.uint64) << _SHIFT
        last = (heads.astype(np.uint64) + np.uint64(1)) << _SHIFT
        found = []
        for keys, values in self.parts:
            start, end = np.searchsorted(keys, first), np.searchsorted(keys, last)
            counts = end - start
            total = int(counts.sum())
            if total:
                head = np.repeat(np.arange(len(heads)), counts)
                before = np.cumsum(counts) - counts
                places = np.arange(total) + np.repeat(start - before, counts)
                found.append((head, (keys[places] & _LOW).astype(np.int64), values[places]))
        if len(found) == 1:
            return Found(*found[0])
        if not found:
            return Found(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        head, tail, weight = (np.concatenate(column) for column in zip(*found, strict=True))
        return Found(head, tail, weight)


def join(head: Places, tail: Places) -> Keys:
    """Keys of heads and tails."""
    return (head.astype(np.uint64) << _SHIFT) | tail.astype(np.uint64)


def split(keys: Keys) -> tuple[Places, Places]:
    """Heads and tails of keys."""
    return (keys >> _SHIFT).astype(np.int64), (keys & _LOW).astype(np.int64)


def _sorted(keys: Keys, weights: Weights, kind: Literal["quicksort", "stable"]) -> tuple[Keys, Weights]:
    """Sorted by key; "stable" is the one that merges two sorted runs in one pass."""
    order = np.argsort(keys, kind=kind)
    return keys[order], weights[order]
