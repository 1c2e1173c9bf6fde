"""The semantic channel: exact while small; in large views sign bits choose what int8 codes compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit
from perdure.errors import StoreCorrupt
from perdure.ports.embedder import Matrix, Vector
from perdure.ports.probe import SemanticProbe
from perdure.stores.index.arrays import (
    AppendOnlyArray,
    Hashes,
    Mask,
    Positions,
    Rows,
    Scores,
    kth_highest,
    mask_of,
    rows_of,
)
from perdure.stores.index.feed import Feed
from perdure.stores.index.rank import best, hits
from perdure.stores.index.table import FactTable

EXACT_UP_TO = 20_000
"""Views of at most this many vectors are searched exactly."""
RESCORED_FEWEST, RESCORED_EACH = 750, 45
RESCORED = 3_000
RESCORED_LARGE = 6_000
LARGE = 200_000
_BLOCK = 512
"""Vectors whose sign bits are made at once: what fits the cache."""
_SAMPLE = 8192
"""Evenly drawn vectors that give the mean."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactView:
    """Float32 vectors of a small view."""

    rows: Rows
    matrix: Matrix
    """Shape (vectors, dimensions)."""

    @property
    def dimensions(self) -> int:
        """Return length of the vectors."""
        return int(self.matrix.shape[1])

    def likeness(self, query: Vector) -> None:
        """Return none, since all cosines can be computed."""

    def cosines(self, query: Vector, positions: Positions) -> Scores:
        """Return cosines of the vectors at some positions, to six digits.

        `vecdot` and not `@`: it works row by row in this thread, so that equal vectors tie wherever they lie,
        and does not wake the threads of the BLAS, which hinder each other when recalls run side by side.
        """
        if len(positions) == 0:
            return np.empty(0)
        if 4 * len(positions) > len(self.rows):
            # To gather most of them would take longer than to multiply all.
            products = np.vecdot(self.matrix, query).take(positions)
        else:
            products = np.vecdot(self.matrix.take(positions, axis=0), query)
        return _rounded(products)


@dataclass(frozen=True, slots=True, eq=False)
class CodedView:
    """Int8 codes of many vectors, and the signs of their values around the mean."""

    rows: Rows
    codes: NDArray[np.int8]
    """Shape (vectors, dimensions)."""
    scales: NDArray[np.float32]
    """What a vector's codes are multiplied by; shape (vectors,)."""
    bits: Hashes
    """Bit 1 where a value is above the mean's; shape (words of 64 dimensions, vectors)."""
    mean: Vector
    radius: NDArray[np.float32]
    """Distance of each vector from the mean; shape (vectors,)."""

    @property
    def dimensions(self) -> int:
        """Return length of the vectors."""
        return int(self.codes.shape[1])

    def cosines(self, query: Vector, positions: Positions) -> Scores:
        """Return as in `ExactView`, of the coded vectors."""
        vectors = self.codes.take(positions, axis=0).astype(np.float32)
        return _rounded(np.vecdot(vectors, query) * self.scales.take(positions))

    def likeness(self, query: Vector) -> NDArray[np.float32]:
        """Return an estimate per vector that grows with its cosine, less a constant, over |q'|.

        With mean m, x = m + x', q = m + q' and |x| = 1: q.x = q'.x' - |x'|^2 / 2 + a constant, and q'.x' is about
        |q'| |x'| cos(pi h / d) where h of d signs differ (the angle between two vectors is pi times the share of random
        hyperplanes that part them: Charikar 2002). Signs alone find far fewer of the nearest vectors of models whose
        vectors crowd around their mean, as most do.
        """
        away = query - self.mean
        # How many signs differ, counted a word at a time: shape (vectors,).
        differing = np.zeros(len(self.rows), np.uint16)
        for line, word in zip(self.bits, sign_bits(away[None, :])[:, 0], strict=True):
            differing += np.bitwise_count(line ^ word)
        # The cosine of each possible number of differing signs, looked up per vector.
        cosines = np.cos(np.pi / len(query) * np.arange(len(query) + 1)).astype(np.float32)
        half = np.float32(0.5 / max(float(np.linalg.norm(away)), 1e-12))
        likeness: NDArray[np.float32] = self.radius * (cosines.take(differing) - half * self.radius)
        return likeness


VectorView = ExactView | CodedView
"""The vectors of one view at one state; the vector at position p belongs to row rows[p]."""


def search_semantic(
    table: FactTable, probe: SemanticProbe, view: VectorView, mask: Mask, limit: int
) -> list[Hit]:
    """Rank by the cosine with the vectors of a view."""
    rows, cosines = nearest(view, probe.vector.astype(np.float32), mask, limit)
    return hits(table, best(table, rows, cosines, limit, min_score=probe.min_score))


def nearest(view: VectorView, query: Vector, mask: Mask, limit: int) -> tuple[Rows, Scores]:
    """Return rows and cosines of the admitted vectors, in a large view of the likeliest."""
    positions = np.flatnonzero(mask_of(view.rows, mask))
    count = rescored(len(view.rows), limit)
    if len(positions) > 2 * count and (likeness := view.likeness(query)) is not None:
        positions = positions.take(likeliest(likeness.take(positions), count))
    return view.rows.take(positions), view.cosines(query, positions)


def rescored(size: int, limit: int) -> int:
    """Return how many of the likeliest of `size` vectors to compare for the nearest `limit`.

    Few for few: of 18,000 vectors of real sentences, 975 hold all of the nearest 5, 1,200 .999 of the nearest 10.
    """
    most = RESCORED_LARGE if size > LARGE else RESCORED
    return max(min(most, RESCORED_FEWEST + RESCORED_EACH * limit), 4 * limit)


def likeliest(likeness: NDArray[np.float32], count: int) -> Positions:
    """Return positions of the `count` highest values, and of those that tie with the last of them."""
    if len(likeness) <= count:
        return np.arange(len(likeness))
    return np.flatnonzero(likeness >= kth_highest(likeness, count))


def sign_bits(matrix: Matrix) -> Hashes:
    """Return signs as bits: from (vectors, dimensions) to (words of 64 dimensions, vectors)."""
    packed = np.packbits(matrix > 0, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def int8_codes(matrix: Matrix) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return (scales, codes) of symmetric quantisation to -127..127, one scale per vector."""
    scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / np.float32(127)
    return scales, np.rint(matrix / scales[:, None]).astype(np.int8)


def _rounded(products: NDArray[np.float32]) -> Scores:
    cosines: Scores = products.astype(np.float64).round(6)
    return cosines


class ViewBuilder:
    """Grows a view and hands out its states, with codes instead of vectors above EXACT_UP_TO."""

    def __init__(self, name: str) -> None:
        self.key = f"view {name}"
        self._name = name
        self._expected = self._dimensions = 0
        self._rows = AppendOnlyArray(np.empty(0, np.int64))
        self._exact: AppendOnlyArray | None = None
        self._coded: _CodedArrays | None = None

    @property
    def nbytes(self) -> int:
        """Return memory in use."""
        parts = (self._rows, self._exact, self._coded)
        return sum(part.nbytes for part in parts if part is not None)

    def read(self, feed: Feed, row_of: Rows, numbers: Sequence[int] | None = None) -> None:
        """Add the vectors of all facts, or of those of some numbers; `row_of` tells the row per number."""
        if numbers is None:
            self._expected = feed.vector_count(self._name)
        for some, matrix in feed.vectors(self._name, numbers):
            rows = rows_of(row_of, some)
            there = np.flatnonzero(rows >= 0)
            self.append(rows.take(there), matrix if len(there) == len(rows) else matrix.take(there, axis=0))

    def append(self, rows: Rows, matrix: Matrix) -> None:
        """Add vectors."""
        if len(rows) == 0:
            return
        if self._dimensions not in (0, matrix.shape[1]):
            raise StoreCorrupt(f"vectors of the {self.key} have different dimensions")
        self._dimensions = matrix.shape[1]
        self._rows.append(rows)
        size = len(self._rows.view)
        if self._coded is None and max(size, self._expected) > EXACT_UP_TO:
            self._coded = _CodedArrays(matrix.shape[1], max(size, self._expected))
            if self._exact is not None:
                self._coded.append(self._exact.view)
                self._exact = None
        if self._coded is not None:
            self._coded.append(matrix)
            return
        if self._exact is None:
            self._exact = AppendOnlyArray(np.empty((0, matrix.shape[1]), np.float32))
            self._exact.reserve(self._expected)
        self._exact.append(matrix)

    def state(self) -> VectorView:
        """Return the present state."""
        if self._coded is not None:
            return self._coded.view(self._rows.view)
        matrix = np.empty((0, 0), np.float32) if self._exact is None else self._exact.view
        return ExactView(self._rows.view, matrix)


class _CodedArrays:
    """The arrays of a `CodedView`. The mean stays that of its first vectors."""

    def __init__(self, dimensions: int, expected: int) -> None:
        self._scales = AppendOnlyArray(np.empty(0, np.float32))
        self._codes = AppendOnlyArray(np.empty((0, dimensions), np.int8))
        self._codes.reserve(expected)
        self._bits = AppendOnlyArray(np.empty((-(-dimensions // 64), 0), np.uint64), last_axis=True)
        self._radius = AppendOnlyArray(np.empty(0, np.float32))
        self._mean: Vector | None = None

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (self._scales, self._codes, self._bits, self._radius))

    def append(self, matrix: Matrix) -> None:
        scales, codes = int8_codes(matrix)
        self._scales.append(scales)
        self._codes.append(codes)

    def view(self, rows: Rows) -> CodedView:
        codes, scales = self._codes.view, self._scales.view
        if self._mean is None:
            step = max(1, len(codes) // _SAMPLE)
            sample = codes[::step].astype(np.float32) * scales[::step, None]
            self._mean = sample.mean(axis=0)
        self._add_signs(codes, scales, self._mean)
        return CodedView(rows, codes, scales, self._bits.view, self._mean, self._radius.view)

    def _add_signs(self, codes: NDArray[np.int8], scales: NDArray[np.float32], mean: Vector) -> None:
        """Compute bits and radius of the vectors that have none yet, a block at a time."""
        start = len(self._radius.view)
        self._bits.reserve(len(codes))
        self._radius.reserve(len(codes))
        for first in range(start, len(codes), _BLOCK):
            block = slice(first, first + _BLOCK)
            around = codes[block].astype(np.float32) * scales[block, None] - mean
            self._bits.append(sign_bits(around))
            self._radius.append(np.sqrt(np.vecdot(around, around)))
