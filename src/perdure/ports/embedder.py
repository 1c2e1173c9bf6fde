"""Ports of the models that turn text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from perdure.domain.bank import EmbeddingModel

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to unit vectors; queries and passages separately, for models that tell them apart."""

    @property
    def model(self) -> EmbeddingModel:
        """Name and dimensions, stored with each bank."""

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question, the same on every call."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit vector a row, in the order of the texts."""


@runtime_checkable
class LateInteraction(Protocol):
    """Token vectors made at retain and compared with the query's at recall (MaxSim)."""

    @property
    def name(self) -> str:
        """Name of model and packing; token vectors of different names are not comparable."""

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Packed token vectors of each text."""

    def score(self, query: str, passages: Sequence[bytes]) -> Vector:
        """Mean over the query's tokens of the best cosine with each passage's tokens; 0 for empty bytes."""


class JointEmbedder(Embedder, LateInteraction, Protocol):
    """An embedder whose one pass gives both the vector and the token vectors."""

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Matrix, list[bytes]]:
        """`embed_passages` and `encode_passages` for the price of one."""
