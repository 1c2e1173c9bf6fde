"""The present models as teachers: logits of the twelve-layer cross-encoder, similarity by e5, both kept in a cache."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.cross_encoder import CrossEncoder
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.models.run_limiter import ModelRunLimiter

Floats = NDArray[np.float32]


class Teacher:
    """Scores pairs and embeds texts, each at most once per cache folder."""

    def __init__(self, cache: Path, *, threads: int = 1) -> None:
        limiter = ModelRunLimiter(threads)
        self._reranker = CrossEncoder(limiter)
        self._embedder = OnnxEmbedder("e5-small-v2", limiter=limiter)
        self._path = cache / "teacher.pickle"
        self._logits: dict[tuple[str, str], float] = {}
        self._vectors: dict[tuple[str, bool], Floats] = {}
        self._saved = time.monotonic()
        if self._path.exists():
            self._logits, self._vectors = pickle.loads(self._path.read_bytes())

    def logits(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the cross-encoder's logits."""
        missing = [passage for passage in dict.fromkeys(passages) if (question, passage) not in self._logits]
        if missing:
            scores = self._reranker.score(question, missing)
            self._logits.update(
                ((question, passage), float(score)) for passage, score in zip(missing, scores, strict=True)
            )
            if time.monotonic() - self._saved > 60:
                self.save()
        return [self._logits[question, passage] for passage in passages]

    def similarities(self, question: str, passages: Sequence[str]) -> Floats:
        """Return the cosines of a question and passages."""
        matrix = np.stack([self._vector(passage, False) for passage in passages])
        cosines: Floats = matrix @ self._vector(question, True)
        return cosines

    def _vector(self, text: str, is_query: bool) -> Floats:
        key = (text, is_query)
        if key not in self._vectors:
            embed: Callable[[str], Floats] = (
                self._embedder.embed_query
                if is_query
                else lambda text: self._embedder.embed_passages([text])[0]
            )
            self._vectors[key] = np.asarray(embed(text), np.float32)
        return self._vectors[key]

    def save(self) -> None:
        """Write the cache."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".partial")
        partial.write_bytes(pickle.dumps((self._logits, self._vectors)))
        partial.replace(self._path)
        self._saved = time.monotonic()


class WordOverlap:
    """BM25 over a few texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._documents = [Counter(_words(text)) for text in texts]
        self._frequency = Counter(word for document in self._documents for word in document)
        self._average = sum(map(len, self._documents)) / max(1, len(texts))

    def scores(self, question: str) -> Floats:
        """Return the score of each text."""
        words, count = set(_words(question)), len(self._documents)
        scores = np.zeros(count, np.float32)
        for row, document in enumerate(self._documents):
            for word in words & document.keys():
                frequency = document[word]
                weight = log(1 + (count - self._frequency[word] + 0.5) / (self._frequency[word] + 0.5))
                scores[row] += weight * frequency / (frequency + 0.4 + 0.8 * len(document) / self._average)
        return scores


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()
