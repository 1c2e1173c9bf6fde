"""Softmax regression on sentence vectors and hashed words, full batch, with numpy alone."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perdure.models.statement_heads import (
    BINS,
    HEADS,
    VECTOR_SCALE,
    Head,
    StatementHeads,
    softmax,
    word_bins,
    word_weight,
)
from perdure.models.use_embedder import UseEmbedder

FOLDER = Path(__file__).parent
STEPS = 150
RATE = 0.05
PENALTY = {"slot": 4e-4, "aspect": 4e-4, "subject": 4e-4}
"""L2 penalty per head, chosen by cross-validation."""
SEED = 7

Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence, the slot that it states, how it is meant and of whom it speaks."""

    language: str
    slot: str
    aspect: str
    subject: str
    text: str


def training_files() -> list[Path]:
    """One or more per language, named by its code."""
    return sorted(FOLDER.glob("*.tsv"))


def training_sha256() -> str:
    """One hash of all training files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in training_files())).hexdigest()


def load_sentences() -> list[LabelledSentence]:
    sentences = []
    for path in training_files():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                sentences.append(
                    LabelledSentence(path.stem[:2], row["slot"], row["aspect"], row["subject"], row["text"])
                )
    return sentences


def features(sentences: Sequence[LabelledSentence], embedder: UseEmbedder) -> Weights:
    """Scaled sentence vectors beside the scaled columns of their words."""
    vectors = embedder.embed_passages([sentence.text for sentence in sentences]) * VECTOR_SCALE
    words = np.zeros((len(sentences), BINS), np.float32)
    for row, sentence in enumerate(sentences):
        bins = word_bins(sentence.text)
        words[row, bins] = word_weight(len(bins))
    return np.hstack([vectors, words])


def fit(rows: Weights, labels: Sequence[str], penalty: float) -> Head:
    """The weights that make the labels most likely, by Adam."""
    names = tuple(sorted(set(labels)))
    targets = np.eye(len(names), dtype=np.float32)[[names.index(label) for label in labels]]
    extended = np.hstack([rows, np.ones((len(rows), 1), np.float32)])
    weights = np.zeros((extended.shape[1], len(names)), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = (softmax(extended @ weights) - targets) / len(rows)
        gradient = extended.T @ error
        gradient[:-1] += penalty * weights[:-1]
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    dimensions = rows.shape[1] - BINS
    return Head(names, weights[:dimensions], weights[dimensions:-1], weights[-1])


def predict(head: Head, rows: Weights) -> Weights:
    """Probabilities, one row per sentence."""
    return softmax(rows @ np.vstack([head.on_vector, head.on_words]) + head.bias)


def labels_of(sentences: Sequence[LabelledSentence], name: str) -> list[str]:
    return [getattr(sentence, name) for sentence in sentences]


def held_out(rows: Weights, labels: Sequence[str], penalty: float, folds: int) -> list[str]:
    """Each sentence's most likely label, by a head that has not seen it."""
    fold = np.random.default_rng(SEED).integers(0, folds, len(rows))
    guesses = [""] * len(rows)
    for number in range(folds):
        seen, unseen = np.flatnonzero(fold != number).tolist(), np.flatnonzero(fold == number).tolist()
        head = fit(rows[seen], [labels[index] for index in seen], penalty)
        best = predict(head, rows[unseen]).argmax(axis=1)
        for index, label in zip(unseen, best, strict=True):
            guesses[index] = head.labels[label]
    return guesses


def cross_validate(sentences: Sequence[LabelledSentence], folds: int) -> Iterator[str]:
    """Accuracy of each head on held-out sentences, in all and by language."""
    rows = features(sentences, UseEmbedder())
    languages = [sentence.language for sentence in sentences]
    for name, penalty in PENALTY.items():
        labels = labels_of(sentences, name)
        right = np.array(
            [a == b for a, b in zip(held_out(rows, labels, penalty, folds), labels, strict=True)]
        )
        by_language = "  ".join(
            f"{language} {right[[other == language for other in languages]].mean():.2f}"
            for language in sorted(set(languages))
        )
        yield f"{name:6} {len(set(labels))} labels  all {right.mean():.3f}  {by_language}"


def fit_heads(sentences: Sequence[LabelledSentence]) -> StatementHeads:
    """The heads, fitted on all sentences."""
    embedder = UseEmbedder()
    rows = features(sentences, embedder)
    heads = {name: fit(rows, labels_of(sentences, name), PENALTY[name]) for name in HEADS}
    return StatementHeads(
        slot=heads["slot"],
        aspect=heads["aspect"],
        subject=heads["subject"],
        embedder=embedder.spec.name,
        embedder_sha256=embedder.spec.sha256[embedder.spec.model_file],
        training_sha256=training_sha256(),
    )
