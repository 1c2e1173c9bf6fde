"""Late interaction: token vectors packed small at retain, compared with the query's at recall.

A token's state is centred on the model's mean state, projected on its first principal axes, and kept as one signed 4-bit number an axis;
of a passage with many tokens the most alike are put together (docs/models.md has the measurements). The mean and the axes are data files
beside this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perdure.errors import ModelError
from perdure.ports.embedder import Matrix, Vector

AXES = 128
_TOP = 7
_TOKENS = 128
"""Tokens of a passage that are looked at."""
_KEPT = 48
"""A passage keeps at most this many token vectors: 64 bytes each, 3 KB in all."""
_AT_ONCE = 512
"""Tokens that are compared at once."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenPacking:
    """A projection of token states and the 4-bit code of the result."""

    name: str
    mean: Vector
    axes: Matrix
    _middle: Vector = field(init=False)
    """The mean on the axes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_middle", self.mean @ self.axes)

    def project(self, states: Matrix) -> Matrix:
        """Unit vectors of the token states in the space that is compared."""
        return _unit(self._centred(states))

    def pack(self, states: Matrix) -> bytes:
        """The projected states at 4 bits an axis; empty when there are none."""
        if not len(states):
            return b""
        tokens = self._centred(states[:_TOKENS])
        if len(tokens) > _KEPT:
            tokens = merge_alike(_unit(tokens), _KEPT)
        peak = np.maximum(np.abs(tokens).max(axis=1, keepdims=True), 1e-9)
        codes = (np.rint(tokens * (_TOP / peak)) + 8).astype(np.uint8)
        packed: NDArray[np.uint8] = codes[:, 0::2] | codes[:, 1::2] << 4
        return packed.tobytes()

    def _centred(self, states: Matrix) -> Matrix:
        """The directions of the states from the mean direction, on the axes; projected first, which is a third as wide."""
        projected: Matrix = states @ self.axes
        projected /= np.maximum(_lengths(states), 1e-9)
        projected -= self._middle
        return projected

    def unpack(self, packed: bytes) -> Matrix:
        """Unit vectors of packed tokens."""
        codes = self._codes(packed)
        halves = np.empty((len(codes), len(self._middle)), np.float32)
        _widen(codes, halves)
        return _unit(halves[:, np.argsort(_halved(np.arange(halves.shape[1])))])

    def _codes(self, packed: bytes) -> NDArray[np.uint8]:
        return np.frombuffer(packed, np.uint8).reshape(-1, len(self._middle) // 2)

    def score(self, query: Matrix, passages: Sequence[bytes]) -> Vector:
        """Mean over the query's token vectors of the best cosine with each passage's; 0 for empty bytes."""
        sizes = np.array([*map(len, passages)], np.int64)
        counts, odd = np.divmod(sizes, len(self._middle) // 2)
        if odd.any():
            raise ModelError(f"token vectors are not packed as {self.name}: re-embed the bank")
        scores = np.zeros(len(passages), np.float32)
        filled = np.flatnonzero(counts)
        if not len(filled) or not len(query):
            return scores
        similar = self._cosines(_halved(query), self._codes(b"".join(passages)))
        starts = np.concatenate(([0], np.cumsum(counts[filled])[:-1]))
        scores[filled] = np.maximum.reduceat(similar, starts, axis=0).mean(axis=1)
        return scores

    def _cosines(self, halved: Matrix, codes: NDArray[np.uint8]) -> Matrix:
        """Of each packed token, a row, with each unit vector; some at a time, so that they stay in the cache."""
        cosines = np.empty((len(codes), len(halved)), np.float32)
        room = np.empty((min(_AT_ONCE, len(codes)), halved.shape[1]), np.float32)
        directions = np.ascontiguousarray(halved.T)
        for start in range(0, len(codes), _AT_ONCE):
            some = codes[start : start + _AT_ONCE]
            tokens, products = room[: len(some)], cosines[start : start + _AT_ONCE]
            _widen(some, tokens)
            np.matmul(tokens, directions, out=products)
            products /= np.maximum(np.sqrt(np.vecdot(tokens, tokens)), 1e-9)[:, None]
        return cosines


def _widen(codes: NDArray[np.uint8], out: Matrix) -> None:
    """The values of packed tokens, each times a length of its own, in the order of `_halved`."""
    half = codes.shape[1]
    out[:, :half] = codes & 15
    out[:, half:] = codes >> 4
    out -= 8


def _halved(values: NDArray[Any]) -> NDArray[Any]:
    """With the even axes before the odd ones, as bytes hold them in their lower and upper halves."""
    return np.concatenate([values[..., 0::2], values[..., 1::2]], axis=-1)


def merge_alike(tokens: Matrix, most: int) -> Matrix:
    """At most `most` unit vectors: the two most alike become their sum's direction until few enough are left."""
    if len(tokens) <= most:
        return tokens
    sums, units = tokens.copy(), tokens.copy()
    alike = units @ units.T
    np.fill_diagonal(alike, -np.inf)
    kept = np.ones(len(tokens), bool)
    for _ in range(len(tokens) - most):
        one, other = sorted(divmod(int(alike.argmax()), len(tokens)))
        sums[one] += sums[other]
        units[one] = _unit(sums[one : one + 1])[0]
        kept[other] = False
        row = np.where(kept, units @ units[one], -np.inf)
        row[one] = -np.inf
        alike[one], alike[:, one] = row, row
        alike[other], alike[:, other] = -np.inf, -np.inf
    merged: Matrix = units[kept]
    return merged


@lru_cache(maxsize=8)
def packing_of(model: str, dimensions: int) -> TokenPacking:
    """The fitted packing of a model; a fixed random projection for a model that none was fitted for."""
    fitted = resources.files("perdure.models").joinpath("packings", f"{model}.npz")
    if fitted.is_file():
        with resources.as_file(fitted) as path, np.load(path, allow_pickle=False) as data:
            return TokenPacking(
                f"pca{AXES}-int4", data["mean"].astype(np.float32), data["axes"].astype(np.float32)
            )
    axes = min(AXES, dimensions // 2 * 2)
    draws = np.random.default_rng(0).standard_normal((dimensions, axes))
    basis, _ = np.linalg.qr(draws)
    return TokenPacking(f"random{axes}-int4", np.zeros(dimensions, np.float32), basis.astype(np.float32))


def _unit(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.maximum(_lengths(rows), 1e-9), np.float32)


def _lengths(rows: Matrix) -> Matrix:
    squares: Matrix = np.einsum("ij,ij->i", rows, rows)[:, None]
    return np.sqrt(squares)
