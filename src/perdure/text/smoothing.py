"""Smoothing: a fact's vector with a share of its neighbours', so that it is found by what was said around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from perdure.domain.fact import Chunk, Fact
from perdure.ports.embedder import Matrix, Vector

SHARES = (0.3, 0.2, 0.12)
"""Share of the neighbours one and two places away (docs/decisions/context-view.md)."""
SHORT = 200
FADING = 300
"""Turns of up to SHORT characters lean on each other fully, longer ones less: they stand alone."""
ROUNDING = 1e-3
"""Vectors this near to each other are the same but for how a store rounds them."""


def smooth(vectors: Matrix, lengths: Sequence[int]) -> Matrix:
    """Row i plus its neighbours' shares, to unit length; rows are facts of one document in order.

    `lengths` are the characters of the turn that each fact comes from.
    """
    # How much each fact leans on its neighbours: (facts, 1), 1 for short turns.
    leaning = np.exp(-np.maximum(np.asarray(lengths, dtype=np.float32) - SHORT, 0.0) / FADING)[:, None]
    total = vectors.astype(np.float32, copy=True)
    for distance, share in enumerate(SHARES, start=1):
        if len(vectors) > distance:
            # Weight of each pair that lies `distance` apart: (facts - distance, 1).
            weights = share * leaning[distance:] * leaning[:-distance]
            total[distance:] += weights * vectors[:-distance]
            total[:-distance] += weights * vectors[distance:]
    return to_unit(total)


def is_same_vector(one: Vector, other: Vector) -> bool:
    """Return whether two stored vectors are equal but for rounding."""
    return float(np.linalg.norm(one - other)) < ROUNDING


def stands_alone(views: Mapping[str, Vector]) -> bool:
    """Return whether a fact's context is its own vector: it mixed in no neighbour, and is mixed into none."""
    return {"fact", "context"} <= views.keys() and is_same_vector(views["fact"], views["context"])


def to_unit(vectors: Matrix) -> Matrix:
    """Each row to length 1; zero rows stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return units


def turn_length(fact: Fact, chunks: Mapping[str, Chunk]) -> int:
    """Characters of the turn that a stored fact comes from; `chunks` are those of its document, by id."""
    chunk = chunks.get(fact.chunk_id or "")
    for span in chunk.spans if chunk is not None else ():
        if chunk is not None and fact.source_text in chunk.text[span.start : span.end]:
            return span.end - span.start
    return len(fact.source_text or fact.text)
