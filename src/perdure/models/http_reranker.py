"""Reranking by a provider over HTTP: the Cohere protocol (many servers speak it) and text-embeddings-inference."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from perdure.errors import InvalidInput, ProviderError
from perdure.models.clean import without_surrogates
from perdure.models.http_client import HttpClient
from perdure.ports.embedder import Vector

_CERTAIN = 1e-6


class HttpReranker(ABC):
    """What the protocols share: batches, order, and a check of what came back."""

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        key: str = "",
        batch: int = 32,
        timeout: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if batch < 1:
            raise InvalidInput("rerank batch", "at least 1", batch)
        self._http = HttpClient(url, key, timeout=timeout, retries=retries, sleep=sleep)
        self._model = model
        self._batch = batch

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, {self._http!r})"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model or self._http.url

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        """Logits, one a passage, in order."""
        asked = without_surrogates(query) or " "
        texts = [without_surrogates(passage) or " " for passage in passages]
        logits = [
            logit
            for at in range(0, len(texts), self._batch)
            for logit in self._batch_logits(asked, texts[at : at + self._batch])
        ]
        return np.array(logits, np.float32)

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    @abstractmethod
    def _request(self, query: str, texts: list[str]) -> Any:
        """The provider's list of results."""

    @abstractmethod
    def _logit(self, result: Any) -> float:
        """The logit of one result."""

    def _batch_logits(self, query: str, texts: list[str]) -> list[float]:
        try:
            found = {int(result["index"]): self._logit(result) for result in self._request(query, texts)}
            logits = [found[number] for number in range(len(texts))]
        except (KeyError, TypeError, ValueError) as error:
            raise ProviderError(
                f"{self._http.url}/rerank: the answer lacks an index and a score for each of {len(texts)} texts"
            ) from error
        if not all(math.isfinite(logit) for logit in logits):
            raise ProviderError(f"{self._http.url}/rerank: a score is not finite")
        return logits


class CohereReranker(HttpReranker):
    """POST {url}/rerank with `documents`, as Cohere, Jina, vLLM and LiteLLM answer it.

    Relevance scores are probabilities; they are turned back into logits.
    """

    def _request(self, query: str, texts: list[str]) -> Any:
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        return self._http.post("/rerank", body)["results"]

    def _logit(self, result: Any) -> float:
        score = min(max(float(result["relevance_score"]), _CERTAIN), 1.0 - _CERTAIN)
        return math.log(score / (1.0 - score))


class TeiReranker(HttpReranker):
    """POST {url}/rerank with `texts` and raw scores, as text-embeddings-inference answers it."""

    def _request(self, query: str, texts: list[str]) -> Any:
        return self._http.post(
            "/rerank", {"query": query, "texts": texts, "raw_scores": True, "truncate": True}
        )

    def _logit(self, result: Any) -> float:
        return float(result["score"])
