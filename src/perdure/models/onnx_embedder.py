"""Embedders that run here: a text's vector and its token vectors from one pass of an ONNX model."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.errors import ModelError
from perdure.models.begun import PendingEmbeddings, Ran, States
from perdure.models.clean import cut_characters
from perdure.models.manifest import ModelSpec, find_model
from perdure.models.maxsim import TokenPacking, packing_of
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.runtime import Encoded, OnnxModel, encode, load
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Matrix, Vector

DEFAULT_EMBEDDER = "e5-small-v2"
_QUERY_TOKENS = 64
"""The late stage compares at most this many of a question's tokens."""

_ASKED = 64
"""A recall asks for a question's vector and then for late scores: the token states of the last questions are kept for that."""

T = TypeVar("T")


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
        cores: ModelRunLimiter | None = None,
    ) -> None:
        self.spec = find_model(model, "embedder") if isinstance(model, str) else model
        self._places = places
        self._cores = cores or shared_run_limiter()
        self._asked: OrderedDict[str, States] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> EmbeddingModel:
        """Name and dimensions, stored with each bank."""
        return EmbeddingModel(self.spec.name, self.spec.dimensions)

    @property
    def name(self) -> str:
        """Name of model and packing of the token vectors."""
        return f"{self.spec.name}/{self._packing.name}"

    @cached_property
    def weights(self) -> Weights:
        """The files found for the model."""
        return find_weights(self.spec, self._places)

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question, the same on every call."""
        ((vector, words),) = self._each([text], self.spec.query_prefix, self._query)
        with self._lock:
            self._asked[text] = words
            while len(self._asked) > _ASKED:
                self._asked.popitem(last=False)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit vector a row, in the order of the texts."""
        return self._matrix(self._each(texts, self.spec.passage_prefix, self._pool))

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Packed token vectors of each text; empty for a text without words."""
        return self._each(texts, self.spec.passage_prefix, self._pack)

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Matrix, list[bytes]]:
        """`embed_passages` and `encode_passages` for the price of one."""
        both = self._each(texts, self.spec.passage_prefix, self._pool_and_pack)
        return self._matrix([vector for vector, _ in both]), [packed for _, packed in both]

    def begin(self, texts: Sequence[str]) -> PendingEmbeddings[tuple[Vector, bytes]]:
        """The rows of `embed_and_encode`, begun on other threads."""
        work, batches = self._work(texts, self.spec.passage_prefix)
        running = [(rows, self._cores.submit(work, rows)) for rows in batches]
        return PendingEmbeddings(len(texts), running, self._pool_and_pack)

    def score(self, query: str, passages: Sequence[bytes]) -> Vector:
        """Mean over the query's tokens of the best cosine with each passage's tokens; 0 for empty bytes."""
        with self._lock:
            words = self._asked.get(query)
        if words is None:
            ((_, words),) = self._each([query], self.spec.query_prefix, self._query)
        return self._packing.score(self._packing.project(words), passages)

    def token_states(self, texts: Sequence[str]) -> list[States]:
        """The full states of each passage's words, as the packing is fitted on them."""
        prefix = self.spec.passage_prefix
        return self._each(texts, prefix, lambda item, states: self._words(item, states, prefix))

    @cached_property
    def _runtime(self) -> OnnxModel:
        return load(self.weights)

    @cached_property
    def _packing(self) -> TokenPacking:
        return packing_of(self.spec.name, self.spec.dimensions)

    def _each(self, texts: Sequence[str], prefix: str, use: Callable[[Encoded, States], T]) -> list[T]:
        """What `use` makes of each text's token states."""
        work, batches = self._work(texts, prefix)

        def work_and_use(rows: list[int]) -> list[T]:
            return [use(item, states) for item, states in work(rows)]

        found: list[T | None] = [None] * len(texts)
        for rows, results in zip(batches, self._cores.map(work_and_use, batches), strict=True):
            for row, result in zip(rows, results, strict=True):
                found[row] = result
        return found  # type: ignore[return-value]  # every row was in one batch

    def _work(self, texts: Sequence[str], prefix: str) -> tuple[Callable[[list[int]], Ran], list[list[int]]]:
        """What runs the model on a batch, and the batches; long texts first, so that no core idles at the end."""
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        size = self.spec.batch
        runtime = self._runtime

        def work(rows: list[int]) -> Ran:
            items = [self._encode(runtime, prefix + texts[row]) for row in rows]
            states = runtime.run(items)
            self._check(states)
            return [(item, states[at, : len(item.ids)]) for at, item in enumerate(items)]

        return work, [order[at : at + size] for at in range(0, len(order), size)]

    def _encode(self, runtime: OnnxModel, text: str) -> Encoded:
        return encode(runtime.tokenizer, cut_characters(text, self.spec.max_tokens), self.spec.max_tokens)

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
        return self._packing.pack(self._words(item, states, self.spec.passage_prefix))

    def _pool_and_pack(self, item: Encoded, states: States) -> tuple[Vector, bytes]:
        return self._pool(item, states), self._pack(item, states)

    def _query(self, item: Encoded, states: States) -> tuple[Vector, States]:
        words = self._words(item, states, self.spec.query_prefix)[:_QUERY_TOKENS]
        return self._pool(item, states), words

    def _words(self, item: Encoded, states: States, prefix: str) -> States:
        """The states of the text's own words: neither special tokens, nor the prefix, nor punctuation."""
        kept = (item.starts >= len(prefix)) & self._runtime.is_word[item.ids]
        return states[kept]
