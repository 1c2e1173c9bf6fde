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
Places = NDArray[np.intp]


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


@dataclass(frozen=True, slots=True)
class Rows:
    """Scaled sentence vectors, and the few columns of words that each sentence has."""

    vectors: Weights
    """(sentences, dimensions)"""
    sentence: Places
    """Of each entry: its sentence, ascending."""
    column: Places
    """Of each entry: its column."""
    weight: Weights
    """Of each entry."""

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, chosen: Places) -> Rows:
        """The rows of some sentences, in their order."""
        numbers = np.full(len(self.vectors), -1)
        numbers[chosen] = np.arange(len(chosen))
        kept = np.flatnonzero(numbers[self.sentence] >= 0)
        order = kept[np.argsort(numbers[self.sentence[kept]], kind="stable")]
        return Rows(
            self.vectors[chosen], numbers[self.sentence[order]], self.column[order], self.weight[order]
        )


def features(sentences: Sequence[LabelledSentence], embedder: UseEmbedder) -> Rows:
    """Scaled sentence vectors beside the scaled columns of their words."""
    vectors = embedder.embed_passages([sentence.text for sentence in sentences]) * np.float32(VECTOR_SCALE)
    bins = [word_bins(sentence.text) for sentence in sentences]
    return Rows(
        vectors=vectors,
        sentence=np.repeat(np.arange(len(bins)), [len(own) for own in bins]),
        column=np.array([column for own in bins for column in own]),
        weight=np.array([word_weight(len(own)) for own in bins for _ in own], np.float32),
    )


def _sums(rows: Weights, keys: Places, count: int) -> Weights:
    """The sum of the rows of each key; keys ascend, those that are missing sum to 0."""
    sums = np.zeros((count, rows.shape[1]), np.float32)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    sums[keys[starts]] = np.add.reduceat(rows, starts, axis=0)
    return sums


def fit(rows: Rows, labels: Sequence[str], penalty: float) -> Head:
    """The weights that make the labels most likely, by Adam."""
    names = tuple(sorted(set(labels)))
    targets = np.eye(len(names), dtype=np.float32)[[names.index(label) for label in labels]]
    dimensions = rows.vectors.shape[1]
    by_column = np.argsort(rows.column, kind="stable")
    weights = np.zeros((dimensions + BINS + 1, len(names)), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        head = Head(names, weights[:dimensions], weights[dimensions:-1], weights[-1])
        error = (predict(head, rows) - targets) / len(rows)
        weighted = error[rows.sentence[by_column]] * rows.weight[by_column, None]
        gradient = np.vstack(
            [
                rows.vectors.T @ error,
                _sums(weighted.astype(np.float32), rows.column[by_column], BINS),
                error.sum(axis=0, keepdims=True),
            ]
        )
        gradient[:-1] += penalty * weights[:-1]
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return Head(names, weights[:dimensions], weights[dimensions:-1], weights[-1])


def predict(head: Head, rows: Rows) -> Weights:
    """Probabilities, one row per sentence."""
    on_words = _sums(head.on_words[rows.column] * rows.weight[:, None], rows.sentence, len(rows))
    return softmax(rows.vectors @ head.on_vector + on_words + head.bias)


def labels_of(sentences: Sequence[LabelledSentence], name: str) -> list[str]:
    return [getattr(sentence, name) for sentence in sentences]


def held_out(rows: Rows, labels: Sequence[str], penalty: float, folds: int) -> Weights:
    """Each sentence's probabilities of the sorted labels, by a head that has not seen it."""
    fold = np.random.default_rng(SEED).integers(0, folds, len(rows))
    shares = np.zeros((len(rows), len(set(labels))), np.float32)
    for number in range(folds):
        seen, unseen = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        head = fit(rows[seen], [labels[int(index)] for index in seen], penalty)
        shares[unseen] = predict(head, rows[unseen])
    return shares


def cross_validate(sentences: Sequence[LabelledSentence], folds: int) -> Iterator[str]:
    """Accuracy of each head on held-out sentences, in all and by language."""
    rows = features(sentences, UseEmbedder())
    languages = [sentence.language for sentence in sentences]
    for name, penalty in PENALTY.items():
        labels = labels_of(sentences, name)
        best = held_out(rows, labels, penalty, folds).argmax(axis=1)
        right = np.array([sorted(set(labels))[guess] for guess in best]) == np.array(labels)
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
