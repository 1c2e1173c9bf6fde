"""Models of a provider over HTTP.

Embeddings use the protocol of OpenAI, which many servers speak, or Ollama's.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.errors import InvalidInput, ProviderError
from perdure.ports.embedder import Matrix, Vector
from perdure.text.surrogates import without_surrogates

if TYPE_CHECKING:
    import httpx

_LOG = logging.getLogger(__name__)
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
_EXCERPT = 200


class HttpClient:
    """Posts JSON to one provider: time-outs, retries with back-off, errors that name the cause.

    The key appears in no message, log or repr.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise InvalidInput("provider url", "http(s)://host/path without user, password or query")
        self.url = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._sleep = sleep
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def __repr__(self) -> str:
        return f"HttpClient({self.url!r}, key={'set' if self._key else 'none'})"

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the provider's JSON answer; transient failures are retried, others raise `ProviderError`."""
        import httpx

        target = self.url + path
        for attempt in range(self._retries + 1):
            wait = _FIRST_WAIT * 2**attempt
            try:
                response = self._open().post(target, json=dict(body))
            except httpx.TransportError as error:
                failure = f"{target}: {_describe(error, self._timeout)}"
            else:
                if response.is_success:
                    return self._parse(target, response)
                failure = f"{target} answered {response.status_code}: {self._excerpt(response)}"
                if response.status_code not in _TRANSIENT:
                    raise ProviderError(failure + _hint(response.status_code))
                wait = read_retry_after(response.headers.get("retry-after")) or wait
            if attempt == self._retries:
                raise ProviderError(f"{failure} (tried {attempt + 1} times)")
            wait = min(wait, _LONGEST_WAIT)
            _LOG.warning("%s; trying again in %.1f s", failure, wait)
            self._sleep(wait)
        raise AssertionError("unreachable")

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _open(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = httpx.Client(timeout=self._timeout, headers=headers)
            return self._client

    def _parse(self, target: str, response: httpx.Response) -> Any:
        try:
            return response.json()
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ProviderError(
                f"{target} answered with something that is not JSON: {self._excerpt(response)}"
            ) from error

    def _excerpt(self, response: httpx.Response) -> str:
        text = " ".join(response.text.split())
        shown = text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"
        return shown.replace(self._key, "[key]") if self._key else shown


def _describe(error: Exception, timeout: float) -> str:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {timeout:g} s"
    if isinstance(error, httpx.ConnectError):
        return f"no connection ({error}); is the provider running?"
    return f"{type(error).__name__} {error}"


def _hint(status: int) -> str:
    if status in (401, 403):
        return " (check the key)"
    return " (check the URL and the model's name)" if status == 404 else ""


def read_retry_after(header: str | None) -> float | None:
    """Return the seconds of Retry-After, given as a number or as a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


class HttpEmbedder(ABC):
    """Common parts of the embedding protocols: batches, unit vectors, and a check of the answer.

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
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._batch = batch
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, {self._http!r})"

    @property
    def model(self) -> EmbeddingModel:
        if not self._dimensions:
            self.embed_query("dimensions")
        return EmbeddingModel(self._name, self._dimensions)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([self._query_prefix + text])[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        prefixed = [self._passage_prefix + text for text in texts]
        parts = [self._embed(prefixed[at : at + self._batch]) for at in range(0, len(prefixed), self._batch)]
        return np.concatenate(parts) if parts else np.zeros((0, self.model.dimensions), np.float32)

    def close(self) -> None:
        self._http.close()

    @abstractmethod
    def _request(self, texts: list[str]) -> list[Any]:
        """Return the provider's vectors, one per text, in order."""

    def _embed(self, texts: Sequence[str]) -> Matrix:
        vectors = self._request(_sendable(texts))
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

    def _check_dimensions(self, dimensions: int) -> None:
        with self._lock:
            self._dimensions = self._dimensions or dimensions
        if dimensions != self._dimensions:
            raise ProviderError(
                f"{self._http.url}: {self._name} gave {dimensions} dimensions, {self._dimensions} are expected"
            )


def _sendable(texts: Sequence[str]) -> list[str]:
    """Return the texts without lone surrogates and empty strings, which providers refuse."""
    return [without_surrogates(text) or " " for text in texts]


class OpenAIEmbedder(HttpEmbedder):
    """POST {url}/embeddings, as OpenAI, vLLM, TEI, LiteLLM, llama.cpp and LM Studio answer it."""

    def _request(self, texts: list[str]) -> list[Any]:
        body = {"model": self._name, "input": texts, "encoding_format": "float"}
        answer = self._http.post("/embeddings", body)
        try:
            by_index = {int(item["index"]): item["embedding"] for item in answer["data"]}
            return [by_index[number] for number in range(len(texts))]
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
