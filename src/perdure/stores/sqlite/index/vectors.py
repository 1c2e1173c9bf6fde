"""Vector views: exact while small, sign bits rescored from int8 codes when large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.ports.embedder import Matrix, Vector
from perdure.stores.sqlite.index.growing import Growing, GrowingRows

EXACT_UP_TO = 20_000
"""Views of at most this many vectors are searched exactly."""
RESCORED = 4_000
RESCORED_LARGE = 8_000
LARGE = 200_000

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class VectorView:
    """The vectors of one view; position p belongs to row rows[p]."""

    rows: Rows
    exact: Matrix | None = None
    codes: NDArray[np.int8] | None = None
    scales: NDArray[np.float32] | None = None
    bits: NDArray[np.uint64] | None = None
    """One line a word of 64 dimensions, one column a vector."""
    mean: Vector | None = None

    def search(self, query: Vector, mask: Mask, pool: int) -> tuple[Rows, Scores]:
        """Rows and cosines: all admitted ones when exact, else at least the `pool` likeliest of them."""
        places = np.flatnonzero(mask[self.rows])
        if self.codes is not None:
            wanted = max(RESCORED_LARGE if len(self.rows) > LARGE else RESCORED, pool)
            if len(places) > 2 * wanted:
                places = self._likeliest(query, places, wanted)
        return self.rows[places], self.cosines(query, places)

    def cosines(self, query: Vector, places: Rows) -> Scores:
        """Cosine of the vectors at some places.

        `vecdot` and not `@`: it works row by row in this thread, so that equal vectors tie wherever they lie,
        and does not wake the threads of the BLAS, which hinder each other when recalls run side by side.
        """
        if len(places) == 0:
            return np.empty(0)
        if self.exact is not None:
            if len(places) == len(self.rows):
                products = np.vecdot(self.exact, query)
            else:
                products = np.vecdot(self.exact[places], query)
        else:
            assert self.codes is not None
            assert self.scales is not None
            products = np.vecdot(self.codes[places].astype(np.float32), query) * self.scales[places]
        cosines: Scores = products.astype(np.float64).round(6)
        return cosines

    def distances(self, query: Vector) -> NDArray[np.uint16]:
        """How many sign bits differ, for every vector of a large view."""
        assert self.bits is not None
        assert self.mean is not None
        wanted = sign_bits((query - self.mean)[None, :])[:, 0]
        distance = np.zeros(self.bits.shape[1], np.uint16)
        for line, word in zip(self.bits, wanted, strict=True):
            distance += np.bitwise_count(line ^ word)
        return distance

    def _likeliest(self, query: Vector, places: Rows, wanted: int) -> Rows:
        return nearest(self.distances(query)[places], places, wanted)


def nearest(distance: NDArray[np.uint16], places: Rows, wanted: int) -> Rows:
    """The places of least distance, at least `wanted`: those that tie with the last are taken too."""
    reached = np.cumsum(np.bincount(distance))
    border = int(np.searchsorted(reached, wanted))
    return places[distance <= border]


def sign_bits(matrix: Matrix) -> NDArray[np.uint64]:
    """Signs of the values as bits, one line a word, one column a vector."""
    packed = np.packbits(matrix > 0, axis=1)
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(np.ascontiguousarray(packed).view(np.uint64).T)


class ExactBuilder:
    """Float32 vectors of a small view."""

    def __init__(self, dimensions: int, expected: int) -> None:
        self._rows = Growing(np.empty(0, np.int64))
        self._matrix = GrowingRows(np.empty((_roomy(expected), dimensions), np.float32), 0)

    @property
    def size(self) -> int:
        """How many vectors it holds."""
        return len(self._rows.view)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._rows.nbytes + self._matrix.nbytes

    def append(self, rows: Rows, matrix: Matrix) -> None:
        """Add vectors."""
        self._rows.append(rows)
        self._matrix.append(matrix)

    def view(self) -> VectorView:
        """The present state."""
        return VectorView(rows=self._rows.view, exact=self._matrix.view)


class CodedBuilder:
    """Sign bits and int8 codes of a large view; the mean that centres the bits stays as it was at the start."""

    def __init__(self, mean: Vector, expected: int) -> None:
        self._mean = mean
        self._rows = Growing(np.empty(0, np.int64))
        self._scales = Growing(np.empty(0, np.float32))
        self._codes = GrowingRows(np.empty((_roomy(expected), len(mean)), np.int8), 0)
        self._bits = Growing(np.empty((-(-len(mean) // 64), 0), np.uint64))

    @property
    def size(self) -> int:
        """How many vectors it holds."""
        return len(self._rows.view)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._rows.nbytes + self._scales.nbytes + self._codes.nbytes + self._bits.nbytes

    def append(self, rows: Rows, scales: NDArray[np.float32], codes: NDArray[np.int8]) -> None:
        """Add vectors."""
        self._rows.append(rows)
        self._scales.append(scales)
        self._codes.append(codes)
        self._bits.append(sign_bits(codes * scales[:, None] - self._mean))

    def view(self) -> VectorView:
        """The present state."""
        return VectorView(
            rows=self._rows.view,
            codes=self._codes.view,
            scales=self._scales.view,
            bits=self._bits.view,
            mean=self._mean,
        )


def _roomy(expected: int) -> int:
    return expected + max(64, expected // 8)
