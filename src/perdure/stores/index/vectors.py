"""Vector views: exact while small, sign bits rescored from int8 codes when large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.ports.embedder import Matrix, Vector
from perdure.stores.index.growing import Growing, GrowingRows

EXACT_UP_TO = 20_000
"""Views of at most this many vectors are searched exactly."""
RESCORED_FEWEST, RESCORED_EACH = 750, 45
RESCORED = 3_000
RESCORED_LARGE = 6_000
LARGE = 200_000
_SCANNED = 16_384
"""Vectors whose bits are compared at once, and (below) whose codes are multiplied at once: what fits the cache."""
_MULTIPLIED = 256
_SIGNED = 512
_DRAWN = 16
"""One of so many is drawn to guess where the likeliest begin."""
_SAMPLE = 8192
"""So many evenly drawn vectors give the mean."""

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
    radius: NDArray[np.float32] | None = None
    """Distances of the vectors from the mean."""
    aligned: bool = False
    """Whether rows[p] is p."""

    def search(self, query: Vector, mask: Mask, limit: int) -> tuple[Rows, Scores]:
        """Rows and cosines: all admitted ones when exact, else so many of the likeliest as `limit` asks for."""
        admitted = mask[: len(self.rows)] if self.aligned else mask[self.rows]
        places: Rows | None = None
        if self.codes is not None:
            wanted = rescored(len(self.rows), limit)
            count = np.count_nonzero(admitted)
            if count > 2 * wanted:
                likeness = self.likeness(query)
                if count < len(admitted):
                    likeness[~admitted] = -np.inf
                places = likeliest(likeness, wanted)
        if places is None:
            places = np.flatnonzero(admitted)
        return places if self.aligned else self.rows[places], self.cosines(query, places)

    def places(self, rows: Rows, size: int) -> Rows:
        """Where the vectors of rows are, -1 for rows without one; `size` is the number of all rows."""
        if self.aligned:
            return np.where(rows < len(self.rows), rows, -1)
        place_of = np.full(size, -1, np.int64)
        place_of[self.rows] = np.arange(len(self.rows))
        return place_of[rows]

    def cosines(self, query: Vector, places: Rows) -> Scores:
        """Cosine of the vectors at some places.

        `vecdot` and not `@`: it works row by row in this thread, so that equal vectors tie wherever they lie,
        and does not wake the threads of the BLAS, which hinder each other when recalls run side by side.
        """
        if len(places) == 0:
            return np.empty(0)
        if self.exact is not None and len(places) == len(self.rows):
            products = np.vecdot(self.exact, query)
        else:
            products = self._products(query, places)
        if self.scales is not None:
            products *= self.scales.take(places)
        cosines: Scores = products.astype(np.float64).round(6)
        return cosines

    def _products(self, query: Vector, places: Rows) -> Vector:
        """A few rows at a time, in the same memory: to gather all of them first costs more than to multiply them."""
        held = self.exact if self.codes is None else self.codes
        assert held is not None
        gathered = np.empty((min(_MULTIPLIED, len(places)), held.shape[1]), held.dtype)
        values = gathered if self.codes is None else np.empty(gathered.shape, np.float32)
        products = np.empty(len(places), np.float32)
        for start in range(0, len(places), _MULTIPLIED):
            some = places[start : start + _MULTIPLIED]
            np.take(held, some, axis=0, out=gathered[: len(some)], mode="clip")
            if values is not gathered:
                values[: len(some)] = gathered[: len(some)]
            np.vecdot(values[: len(some)], query, out=products[start : start + len(some)])
        return products

    def likeness(self, query: Vector) -> NDArray[np.float32]:
        """A number for each vector of a large view that grows with its cosine: an estimate less a constant, by |q'|.

        With mean m, x = m + x', q = m + q' and |x| = 1: q.x = q'.x' - |x'|^2 / 2 + a constant, and q'.x' is
        |q'| |x'| cos(pi h / d) where h of d sign bits differ. Bits alone find far fewer of the nearest vectors
        of models whose vectors crowd around their mean, as most do.
        """
        assert self.bits is not None
        assert self.mean is not None
        assert self.radius is not None
        away = query - self.mean
        wanted = sign_bits(away[None, :])[:, 0].tolist()
        angle = np.float32(np.pi / len(query))
        share = np.float32(0.5 / max(float(np.linalg.norm(away)), 1e-12))
        likeness = np.empty(self.bits.shape[1], np.float32)
        room = min(_SCANNED, len(likeness))
        words, ones, counted = np.empty(room, np.uint64), np.empty(room, np.uint8), np.empty(room, np.uint8)
        half = np.empty(room, np.float32)
        for start in range(0, len(likeness), _SCANNED):
            estimate = likeness[start : start + _SCANNED]
            size = len(estimate)
            differ, some, few = words[:size], counted[:size], ones[:size]
            for line, word in enumerate(wanted):
                np.bitwise_xor(self.bits[line, start : start + size], np.uint64(word), out=differ)
                np.bitwise_count(differ, out=few if line % 3 else some)
                if line % 3:
                    np.add(some, few, out=some)
                if line % 3 == 2 or line == len(wanted) - 1:
                    # Three words differ in at most 192 bits, so that bytes can count them.
                    if line < 3:
                        estimate[:] = some
                    else:
                        estimate += some
            estimate *= angle
            np.cos(estimate, out=estimate)
            radius = self.radius[start : start + size]
            estimate -= np.multiply(radius, share, out=half[:size])
            estimate *= radius
        return likeness


def rescored(size: int, limit: int) -> int:
    """How many of the likeliest of `size` vectors are rescored to find the nearest `limit`.

    Few for few: of 18,000 vectors of real sentences, 975 hold all of the nearest 5, 1,200 .999 of the nearest 10.
    """
    most = RESCORED_LARGE if size > LARGE else RESCORED
    return max(min(most, RESCORED_FEWEST + RESCORED_EACH * limit), 4 * limit)


def likeliest(likeness: NDArray[np.float32], wanted: int) -> Rows:
    """Places of the `wanted` highest values; those that tie with the last are taken too."""
    if len(likeness) <= wanted:
        return np.arange(len(likeness))
    places = _likely(likeness, wanted)
    held = likeness if places is None else likeness.take(places)
    last = len(held) - wanted
    highest = np.flatnonzero(held >= np.partition(held, last)[last])
    return highest if places is None else places[highest]


def _likely(likeness: NDArray[np.float32], wanted: int) -> Rows | None:
    """At least the `wanted` highest, above a border that a sample tells; None when it told one too high."""
    drawn = (wanted + wanted // 4) // _DRAWN + 8
    sample = likeness[::_DRAWN]
    if drawn >= len(sample):
        return None
    border = np.partition(sample, len(sample) - drawn)[len(sample) - drawn]
    places = np.flatnonzero(likeness >= border)
    return places if len(places) >= wanted else None


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
        self._aligned = True
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
        self._aligned = self._aligned and np.array_equal(rows, np.arange(self.size, self.size + len(rows)))
        self._rows.append(rows)
        self._matrix.append(matrix)

    def view(self) -> VectorView:
        """The present state."""
        return VectorView(rows=self._rows.view, exact=self._matrix.view, aligned=self._aligned)


class CodedBuilder:
    """Int8 codes of a large view, and sign bits of the values around their mean.

    The mean is that of the vectors that were there when a view was first asked for, and stays.
    """

    def __init__(self, dimensions: int, expected: int) -> None:
        self._mean: Vector | None = None
        self._rows = Growing(np.empty(0, np.int64))
        self._aligned = True
        self._scales = Growing(np.empty(0, np.float32))
        self._codes = GrowingRows(np.empty((_roomy(expected), dimensions), np.int8), 0)
        self._bits = Growing(np.empty((-(-dimensions // 64), 0), np.uint64))
        self._radius = Growing(np.empty(0, np.float32))

    @property
    def size(self) -> int:
        """How many vectors it holds."""
        return len(self._rows.view)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        parts = (self._rows, self._scales, self._codes, self._bits, self._radius)
        return sum(part.nbytes for part in parts)

    def append(self, rows: Rows, scales: NDArray[np.float32], codes: NDArray[np.int8]) -> None:
        """Add vectors."""
        self._aligned = self._aligned and np.array_equal(rows, np.arange(self.size, self.size + len(rows)))
        self._rows.append(rows)
        self._scales.append(scales)
        self._codes.append(codes)

    def _centred(self) -> Vector:
        if self._mean is None:
            step = max(1, self.size // _SAMPLE)
            codes, scales = self._codes.view[::step].astype(np.float32), self._scales.view[::step]
            self._mean = np.einsum("i,ij->j", scales, codes) / np.float32(len(scales))
        return self._mean

    def _sign(self) -> None:
        """Make the bits of vectors that have none yet."""
        start = self._bits.view.shape[1]
        if start == self.size:
            return
        self._bits.reserve(self.size)
        mean = self._centred()
        room = np.empty((min(_SIGNED, self.size - start), len(mean)), np.float32)
        for first in range(start, self.size, _SIGNED):
            last = min(first + _SIGNED, self.size)
            values = room[: last - first]
            values[:] = self._codes.view[first:last]
            values *= self._scales.view[first:last, None]
            values -= mean
            self._bits.append(sign_bits(values))
            self._radius.append(np.sqrt(np.vecdot(values, values)))

    def view(self) -> VectorView:
        """The present state."""
        self._sign()
        return VectorView(
            rows=self._rows.view,
            codes=self._codes.view,
            scales=self._scales.view,
            bits=self._bits.view,
            mean=self._centred(),
            radius=self._radius.view,
            aligned=self._aligned,
        )


def _roomy(expected: int) -> int:
    return expected + max(64, expected // 8)
