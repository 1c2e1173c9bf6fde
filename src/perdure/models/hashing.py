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

    @property
    def name(self) -> str:
        return f"hashing-{self._dimensions}/int8"

    def embed_query(self, text: str) -> Vector:
        words = self._words(text)
        total = words.sum(axis=0) if len(words) else _direction("", self._dimensions)
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(
            len(texts), self._dimensions
        )

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [np.round(self._words(text) * 127).astype(np.int8).tobytes() for text in texts]

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Matrix, list[bytes]]:
        return self.embed_passages(texts), self.encode_passages(texts)

    def score(self, query: str, passages: Sequence[bytes]) -> Vector:
        return np.array([self._score(self._words(query), passage) for passage in passages], np.float32)

    def _score(self, query: Matrix, passage: bytes) -> float:
        words = np.frombuffer(passage, np.int8).reshape(-1, self._dimensions).astype(np.float32)
        if not len(words) or not len(query):
            return 0.0
        words /= np.linalg.norm(words, axis=1, keepdims=True)
        return float((query @ words.T).max(axis=1).mean())

    def _words(self, text: str) -> Matrix:
        rows = [_direction(word, self._dimensions) for word in _WORD.findall(text.casefold())]
        return np.array(rows, np.float32).reshape(len(rows), self._dimensions)


@lru_cache(maxsize=65536)
def _direction(word: str, dimensions: int) -> Vector:
    seed = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
    vector = np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(dimensions)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
