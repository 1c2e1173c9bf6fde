"""Cross-encoders that run here: each pair of query and passage read together by an ONNX model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from perdure.errors import ModelError
from perdure.models.clean import cut_characters
from perdure.models.manifest import ModelSpec, find_model
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.runtime import Encoded, OnnxModel, load, to_encoded
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Vector

DEFAULT_RERANKER = "ms-marco-minilm-l-12-v2"
_QUERY_TOKENS = 128
_WHOLE = 160
_WINDOW = 128
_OVERLAP = 32
_WINDOWS = 12
"""Longer passages are read in windows: an answer deep in 500 tokens gets lost, in 128 it does not (docs/models.md).
Twelve windows cover a chunk; a document of megabytes must not stall a recall."""


class OnnxReranker:
    """A cross-encoder with one logit a pair.

    The query goes in whole (its first 128 tokens). A passage of more than 160 tokens is read in overlapping windows
    and scores as its best one. With `batch = 1` in the manifest a score never depends on the other pairs.
    """

    def __init__(
        self,
        model: str | ModelSpec = DEFAULT_RERANKER,
        places: Places | None = None,
        *,
        cores: ModelRunLimiter | None = None,
    ) -> None:
        self.spec = find_model(model, "reranker") if isinstance(model, str) else model
        self._places = places
        self._cores = cores or shared_run_limiter()

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.spec.name

    @cached_property
    def weights(self) -> Weights:
        """The files found for the model."""
        return find_weights(self.spec, self._places)

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        """Raw logits, one a passage, in order."""
        owners, pairs = self._pairs(query, passages)
        logits = np.full(len(passages), -np.inf, np.float32)
        np.maximum.at(logits, owners, self._logits(pairs))
        return logits

    @cached_property
    def _runtime(self) -> OnnxModel:
        return load(self.weights)

    def _pairs(self, query: str, passages: Sequence[str]) -> tuple[list[int], list[Encoded]]:
        """Every window of every passage beside the query, and which passage it is of."""
        tokenizer = self._runtime.tokenizer
        limit = min(_QUERY_TOKENS, self.spec.max_tokens // 2)
        asked = tokenizer.encode(cut_characters(query, limit), add_special_tokens=False)
        asked.truncate(limit)
        room = self.spec.max_tokens - len(asked.ids) - tokenizer.num_special_tokens_to_add(True)
        owners: list[int] = []
        pairs: list[Encoded] = []
        for owner, passage in enumerate(passages):
            for window in _windows(tokenizer, passage, room):
                owners.append(owner)
                pairs.append(to_encoded(tokenizer.post_process(asked, window)))
        return owners, pairs

    def _logits(self, pairs: Sequence[Encoded]) -> Vector:
        """One logit a pair, run in batches of like length, long ones first."""
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at].ids))
        size = self.spec.batch
        batches = [order[at : at + size] for at in range(0, len(order), size)]
        runtime = self._runtime
        logits = np.zeros(len(pairs), np.float32)
        for rows, found in zip(
            batches,
            self._cores.map(lambda rows: runtime.run([pairs[row] for row in rows]), batches),
            strict=True,
        ):
            if found.shape != (len(rows), 1):
                raise ModelError(
                    f"model {self.spec.name} gives {found.shape} for {len(rows)} pairs: not a cross-encoder"
                )
            logits[rows] = found[:, 0]
        return logits


def _windows(tokenizer: Any, passage: str, room: int) -> list[Any]:
    encoding = tokenizer.encode(cut_characters(passage, _WINDOWS * _WINDOW), add_special_tokens=False)
    if len(encoding.ids) <= min(room, _WHOLE):
        return [encoding]
    encoding.truncate(min(room, _WINDOW), stride=min(_OVERLAP, room // 4))
    return [encoding, *encoding.overflowing[: _WINDOWS - 1]]
