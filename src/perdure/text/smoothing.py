"""Smoothing: a fact's vector with a share of its neighbours', so that it is found by what was said around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from perdure.ports.embedder import Matrix, Vector

SHARES = (0.3, 0.15)
"""Share of the neighbours one and two places away (docs/decisions/context-view.md)."""
SHORT = 200
FADING = 300
"""Turns of up to SHORT characters lean on each other fully, longer ones less: they stand alone."""


def smooth(vectors: Matrix, lengths: Sequence[int]) -> Matrix:
    """Row i plus its neighbours' shares, to unit length; rows are facts of one document in order.

    `lengths` are the characters of the turn that each fact comes from.
    """
    leaning = np.exp(-np.maximum(np.asarray(lengths, dtype=np.float32) - SHORT, 0.0) / FADING)[:, None]
    total = vectors.astype(np.float32, copy=True)
    for distance, share in enumerate(SHARES, start=1):
        if len(vectors) > distance:
            weights = share * leaning[distance:] * leaning[:-distance]
            total[distance:] += weights * vectors[:-distance]
            total[:-distance] += weights * vectors[distance:]
    return to_unit(total)


def to_unit(vectors: Matrix) -> Matrix:
    """Each row to length 1; zero rows stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return units


def smooth_after(
    before: Sequence[tuple[Vector, int]], fresh: Matrix, lengths: Sequence[int]
) -> tuple[list[Vector], Matrix]:
    """(new vectors of the last facts before, vectors of the fresh ones), for facts added to a document.

    `before` are the stored facts' vectors with the lengths of their turns.
    """
    if not before:
        return [], smooth(fresh, lengths)
    joined = np.vstack([np.stack([vector for vector, _ in before]), fresh])
    smoothed = smooth(joined, [*(length for _, length in before), *lengths])
    return list(smoothed[: len(before)]), smoothed[len(before) :]
