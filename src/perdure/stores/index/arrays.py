"""Arrays that grow while readers keep looking at what they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Positions = NDArray[np.int64]
"""Positions in some array."""
Rows = NDArray[np.int64]
"""Rows of an index."""
Mask = NDArray[np.bool_]
"""One value per row."""
Scores = NDArray[np.float64]
Hashes = NDArray[np.uint64]


class AppendOnlyArray:
    """An array with spare room at the end of its first or last axis.

    Appending writes only behind what earlier views cover, and `assign` works on a copy: a view never changes
    after it was handed out, so that other threads may read it while the array grows.
    """

    __slots__ = ("_data", "_last_axis", "_size")

    def __init__(self, data: Array, *, last_axis: bool = False) -> None:
        self._data = data
        self._last_axis = last_axis
        self._size = data.shape[-1 if last_axis else 0]

    @property
    def view(self) -> Array:
        """Return the present values."""
        return self._part(0, self._size)

    @property
    def nbytes(self) -> int:
        """Return memory in use, spare room included."""
        return self._data.nbytes

    def append(self, values: Array) -> None:
        """Add values at the end."""
        added = values.shape[-1 if self._last_axis else 0]
        self.reserve(self._size + added)
        self._part(self._size, self._size + added)[...] = values
        self._size += added

    def reserve(self, size: int) -> None:
        """Make room for `size` values in all, and some more."""
        shape, axis = list(self._data.shape), -1 if self._last_axis else 0
        if size > shape[axis]:
            shape[axis] = size + max(64, size // 8)
            old = self.view
            self._data = np.empty(shape, self._data.dtype)
            self._part(0, self._size)[...] = old

    def assign(self, positions: Positions, values: Any) -> None:
        """Overwrite some values."""
        self._data = self._data.copy()
        self._data[(..., positions) if self._last_axis else positions] = values

    def _part(self, start: int, end: int) -> Array:
        part: Array = self._data[..., start:end] if self._last_axis else self._data[start:end]
        return part


def spans(starts: Positions, counts: Positions) -> Positions:
    """Return start, start + 1, ... of each span, one span after the other; shape (sum of counts,)."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)


def run_starts(ordered: Array) -> Positions:
    """Return where runs of equal values start."""
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.flatnonzero(first)


def mask_of(rows: Rows, mask: Mask) -> Mask:
    """Return the mask's values for rows; False for rows that are not in the mask yet."""
    if rows.max(initial=-1) >= len(mask):
        mask = np.append(mask, np.zeros(int(rows.max()) + 1 - len(mask), np.bool_))
    return mask.take(rows)


def rows_of(row_of: Rows, numbers: Positions) -> Rows:
    """Return rows by fact number, -1 for numbers that `row_of` does not have."""
    return np.where(numbers < len(row_of), row_of.take(numbers, mode="clip"), -1)


def kth_highest(values: Array, k: int) -> float:
    """Return the k-th highest of at least k values.

    Few of many are partitioned: none below the k-th highest of the maxima of groups, as at least k values reach that.
    """
    groups = len(values) // 16
    if groups > 2 * k:
        maxima = values[: 16 * groups].reshape(16, groups).max(axis=0)
        values = values[values >= np.partition(maxima, groups - k)[groups - k]]
    highest: float = np.partition(values, len(values) - k)[len(values) - k].item()
    return highest
