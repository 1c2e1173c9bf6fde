"""Ports of the models that turn text into vectors.

To use your own model, write a class with the three members of `Embedder` and pass an object of it to
`Perdure.open`. Everything else here is optional: an embedder with the members of `LateInteraction`,
`JointEmbedder` or `ThreadedEmbedder` is used for that as well (found by `isinstance`, so no base class is
needed).
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


@runtime_checkable
class LateInteraction(Protocol):
    """Optional: token vectors made at retain and compared with the query's at recall (MaxSim)."""

    @property
    def name(self) -> str:
        """Return the name of model and packing; token vectors of different names are not comparable."""

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Return the packed token vectors of each text."""

    def score(self, query: str, passages: Sequence[bytes]) -> Vector:
        """Return the mean over the query's tokens of the best cosine with a passage's; 0 for empty bytes."""


@runtime_checkable
class JointEmbedder(Protocol):
    """Optional: an embedder with late interaction that computes vector and token vectors in one pass."""

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Matrix, list[bytes]]:
        """Return `embed_passages` and `encode_passages` from one pass."""


class PendingEmbeddings(Protocol):
    """Texts that are being embedded on other threads."""

    def settle(self) -> None:
        """Take over what is ready, without waiting."""

    def result(self) -> Sequence[tuple[Vector | None, bytes]]:
        """Return vector and token vectors of each text, once all are ready."""

    def cancel(self) -> None:
        """Drop what has not begun yet."""


@runtime_checkable
class ThreadedEmbedder(Protocol):
    """Optional: a joint embedder that embeds on its own threads while the caller continues."""

    def begin(self, texts: Sequence[str]) -> PendingEmbeddings:
        """Start `embed_and_encode` on other threads."""
