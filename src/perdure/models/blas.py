"""Matrix products on numpy's BLAS without its threads.

OpenBLAS computes a large product on one thread per core, and its threads spin while they wait. Model runs already use every
core, so those threads slow each other down (docs/decisions/blas-threads.md). A library must not change settings of its process:
the hot paths use `product` instead.
"""

from __future__ import annotations

import numpy as np

from perdure.ports.embedder import Matrix

_ONE_THREAD = (1 << 19) - 1
"""Multiplications of the largest product that OpenBLAS computes on the calling thread."""
_KERNEL_ROWS = 4
"""Kernels compute this many rows at once; blocks of fewer are half as fast."""


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return `left @ right` for float32, in blocks of rows that are small enough for the calling thread."""
    rows = max(_ONE_THREAD // max(right.size, 1) // _KERNEL_ROWS, 1) * _KERNEL_ROWS
    if len(left) <= rows:
        return left @ right
    whole = len(left) // rows * rows
    out = np.empty((len(left), right.shape[1]), np.float32)
    # (blocks, rows, inner) @ (inner, columns): numpy calls BLAS once per block.
    blocks = left[:whole].reshape(-1, rows, left.shape[1])
    np.matmul(blocks, right, out=out[:whole].reshape(-1, rows, right.shape[1]))
    np.matmul(left[whole:], right, out=out[whole:])
    return out


class Factor:
    """A large constant matrix as the right factor of products, in blocks that are small enough for the calling thread.

    `product` cannot do this: with 1280 x 256 even four rows are too many.
    """

    _ROWS = 8

    def __init__(self, matrix: Matrix) -> None:
        inner, columns = matrix.shape
        width = columns
        while self._ROWS * inner * width > _ONE_THREAD and width % 2 == 0:
            width //= 2
        # (blocks, inner, width), each block contiguous
        self._blocks = np.ascontiguousarray(matrix.reshape(inner, -1, width).swapaxes(0, 1))

    def after(self, left: Matrix) -> Matrix:
        """Return `left @ matrix` for float32."""
        blocks, inner, width = self._blocks.shape
        groups = -(-len(left) // self._ROWS)
        padded = np.zeros((groups * self._ROWS, inner), np.float32)
        padded[: len(left)] = left
        # (1, groups, rows, inner) @ (blocks, 1, inner, width): numpy calls BLAS once per pair.
        parts = padded.reshape(1, groups, self._ROWS, inner) @ self._blocks[:, None]
        whole = parts.transpose(1, 2, 0, 3).reshape(len(padded), blocks * width)
        return whole[: len(left)]
