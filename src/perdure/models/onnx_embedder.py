"""Local embedders: a text's vector from an ONNX model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.errors import ModelError
from perdure.models.manifest import ModelSpec, find_model
from perdure.models.onnx_runtime import OnnxModel, States, encode, load, longest_first
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Matrix, Vector

DEFAULT_EMBEDDER = "e5-small-v2"
BatchStates = list[States]
"""The token states, (tokens, dimensions), of each text of a batch."""


class PendingEmbeddings:
    """Batches that run on other threads; `pool` is applied to each text on the thread that asks.

    Next to a busy Python thread every call into numpy may wait milliseconds for the interpreter's lock, so the threads that run the
    model do nothing else (docs/decisions/retain-overlap.md).
    """

    def __init__(
        self,
        texts: int,
        running: Sequence[tuple[list[int], Future[BatchStates]]],
        pool: Callable[[States], Vector],
    ) -> None:
        self._running = deque(running)
        self._pool = pool
        self._results: list[Vector | None] = [None] * texts

    def settle(self) -> None:
        """Use the states that are ready, without waiting, since they are large."""
        while self._running and self._running[0][1].done():
            self._take()

    def result(self) -> list[Vector]:
        """Return the vectors, in the order of the texts."""
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
        for row, states in zip(rows, future.result(), strict=True):
            self._results[row] = self._pool(states)


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

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel(self.spec.name, self.spec.dimensions)

    @cached_property
    def weights(self) -> Weights:
        return find_weights(self.spec, self._places)

    def embed_query(self, text: str) -> Vector:
        run, batches = self._runs([text], self.spec.query_prefix)
        (states,) = self._limiter.run(run, batches[0])
        return self._pool(states)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        run, batches = self._runs(texts, self.spec.passage_prefix)
        vectors = np.zeros((len(texts), self.spec.dimensions), np.float32)

        def run_and_pool(rows: list[int]) -> None:
            for row, states in zip(rows, run(rows), strict=True):
                vectors[row] = self._pool(states)

        self._limiter.map(run_and_pool, batches)
        return vectors

    def begin(self, texts: Sequence[str]) -> PendingEmbeddings:
        """Start `embed_passages` on other threads."""
        run, batches = self._runs(texts, self.spec.passage_prefix)
        running = [(rows, self._limiter.submit(run, rows)) for rows in batches]
        return PendingEmbeddings(len(texts), running, self._pool)

    @cached_property
    def _runtime(self) -> OnnxModel:
        return load(self.weights)

    def _runs(
        self, texts: Sequence[str], prefix: str
    ) -> tuple[Callable[[list[int]], BatchStates], list[list[int]]]:
        """Return the function that runs the model on a batch of rows, and the batches."""
        runtime = self._runtime

        def run(rows: list[int]) -> BatchStates:
            items = [encode(runtime.tokenizer, prefix + texts[row], self.spec.max_tokens) for row in rows]
            states = runtime.run(items)
            self._check(states)
            return [states[at, : len(item.ids)] for at, item in enumerate(items)]

        return run, longest_first([len(text) for text in texts], self.spec.batch)

    def _check(self, states: States) -> None:
        if states.ndim != 3 or states.shape[2] != self.spec.dimensions:
            raise ModelError(
                f"model {self.spec.name} gives states of shape {states.shape}, the manifest says "
                f"{self.spec.dimensions} dimensions"
            )

    def _pool(self, states: States) -> Vector:
        pooled = states[0] if self.spec.pooling == "cls" else states.mean(axis=0)
        length = float(np.linalg.norm(pooled))
        return np.asarray(pooled / length if length else pooled, np.float32)
