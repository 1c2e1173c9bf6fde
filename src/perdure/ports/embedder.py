"""Ports of the models that turn text into vectors.

To use your own model, write a class with the three members of `Embedder` and pass an object of it to `Perdure.open`. One that
has `begin` too is a `ThreadedEmbedder` (found by `isinstance`, so no base class is needed).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from perdure.domain.bank import EmbeddingModel

Vector = NDArray[np.float32]
"""(dimensions,)"""
Matrix = NDArray[np.float32]
"""(rows, dimensions)"""


class Embedder(Protocol):
    """Turns texts into unit vectors of type float32. Any thread may call it, several at once.

    Queries and passages are embedded separately, for models that distinguish them; otherwise both may do the
    same. A text has the same vector on every call, whatever else is in the batch: stored vectors are compared
    with new ones. Any string must be accepted: empty ones, lone surrogates, and texts longer than the model's
    window, of which the beginning is enough.
    """

    @property
    def model(self) -> EmbeddingModel:
        """Return name and dimensions. A bank made with another model must be re-embedded first."""

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per row, in the order of the texts; shape (0, dimensions) for no texts."""


class PendingEmbeddings(Protocol):
    """Texts that are being embedded on other threads."""

    def settle(self) -> None:
        """Take over what is ready, without waiting."""

    def result(self) -> Sequence[Vector]:
        """Return the vector of each text, once all are ready."""

    def cancel(self) -> None:
        """Drop what has not begun yet."""


@runtime_checkable
class ThreadedEmbedder(Protocol):
    """Optional: an embedder that embeds on its own threads while the caller continues."""

    def begin(self, texts: Sequence[str]) -> PendingEmbeddings:
        """Start `embed_passages` on other threads."""
