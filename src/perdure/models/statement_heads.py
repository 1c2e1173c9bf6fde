"""Three linear heads over a sentence's vector and words: which slot it states, how it is meant, and of whom it speaks.

The weights beside this file are fitted by `python -m bench.changes`; they belong to one embedder.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perdure.errors import ModelError
from perdure.models.use_embedder import UseEmbedder
from perdure.ports.statements import StatementReading

WEIGHTS = Path(__file__).with_name("statement_heads.npz")
FORMAT = 1
HEADS = ("slot", "aspect", "subject")
BINS = 4096
"""Columns that hashed words and pairs of words share."""
VECTOR_SCALE = 4.0
"""Unit vectors are stretched so that they weigh as much as the words."""
WORD_SCALE = 0.5
REMEMBERED = 2000
"""Readings of the latest texts that are not computed again."""
_WORD = re.compile(r"\d[\d.,:/-]*|[^\W\d_]+(?:['’][^\W\d_]+)*|[?!,;:…]")

Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Head:
    """A multinomial logistic regression: one column of weights per label."""

    labels: tuple[str, ...]
    on_vector: Weights
    """(dimensions, labels)"""
    on_words: Weights
    """(BINS, labels)"""
    bias: Weights

    def probabilities(self, vector: Weights, bins: Sequence[int]) -> Mapping[str, float]:
        """The probability of each label."""
        scores: Weights = (vector @ self.on_vector) * np.float32(VECTOR_SCALE) + self.bias
        if bins:
            scores += self.on_words[list(bins)].sum(axis=0) * word_weight(len(bins))
        return dict(zip(self.labels, softmax(scores).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class StatementHeads:
    """The heads, and what they were fitted with."""

    slot: Head
    aspect: Head
    subject: Head
    embedder: str
    embedder_sha256: str
    training_sha256: str


def softmax(scores: Weights) -> Weights:
    """Scores of the last axis as probabilities."""
    powers: Weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Weights = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def word_bins(text: str) -> list[int]:
    """The columns of a text's words and pairs of words, each once; names and numbers count as such, not as what they are."""
    return sorted({zlib.crc32(term.encode()) % BINS for term in _terms(text)})


def word_weight(count: int) -> float:
    """The weight of each of so many columns, so that long texts weigh little more than short ones."""
    return float(WORD_SCALE * 4.0 / np.sqrt(count + 8))


def _terms(text: str) -> Iterator[str]:
    words = ["^", *(_masked(match) for match in _WORD.finditer(text)), "$"]
    yield from words[1:-1]
    yield from (f"{left} {right}" for left, right in pairwise(words))


def _masked(match: re.Match[str]) -> str:
    word = match[0]
    if word[0].isdigit():
        return "0"
    opens = not match.string[: match.start()].rstrip() or match.string[: match.start()].rstrip()[-1] in ".!?"
    return "A" if word[0].isupper() and not opens and len(word) > 1 else word.casefold().replace("’", "'")


def save_heads(heads: StatementHeads, path: Path = WEIGHTS) -> None:
    """Write the weights as float16."""
    header = {
        "format": FORMAT,
        "bins": BINS,
        "labels": {name: getattr(heads, name).labels for name in HEADS},
        "embedder": heads.embedder,
        "embedder_sha256": heads.embedder_sha256,
        "training_sha256": heads.training_sha256,
    }
    arrays = {
        f"{name}_{part}": getattr(getattr(heads, name), part).astype(np.float16)
        for name in HEADS
        for part in ("on_vector", "on_words", "bias")
    }
    np.savez_compressed(path, header=np.array(json.dumps(header)), **arrays)


def load_heads(path: Path = WEIGHTS) -> StatementHeads:
    """The heads of a file; ModelError when it is not one that this version reads."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            arrays = {name: file[name].astype(np.float32) for name in file.files if name != "header"}
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"statement heads {path} cannot be read: {error}") from error
    if (header["format"], header["bins"]) != (FORMAT, BINS):
        raise ModelError(f"statement heads {path} are of another format: fit them again")
    heads = {
        name: Head(
            labels=tuple(header["labels"][name]),
            on_vector=arrays[f"{name}_on_vector"],
            on_words=arrays[f"{name}_on_words"],
            bias=arrays[f"{name}_bias"],
        )
        for name in HEADS
    }
    return StatementHeads(
        slot=heads["slot"],
        aspect=heads["aspect"],
        subject=heads["subject"],
        embedder=header["embedder"],
        embedder_sha256=header["embedder_sha256"],
        training_sha256=header["training_sha256"],
    )


class UseStatementClassifier:
    """The heads over the multilingual sentence encoder; both load at the first text."""

    def __init__(self, embedder: UseEmbedder, path: Path = WEIGHTS) -> None:
        self._embedder = embedder
        self._path = path
        self._lock = threading.Lock()
        self._readings: dict[str, StatementReading] = {}

    @cached_property
    def heads(self) -> StatementHeads:
        """The heads, refused when they were fitted on another encoder."""
        heads = load_heads(self._path)
        spec = self._embedder.spec
        if (spec.name, spec.sha256.get(spec.model_file, "")) != (heads.embedder, heads.embedder_sha256):
            raise ModelError(
                f"statement heads {self._path} belong to {heads.embedder} {heads.embedder_sha256[:12]}, not to "
                f"{spec.name}: fit them again"
            )
        return heads

    def classify(self, texts: Sequence[str]) -> list[StatementReading]:
        """One reading per text; those of the latest texts are remembered."""
        with self._lock:
            readings = {text: self._readings[text] for text in texts if text in self._readings}
        unread = [text for text in dict.fromkeys(texts) if text not in readings]
        for text, vector in zip(unread, self._embedder.embed_passages(unread), strict=True):
            readings[text] = self._read(text, vector)
        with self._lock:
            self._readings.update((text, readings[text]) for text in unread)
            while len(self._readings) > REMEMBERED:
                del self._readings[next(iter(self._readings))]
        return [readings[text] for text in texts]

    def _read(self, text: str, vector: Weights) -> StatementReading:
        bins = word_bins(text)
        return StatementReading(
            slots=self.heads.slot.probabilities(vector, bins),
            aspects=self.heads.aspect.probabilities(vector, bins),
            subjects=self.heads.subject.probabilities(vector, bins),
        )
