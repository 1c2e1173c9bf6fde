"""Arrays that grow in place while readers keep looking at what they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Growing:
    """An array with spare room along its last axis.

    Appending writes only behind what earlier views cover, and `assign` works on a copy, so that a view
    never changes after it was handed out.
    """

    __slots__ = ("_data", "_size")

    def __init__(self, data: Array) -> None:
        self._data = data
        self._size = data.shape[-1]

    @property
    def view(self) -> Array:
        """What the array holds now."""
        return self._data[..., : self._size]

    @property
    def nbytes(self) -> int:
        """Memory held, spare room included."""
        return self._data.nbytes

    def append(self, values: Array) -> None:
        """Add values at the end."""
        added = values.shape[-1]
        if added == 0:
            return
        needed = self._size + added
        self.reserve(needed)
        self._data[..., self._size : needed] = values
        self._size = needed

    def reserve(self, needed: int) -> None:
        """Make room for so many values in all, and some more."""
        if needed > self._data.shape[-1]:
            room = np.empty((*self._data.shape[:-1], needed + max(64, needed // 8)), self._data.dtype)
            room[..., : self._size] = self.view
            self._data = room

    def assign(self, places: Array, values: Any) -> None:
        """Overwrite some values; views handed out before keep the old ones."""
        self._data = self._data.copy()
        self._data[..., places] = values


class GrowingRows:
    """The same for a matrix that grows by rows; the first `size` rows of `data` are in use."""

    __slots__ = ("_data", "_size")

    def __init__(self, data: Array, size: int) -> None:
        self._data = data
        self._size = size

    @property
    def view(self) -> Array:
        """What the matrix holds now."""
        return self._data[: self._size]

    @property
    def nbytes(self) -> int:
        """Memory held, spare room included."""
        return self._data.nbytes

    def append(self, rows: Array) -> None:
        """Add rows at the end."""
        needed = self._size + len(rows)
        if needed > len(self._data):
            room = np.empty((needed + max(64, needed // 8), self._data.shape[1]), self._data.dtype)
            room[: self._size] = self.view
            self._data = room
        self._data[self._size : needed] = rows
        self._size = needed
