"""Local embedders: a text's vector and its token vectors from one pass of an ONNX model."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.errors import ModelError
from perdure.models.manifest import ModelSpec, find_model
from perdure.models.maxsim import TokenPacking, packing_of
from perdure.models.onnx_runtime import Encoded, OnnxModel, States, encode, load, longest_first
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Matrix, Vector

DEFAULT_EMBEDDER = "e5-small-v2"
_QUERY_TOKENS = 64
"""The late stage compares at most this many of a question's tokens."""
_KEPT_QUERIES = 64
"""A recall asks for a question's vector and then for late scores: the token states of the last questions are kept for that."""

T = TypeVar("T")
BatchStates = list[tuple[Encoded, States]]
"""The tokens and token states, (tokens, dimensions), of each text of a batch."""


class PendingEmbeddings(Generic[T]):
    """Batches that run on other threads; `use` is applied to each text on the thread that asks.

    Next to a busy Python thread every call into numpy may wait milliseconds for the interpreter's lock, so the threads that run the
    model do nothing else (docs/decisions/retain-overlap.md).
    """

    def __init__(
        self,
        texts: int,
        running: Sequence[tuple[list[int], Future[BatchStates]]],
        use: Callable[[Encoded, States], T],
    ) -> None:
        self._running = deque(running)
        self._use = use
        self._results: list[T | None] = [None] * texts

    def settle(self) -> None:
        """Use the states that are ready, without waiting, since they are large."""
        while self._running and self._running[0][1].done():
            self._take()

    def result(self) -> list[T]:
        """Return the results of `use`, in the order of the texts."""
        while self._running:
            self._take()
        return self._results  # type: ignore[return-value]  # every row was in one batch

    def cancel(self) -> None:
        """Drop the batches that have not begun yet."""
        for _, future in self._running:
            future.cancel()
        self._running.clear()

    def _take(self) -> None:
        rows, future = self._running.popleft()
        for row, (item, states) in zip(rows, future.result(), strict=True):
            self._results[row] = self._use(item, states)


class OnnxEmbedder:
    """An ONNX text encoder with the prefixes, pooling and window of its manifest entry.

    A text longer than the window is represented by its beginning. With `batch = 1` in the manifest a text's
    vector never depends on the texts beside it.
    """

    def __init__(
        self,
        model: str | ModelSpec = DEFAULT_EMBEDDER,
        places: Places | None = None,
        *,
        limiter: ModelRunLimiter | None = None,
    ) -> None:
        self.spec = find_model(model, "embedder") if isinstance(model, str) else model
        self._places = places
        self._limiter = limiter or shared_run_limiter()
        self._query_states: OrderedDict[str, States] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel(self.spec.name, self.spec.dimensions)

    @property
    def name(self) -> str:
        return f"{self.spec.name}/{self._packing.name}"

    @cached_property
    def weights(self) -> Weights:
        return find_weights(self.spec, self._places)

    def embed_query(self, text: str) -> Vector:
        ((vector, states),) = self._each([text], self.spec.query_prefix, self._pool_query)
        with self._lock:
            self._query_states[text] = states
            while len(self._query_states) > _KEPT_QUERIES:
                self._query_states.popitem(last=False)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._matrix(self._each(texts, self.spec.passage_prefix, self._pool))

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Return the packed token vectors of each text; empty for a text without words."""
        return self._each(texts, self.spec.passage_prefix, self._pack)

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Matrix, list[bytes]]:
        both = self._each(texts, self.spec.passage_prefix, self._pool_and_pack)
        return self._matrix([vector for vector, _ in both]), [packed for _, packed in both]

    def begin(self, texts: Sequence[str]) -> PendingEmbeddings[tuple[Vector, bytes]]:
        """Start `embed_and_encode` on other threads."""
        run, batches = self._runs(texts, self.spec.passage_prefix)
        running = [(rows, self._limiter.submit(run, rows)) for rows in batches]
        return PendingEmbeddings(len(texts), running, self._pool_and_pack)

    def score(self, query: str, passages: Sequence[bytes]) -> Vector:
        with self._lock:
            states = self._query_states.get(query)
        if states is None:
            ((_, states),) = self._each([query], self.spec.query_prefix, self._pool_query)
        return self._packing.score(self._packing.project(states), passages)

    def token_states(self, texts: Sequence[str]) -> list[States]:
        """Return the full states of each passage's words, for fitting the packing."""
        prefix = self.spec.passage_prefix
        return self._each(texts, prefix, lambda item, states: self._word_states(item, states, prefix))

    @cached_property
    def _runtime(self) -> OnnxModel:
        return load(self.weights)

    @cached_property
    def _packing(self) -> TokenPacking:
        return packing_of(self.spec.name, self.spec.dimensions)

    def _each(self, texts: Sequence[str], prefix: str, use: Callable[[Encoded, States], T]) -> list[T]:
        """Apply `use` to each text's token states."""
        run, batches = self._runs(texts, prefix)

        def run_and_use(rows: list[int]) -> list[T]:
            return [use(item, states) for item, states in run(rows)]

        results: list[T | None] = [None] * len(texts)
        for rows, batch in zip(batches, self._limiter.map(run_and_use, batches), strict=True):
            for row, result in zip(rows, batch, strict=True):
                results[row] = result
        return results  # type: ignore[return-value]  # every row was in one batch

    def _runs(
        self, texts: Sequence[str], prefix: str
    ) -> tuple[Callable[[list[int]], BatchStates], list[list[int]]]:
        """Return the function that runs the model on a batch of rows, and the batches."""
        runtime = self._runtime

        def run(rows: list[int]) -> BatchStates:
            items = [encode(runtime.tokenizer, prefix + texts[row], self.spec.max_tokens) for row in rows]
            states = runtime.run(items)
            self._check(states)
            return [(item, states[at, : len(item.ids)]) for at, item in enumerate(items)]

        return run, longest_first([len(text) for text in texts], self.spec.batch)

    def _check(self, states: States) -> None:
        if states.ndim != 3 or states.shape[2] != self.spec.dimensions:
            raise ModelError(
                f"model {self.spec.name} gives states of shape {states.shape}, the manifest says "
                f"{self.spec.dimensions} dimensions"
            )

    def _pool(self, _: Encoded, states: States) -> Vector:
        pooled = states[0] if self.spec.pooling == "cls" else states.mean(axis=0)
        length = float(np.linalg.norm(pooled))
        return np.asarray(pooled / length if length else pooled, np.float32)

    def _matrix(self, vectors: Sequence[Vector]) -> Matrix:
        return np.stack(vectors) if vectors else np.zeros((0, self.spec.dimensions), np.float32)

    def _pack(self, item: Encoded, states: States) -> bytes:
        return self._packing.pack(self._word_states(item, states, self.spec.passage_prefix))

    def _pool_and_pack(self, item: Encoded, states: States) -> tuple[Vector, bytes]:
        return self._pool(item, states), self._pack(item, states)

    def _pool_query(self, item: Encoded, states: States) -> tuple[Vector, States]:
        words = self._word_states(item, states, self.spec.query_prefix)[:_QUERY_TOKENS]
        return self._pool(item, states), words

    def _word_states(self, item: Encoded, states: States, prefix: str) -> States:
        """Return the states of the text's own words, without special tokens, the prefix and punctuation."""
        return states[(item.starts >= len(prefix)) & self._runtime.is_word[item.ids]]
