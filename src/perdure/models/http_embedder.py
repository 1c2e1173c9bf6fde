"""Embeddings from a provider over HTTP: the OpenAI protocol (many servers speak it) and Ollama's."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.errors import InvalidInput, ProviderError
from perdure.models.clean import without_surrogates
from perdure.models.http_client import HttpClient
from perdure.ports.embedder import Matrix, Vector


class HttpEmbedder(ABC):
    """What the protocols share: batches, unit vectors, and a check of what came back.

    With `dimensions` 0 the provider is asked once, when they are first needed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimensions: int = 0,
        key: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
        batch: int = 32,
        timeout: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not model:
            raise InvalidInput("embedding model", "the provider's name of a model")
        if batch < 1:
            raise InvalidInput("embedding batch", "at least 1", batch)
        self._http = HttpClient(url, key, timeout=timeout, retries=retries, sleep=sleep)
        self._name = model
        self._dimensions = dimensions
        self._prefixes = query_prefix, passage_prefix
        self._batch = batch
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, {self._http!r})"

    @property
    def model(self) -> EmbeddingModel:
        """Name and dimensions, stored with each bank."""
        if not self._dimensions:
            self.embed_query("dimensions")
        return EmbeddingModel(self._name, self._dimensions)

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question."""
        vector: Vector = self._embed([self._prefixes[0] + text])[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit vector a row, in the order of the texts."""
        prefixed = [self._prefixes[1] + text for text in texts]
        parts = [self._embed(prefixed[at : at + self._batch]) for at in range(0, len(prefixed), self._batch)]
        return np.concatenate(parts) if parts else np.zeros((0, self.model.dimensions), np.float32)

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    @abstractmethod
    def _request(self, texts: list[str]) -> list[Any]:
        """The provider's vectors, one a text, in order."""

    def _embed(self, texts: Sequence[str]) -> Matrix:
        # Providers refuse empty strings.
        vectors = self._request([without_surrogates(text) or " " for text in texts])
        try:
            matrix = np.array(vectors, np.float32)
        except (TypeError, ValueError) as error:
            raise ProviderError(
                f"{self._http.url}: the vectors of {self._name} are not lists of numbers"
            ) from error
        if matrix.ndim != 2 or len(matrix) != len(texts) or not matrix.shape[1]:
            raise ProviderError(
                f"{self._http.url}: {len(texts)} texts sent, vectors of shape {matrix.shape} came back"
            )
        self._check_dimensions(matrix.shape[1])
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ProviderError(f"{self._http.url}: {self._name} gave a vector that is zero or not finite")
        return np.asarray(matrix / lengths, np.float32)

    def _check_dimensions(self, found: int) -> None:
        with self._lock:
            self._dimensions = self._dimensions or found
        if found != self._dimensions:
            raise ProviderError(
                f"{self._http.url}: {self._name} gave {found} dimensions, {self._dimensions} are expected"
            )


class OpenAIEmbedder(HttpEmbedder):
    """POST {url}/embeddings, as OpenAI, vLLM, TEI, LiteLLM, llama.cpp and LM Studio answer it."""

    def _request(self, texts: list[str]) -> list[Any]:
        answer = self._http.post(
            "/embeddings", {"model": self._name, "input": texts, "encoding_format": "float"}
        )
        try:
            found = {int(item["index"]): item["embedding"] for item in answer["data"]}
            return [found[number] for number in range(len(texts))]
        except (KeyError, TypeError, ValueError) as error:
            raise ProviderError(
                f"{self._http.url}/embeddings: the answer lacks data[].index and data[].embedding for {len(texts)} texts"
            ) from error


class OllamaEmbedder(HttpEmbedder):
    """POST {url}/api/embed, as Ollama answers it."""

    def _request(self, texts: list[str]) -> list[Any]:
        answer = self._http.post("/api/embed", {"model": self._name, "input": texts, "truncate": True})
        vectors = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(vectors, list):
            raise ProviderError(f"{self._http.url}/api/embed: the answer lacks a list of embeddings")
        return vectors
