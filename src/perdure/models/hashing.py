"""A deterministic embedder without a model, for tests: texts that share words are near each other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.ports.embedder import Matrix, Vector

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Sums of pseudo-random word vectors; used only if it is named."""

    def __init__(self, dimensions: int = 64) -> None:
        self._dimensions = dimensions

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel("hashing", self._dimensions)

    def embed_query(self, text: str) -> Vector:
        words = self._words(text)
        total = words.sum(axis=0) if len(words) else _direction("", self._dimensions)
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(
            len(texts), self._dimensions
        )

    def _words(self, text: str) -> Matrix:
        rows = [_direction(word, self._dimensions) for word in _WORD.findall(text.casefold())]
        return np.array(rows, np.float32).reshape(len(rows), self._dimensions)


@lru_cache(maxsize=65536)
def _direction(word: str, dimensions: int) -> Vector:
    seed = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
    vector = np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(dimensions)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
