"""Late interaction (MaxSim, as in ColBERT): token vectors packed at retain, compared with the query's at recall.

A token's state is centred on the model's mean state, projected on its first principal axes, and stored as one signed 4-bit
number per axis; of a passage with many tokens the most similar are merged (docs/models.md has the measurements). The mean and
the axes are data files next to this module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perdure.errors import ModelError
from perdure.models.blas import product
from perdure.ports.embedder import Matrix, Vector

Codes = NDArray[np.uint8]
"""Packed tokens, one per row; a byte holds two axes."""

AXES = 128
_MAX_CODE = 7
_READ_TOKENS = 128
"""Tokens of a passage that are read."""
_KEPT_TOKENS = 48
"""A passage keeps at most this many token vectors: 64 bytes each, 3 KB in all."""
_COMPARED_TOKENS = 512
"""Tokens compared in one product; their floats stay in the processor's cache."""
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class TokenPacking:
    """A projection of token states and the 4-bit code of the result."""

    name: str
    mean: Vector
    axes: Matrix
    """(dimensions, axes)"""
    _projected_mean: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_projected_mean", self.mean @ self.axes)

    def project(self, states: Matrix) -> Matrix:
        """Return unit vectors of the token states in the space of comparison, (tokens, axes)."""
        return _unit(self._centred(states))

    def pack(self, states: Matrix) -> bytes:
        """Return the projected states at 4 bits per axis; empty if there are none."""
        if not len(states):
            return b""
        tokens = self._centred(states[:_READ_TOKENS])
        if len(tokens) > _KEPT_TOKENS:
            tokens = merge_alike(_unit(tokens), _KEPT_TOKENS)
        # Scale each token so that its largest component is 7, round, and shift to 1..15.
        peak = np.maximum(np.abs(tokens).max(axis=1, keepdims=True), _TINY)
        codes = (np.rint(tokens * (_MAX_CODE / peak)) + 8).astype(np.uint8)
        # Even axes into the lower, odd axes into the upper half of each byte.
        packed: Codes = codes[:, 0::2] | codes[:, 1::2] << 4
        return packed.tobytes()

    def _centred(self, states: Matrix) -> Matrix:
        """Return the states' directions minus the mean direction, on the axes; projected first, which is a third as wide."""
        projected = product(states, self.axes)
        projected /= np.maximum(_lengths(states), _TINY)
        projected -= self._projected_mean
        return projected

    def unpack(self, packed: bytes) -> Matrix:
        """Return unit vectors of packed tokens, (tokens, axes)."""
        codes = self._codes(packed)
        values = np.empty((len(codes), len(self._projected_mean)), np.float32)
        _widen(codes, values)
        return _unit(values[:, np.argsort(_even_then_odd(np.arange(values.shape[1])))])

    def _codes(self, packed: bytes) -> Codes:
        return np.frombuffer(packed, np.uint8).reshape(-1, len(self._projected_mean) // 2)

    def score(self, query: Matrix, passages: Sequence[bytes]) -> Vector:
        """Return the mean over the query's token vectors of the best cosine with each passage's; 0 for empty bytes."""
        sizes = np.array([*map(len, passages)], np.int64)
        counts, odd = np.divmod(sizes, len(self._projected_mean) // 2)
        if odd.any():
            raise ModelError(f"token vectors are not packed as {self.name}: re-embed the bank")
        scores = np.zeros(len(passages), np.float32)
        filled = np.flatnonzero(counts)
        if not len(filled) or not len(query):
            return scores
        # (all passages' tokens, query tokens), then the maximum over each passage's run of rows.
        cosines = self._cosines(_even_then_odd(query), self._codes(b"".join(passages)))
        starts = np.concatenate(([0], np.cumsum(counts[filled])[:-1]))
        scores[filled] = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
        return scores

    def _cosines(self, query: Matrix, codes: Codes) -> Matrix:
        """Return (packed tokens, query tokens) cosines; `query` has its even axes before its odd ones."""
        cosines = np.empty((len(codes), len(query)), np.float32)
        values = np.empty((min(_COMPARED_TOKENS, len(codes)), query.shape[1]), np.float32)
        directions = np.ascontiguousarray(query.T)
        for start in range(0, len(codes), _COMPARED_TOKENS):
            some = codes[start : start + _COMPARED_TOKENS]
            tokens = values[: len(some)]
            _widen(some, tokens)
            products = product(tokens, directions)
            products /= np.maximum(np.sqrt(np.vecdot(tokens, tokens)), _TINY)[:, None]
            cosines[start : start + _COMPARED_TOKENS] = products
        return cosines


def _widen(codes: Codes, out: Matrix) -> None:
    """Write the values of packed tokens, each token scaled by its own factor; even axes before odd ones."""
    half = codes.shape[1]
    out[:, :half] = codes & 15
    out[:, half:] = codes >> 4
    out -= 8


def _even_then_odd(values: NDArray[Any]) -> NDArray[Any]:
    """Move the even columns before the odd ones, as bytes store them in their lower and upper halves."""
    return np.concatenate([values[..., 0::2], values[..., 1::2]], axis=-1)


def merge_alike(tokens: Matrix, most: int) -> Matrix:
    """Return at most `most` unit vectors: merge the two most similar into the direction of their sum until few enough are left."""
    if len(tokens) <= most:
        return tokens
    sums, units = tokens.copy(), tokens.copy()
    # (tokens, tokens) cosines; minus infinity on the diagonal and for tokens that were merged into another.
    alike = product(units, units.T)
    np.fill_diagonal(alike, -np.inf)
    merged = np.zeros(len(tokens), np.float32)
    for _ in range(len(tokens) - most):
        one, other = sorted(divmod(int(alike.argmax()), len(tokens)))
        sums[one] += sums[other]
        units[one] = sums[one] / max(math.sqrt(np.vecdot(sums[one], sums[one])), _TINY)
        merged[other] = -np.inf
        row = np.vecdot(units, units[one]) + merged
        row[one] = -np.inf
        alike[one], alike[:, one] = row, row
        alike[other], alike[:, other] = -np.inf, -np.inf
    rest: Matrix = units[merged == 0]
    return rest


@lru_cache(maxsize=8)
def packing_of(model: str, dimensions: int) -> TokenPacking:
    """Return the fitted packing of a model, or a fixed random projection for a model without one."""
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
    return np.asarray(rows / np.maximum(_lengths(rows), _TINY), np.float32)


def _lengths(rows: Matrix) -> Matrix:
    squares: Matrix = np.einsum("ij,ij->i", rows, rows)[:, None]
    return np.sqrt(squares)
