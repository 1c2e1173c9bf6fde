"""Figures of a reader on labelled scenes."""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.examples import Pair, labelled_pairs_of, other_pairs_of, statements_of
from lab.scenes import Asked, Scene
from perdure.ports.reader import EFFECTS, MEANINGS, AnswerReading, EffectReading, PlacedStatement, Reader

Floats = NDArray[np.float64]
CHANGES = ("ends", "corrects")
_PRECEDING = 60
"""Of a long scene, the statements that are read for a question: those that answer and this many others."""


class QuestionReading(NamedTuple):
    """What a reader said of every statement of a scene."""

    scene: Scene
    asked: Asked
    rows: list[int]
    readings: Sequence[AnswerReading]


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Figures of finding answers."""

    questions: int
    pairs: int
    auc: float
    first: float
    """How often a statement that answers has the highest probability."""
    span_f1: float
    refused_at_90: float
    """Share of unanswerable questions refused where 90% of the answerable ones are not."""
    kept_at_90: float
    """Share of answerable questions kept where 90% of the unanswerable ones are refused."""


def read_questions(
    reader: Reader,
    scenes: Sequence[Scene],
    change: Callable[[PlacedStatement], PlacedStatement] = lambda each: each,
) -> list[QuestionReading]:
    """Read every labelled question against the statements of its scene."""
    readings = []
    for scene in scenes:
        rows = list(range(len(scene.statements)))[:_PRECEDING]
        placed = [change(scene.placed(row)) for row in rows]
        for asked in scene.questions:
            if asked.is_labelled and all(answer.index in rows for answer in asked.answers):
                readings.append(
                    QuestionReading(scene, asked, rows, reader.answers(asked.text, asked.asker, placed))
                )
    return readings


def answer_figures(readings: Sequence[QuestionReading]) -> AnswerFigures:
    """Return the figures of a set of questions."""
    labels: list[bool] = []
    scores: list[float] = []
    firsts: list[bool] = []
    spans: list[float] = []
    answerable: list[float] = []
    unanswerable: list[float] = []
    for scene, asked, rows, answers in readings:
        right = {answer.index for answer in asked.answers}
        probabilities = [each.answers for each in answers]
        labels += [row in right for row in rows]
        scores += probabilities
        (answerable if right else unanswerable).append(max(probabilities))
        if right:
            firsts.append(rows[int(np.argmax(probabilities))] in right)
        for answer in asked.answers:
            if answer.words:
                start, end = answers[rows.index(answer.index)].span
                spans.append(word_f1(scene.statements[answer.index].text[start:end], answer.words))
    return AnswerFigures(
        len(readings), len(labels), auc(labels, scores), _mean(firsts), _mean(spans),
        _share_beyond(unanswerable, answerable, 0.1), _kept(answerable, unanswerable),
    )  # fmt: skip


def _share_beyond(unanswerable: Sequence[float], answerable: Sequence[float], lost: float) -> float:
    """Return the share of unanswerable questions below the threshold that loses this share of the others."""
    if not unanswerable or not answerable:
        return float("nan")
    return float(np.mean(np.array(unanswerable) < np.quantile(answerable, lost)))


def _kept(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    if not unanswerable or not answerable:
        return float("nan")
    return float(np.mean(np.array(answerable) >= np.quantile(unanswerable, 0.9)))


class MeaningFigures(NamedTuple):
    """Figures of reading meanings: macro-F1 over the classes with at least ten statements, and F1 of each class."""

    statements: int
    accuracy: float
    macro_f1: float
    about_accuracy: float
    by_class: dict[str, tuple[float, int]]
    confusions: list[tuple[str, str, int]]


def meaning_figures(
    reader: Reader,
    scenes: Sequence[Scene],
    change: Callable[[PlacedStatement], PlacedStatement] = lambda each: each,
) -> MeaningFigures:
    """Read the meaning of every labelled statement."""
    items = statements_of(scenes)
    readings = reader.meanings([change(scene.placed(index)) for scene, index in items])
    expected = [scene.statements[index].meaning for scene, index in items]
    actual = [reading.meaning for reading in readings]
    about = [
        reading.about == scene.statements[index].about
        for reading, (scene, index) in zip(readings, items, strict=True)
    ]
    by_class = {meaning: (_f1(expected, actual, meaning), expected.count(meaning)) for meaning in MEANINGS}
    confusions = Counter(
        (right, wrong) for right, wrong in zip(expected, actual, strict=True) if right != wrong
    )
    return MeaningFigures(
        len(items), _mean([right == given for right, given in zip(expected, actual, strict=True)]),
        _mean([f1 for f1, count in by_class.values() if count >= 10]), _mean(about), by_class,
        [(right, wrong, count) for (right, wrong), count in confusions.most_common(12)],
    )  # fmt: skip


class EffectFigures(NamedTuple):
    """Figures of closing: the share of changes closed at 1%, 2% and 5% wrong closings."""

    changes: int
    others: int
    closed: dict[str, float]
    thresholds: dict[str, float]
    accuracy: float
    """Of the five effects, on the labelled pairs."""


def read_pairs(
    reader: Reader,
    scenes: Sequence[Scene],
    change: Callable[[PlacedStatement], PlacedStatement] = lambda each: each,
) -> list[tuple[Pair, EffectReading]]:
    """Read all labelled pairs, and changes behind other earlier statements."""
    pairs = [*labelled_pairs_of(scenes), *other_pairs_of(scenes, 2, 1)]
    placed = [
        (change(pair.scene.placed(pair.earlier)), change(pair.scene.placed(pair.later))) for pair in pairs
    ]
    return list(zip(pairs, reader.effects(placed), strict=True))


def effect_figures(readings: Sequence[tuple[Pair, EffectReading]]) -> EffectFigures:
    """Return the figures of a set of pairs."""
    changes = np.array([reading.closes for pair, reading in readings if pair.effect in CHANGES])
    others = np.array([reading.closes for pair, reading in readings if pair.effect not in CHANGES])
    if not len(changes) or not len(others):
        return EffectFigures(len(changes), len(others), {}, {}, float("nan"))
    thresholds = {f"{rate:.0%}": threshold_for(others, rate) for rate in (0.01, 0.02, 0.05)}
    right = [
        max(EFFECTS, key=reading.effects.__getitem__) == pair.effect
        for pair, reading in readings
        if (pair.later, pair.earlier, pair.effect) in pair.scene.effects
    ]
    closed = {rate: float(np.mean(changes >= threshold)) for rate, threshold in thresholds.items()}
    return EffectFigures(len(changes), len(others), closed, thresholds, _mean(right))


def threshold_for(others: Floats, rate: float) -> float:
    """Return the lowest threshold that at most this share of the others reaches."""
    ordered = np.sort(others)[::-1]
    allowed = int(rate * len(ordered))
    return float(np.nextafter(ordered[min(allowed, len(ordered) - 1)], 2.0))


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95% interval of a share."""
    if not whole:
        return 0.0, 1.0
    z, share = 1.96, part / whole
    centre = share + z * z / (2 * whole)
    reach = z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return (centre - reach) / (1 + z * z / whole), (centre + reach) / (1 + z * z / whole)


def auc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the area under the ROC curve; ties count half."""
    values, right = np.asarray(scores, float), np.asarray(labels, bool)
    if right.all() or not right.any():
        return float("nan")
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positives, negatives = int(right.sum()), int((~right).sum())
    return float((ranks[right].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def word_f1(actual: str, expected: str) -> float:
    """Return the F1 of the words in common, without case and punctuation, as SQuAD counts it."""
    first, second = _bag(actual), _bag(expected)
    common = sum((first & second).values())
    return 2 * common / (first.total() + second.total()) if common else float(not first and not second)


def by_language(scenes: Sequence[Scene]) -> Mapping[str, list[Scene]]:
    """Group scenes by language."""
    groups: dict[str, list[Scene]] = defaultdict(list)
    for scene in scenes:
        groups[scene.language].append(scene)
    return dict(sorted(groups.items()))


def _bag(text: str) -> Counter[str]:
    return Counter(word for each in text.casefold().split() if (word := each.strip(string.punctuation)))


def _f1(expected: Sequence[str], actual: Sequence[str], label: str) -> float:
    both = sum(right == given == label for right, given in zip(expected, actual, strict=True))
    return 2 * both / max(1, expected.count(label) + list(actual).count(label))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
