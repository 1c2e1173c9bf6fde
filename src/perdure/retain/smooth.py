"""Smoothing: a fact's vector with a share of its neighbours', so that it is found by what was said around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from perdure.ports.embedder import Matrix, Vector

SHARES = (0.3, 0.15)
"""Share of the neighbours one and two places away (docs/decisions/context-view.md)."""


def smooth(vectors: Matrix) -> Matrix:
    """Row i plus its neighbours' shares, to unit length; rows are facts of one document in order."""
    total = vectors.astype(np.float32, copy=True)
    for distance, share in enumerate(SHARES, start=1):
        if len(vectors) > distance:
            total[distance:] += share * vectors[:-distance]
            total[:-distance] += share * vectors[distance:]
    return to_unit(total)


def to_unit(vectors: Matrix) -> Matrix:
    """Each row to length 1; zero rows stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return units


def smooth_after(before: Sequence[Vector], fresh: Matrix) -> tuple[list[Vector], Matrix]:
    """(new vectors of the last facts before, vectors of the fresh ones), for facts added to a document."""
    if not before:
        return [], smooth(fresh)
    joined = smooth(np.vstack([np.stack(before), fresh]))
    return list(joined[: len(before)]), joined[len(before) :]
