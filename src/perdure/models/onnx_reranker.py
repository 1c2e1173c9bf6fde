"""Local cross-encoders: each pair of query and passage read together by an ONNX model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Encoding

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from perdure.errors import ModelError
from perdure.models.manifest import ModelSpec, find_model
from perdure.models.onnx_runtime import Encoded, OnnxModel, cut_characters, load, longest_first, to_encoded
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Vector

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

DEFAULT_RERANKER = "ms-marco-minilm-l-12-v2"
_QUERY_TOKENS = 128
_WHOLE_TOKENS = 160
_WINDOW_TOKENS = 128
_OVERLAP_TOKENS = 32
_MAX_WINDOWS = 12
"""Passages of more than 160 tokens are read in windows: an answer deep in 500 tokens gets lost, in 128 it does not
(docs/models.md). Twelve windows cover a chunk; a document of megabytes must not stall a recall.
"""
_NOISE_BELOW = -4.0
"""Lower logits mean nothing for a question in another language of the Latin script: a paraphrased answer has -10, and a passage
that shares a word with the question -5.
"""


class OnnxReranker:
    """A cross-encoder with one logit per pair.

    The query goes in whole (its first 128 tokens). A passage of more than 160 tokens is read in overlapping windows
    and scores as its best one. With `batch = 1` in the manifest a score never depends on the other pairs.

    A model for English alone refuses a question in a script that it cannot read (ModelError): it would call every
    passage of that script a perfect answer. For a question in another language of the Latin script only what it finds
    to answer counts, and all else has the same low logit (docs/decisions/languages.md).
    """

    def __init__(
        self,
        model: str | ModelSpec = DEFAULT_RERANKER,
        places: Places | None = None,
        *,
        limiter: ModelRunLimiter | None = None,
    ) -> None:
        self.spec = find_model(model, "reranker") if isinstance(model, str) else model
        self._places = places
        self._limiter = limiter or shared_run_limiter()

    @property
    def name(self) -> str:
        return self.spec.name

    @cached_property
    def weights(self) -> Weights:
        return find_weights(self.spec, self._places)

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        """Return raw logits, one per passage, in order."""
        question = self._question(query)
        floor = _NOISE_BELOW if self._in_other_language(query, question) else -np.inf
        owners, pairs = self._pairs(question, passages)
        logits = np.full(len(passages), floor, np.float32)
        np.maximum.at(logits, owners, self._logits(pairs))
        return logits

    @cached_property
    def _runtime(self) -> OnnxModel:
        return load(self.weights)

    def _question(self, query: str) -> Encoding:
        """Return the query's tokens, as far as they are read."""
        limit = min(_QUERY_TOKENS, self.spec.max_tokens // 2)
        question = self._runtime.tokenizer.encode(cut_characters(query, limit), add_special_tokens=False)
        question.truncate(limit)
        return question

    def _in_other_language(self, query: str, question: Encoding) -> bool:
        """Return whether the question is not in the model's language; raise `ModelError` if not even in its script."""
        if tuple(self.spec.languages) != ("en",):
            return False
        reading = readability(query, question)
        if reading.other_script:
            raise ModelError(f"{self.spec.name} reads English, and not the script of this question")
        return reading.other_language

    def _pairs(self, question: Encoding, passages: Sequence[str]) -> tuple[list[int], list[Encoded]]:
        """Return the question paired with every window of every passage, and the passage of each pair."""
        tokenizer = self._runtime.tokenizer
        room = self.spec.max_tokens - len(question.ids) - tokenizer.num_special_tokens_to_add(True)
        owners: list[int] = []
        pairs: list[Encoded] = []
        for owner, passage in enumerate(passages):
            for window in _windows(tokenizer, passage, room):
                owners.append(owner)
                pairs.append(to_encoded(tokenizer.post_process(question, window)))
        return owners, pairs

    def _logits(self, pairs: Sequence[Encoded]) -> Vector:
        """Return one logit per pair."""
        runtime = self._runtime
        batches = longest_first([len(pair.ids) for pair in pairs], self.spec.batch)
        outputs = self._limiter.map(lambda rows: runtime.run([pairs[row] for row in rows]), batches)
        logits = np.zeros(len(pairs), np.float32)
        for rows, output in zip(batches, outputs, strict=True):
            if output.shape != (len(rows), 1):
                raise ModelError(
                    f"model {self.spec.name} gives {output.shape} for {len(rows)} pairs: not a cross-encoder"
                )
            logits[rows] = output[:, 0]
        return logits


def _windows(tokenizer: Tokenizer, passage: str, room: int) -> list[Encoding]:
    text = cut_characters(passage, _MAX_WINDOWS * _WINDOW_TOKENS)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    if len(encoding.ids) <= min(room, _WHOLE_TOKENS):
        return [encoding]
    encoding.truncate(min(room, _WINDOW_TOKENS), stride=min(_OVERLAP_TOKENS, room // 4))
    return [encoding, *encoding.overflowing[: _MAX_WINDOWS - 1]]


_UNKNOWN_TOKEN = "[UNK]"
_MAX_UNREADABLE = 0.5
"""Questions in German or Spanish have at most .05, in Japanese or Chinese at least .88."""
_MIN_WHOLE_WORDS = 0.6
"""99% of the questions of LoCoMo and LongMemEval have more, 95% of those in German and 83% of those in Spanish less."""


@dataclass(frozen=True, slots=True)
class Readability:
    """Shares of a text's letters and digits."""

    unreadable: float
    """In unknown tokens, or non-ASCII and alone in a token."""
    whole_words: float
    """In words that are one token."""

    @property
    def other_script(self) -> bool:
        """Return whether the model sees only unknown characters."""
        return self.unreadable > _MAX_UNREADABLE

    @property
    def other_language(self) -> bool:
        """Return whether the model knows few of the words."""
        return self.whole_words < _MIN_WHOLE_WORDS


def readability(text: str, encoding: Encoding) -> Readability:
    """Return the readability of a text from its encoding without special tokens; a text without letters is readable."""
    letters = unreadable = whole = 0
    tokens_of_word = Counter(encoding.word_ids)
    for token, (start, end), word in zip(encoding.tokens, encoding.offsets, encoding.word_ids, strict=True):
        own = [letter for letter in text[start:end] if letter.isalnum()]
        letters += len(own)
        if token == _UNKNOWN_TOKEN or (len(own) == 1 and not own[0].isascii()):
            unreadable += len(own)
        elif tokens_of_word[word] == 1:
            whole += len(own)
    return Readability(unreadable / letters, whole / letters) if letters else Readability(0.0, 1.0)
