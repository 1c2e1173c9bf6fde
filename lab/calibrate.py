"""Calibrate the heads of an exported reader on the development set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.evaluate import read_pairs, read_questions
from lab.examples import statements_of
from lab.scenes import Scene
from perdure.models.reader import OnnxReader
from perdure.ports.reader import ABOUTS, EFFECTS, MEANINGS

Floats = NDArray[np.float64]
_STEPS, _RATE = 400, 0.05
_QUESTIONS = 250
"""How many questions are enough for a scale and a bias."""


class Calibration(NamedTuple):
    """What the logits of a head are multiplied by, and what is added."""

    scale: float
    bias: tuple[float, ...]


IDENTITY = {
    head: Calibration(1.0, (0.0,) * classes)
    for head, classes in (
        ("answers", 2),
        ("meaning", len(MEANINGS)),
        ("about", len(ABOUTS)),
        ("effect", len(EFFECTS)),
    )
}


def calibrations(folder: Path, scenes: Sequence[Scene]) -> dict[str, Calibration]:
    """Return the calibration of each head; the reader in the folder must have none (`IDENTITY`) yet."""
    reader = OnnxReader(folder)
    rows, right = [], []
    step = max(1, sum(len(scene.questions) for scene in scenes) // _QUESTIONS)
    fewer = [replace(scene, questions=scene.questions[::step]) for scene in scenes]
    for reading in read_questions(reader, fewer):
        answering = {answer.index for answer in reading.asked.answers}
        for row, each in zip(reading.rows, reading.readings, strict=True):
            rows.append([1 - each.answers, each.answers])
            right.append(int(row in answering))
    items = statements_of(scenes)
    meanings = reader.meanings([scene.placed(index) for scene, index in items])
    said = [scene.statements[index] for scene, index in items]
    pairs = read_pairs(reader, scenes)
    return {
        "answers": _fit(rows, right, with_bias=True),
        "meaning": _fit(
            [list(each.meanings.values()) for each in meanings], [MEANINGS.index(s.meaning) for s in said]
        ),
        "about": _fit(
            [list(each.abouts.values()) for each in meanings], [ABOUTS.index(s.about) for s in said]
        ),
        "effect": _fit(
            [list(reading.effects.values()) for _, reading in pairs],
            [EFFECTS.index(pair.effect) for pair, _ in pairs],
        ),
    }


def _fit(
    probabilities: Sequence[Sequence[float]], labels: Sequence[int], *, with_bias: bool = False
) -> Calibration:
    """Fit a scale, and a bias if asked, by gradient descent on the log loss."""
    logits = np.log(np.clip(np.array(probabilities, float), 1e-12, None))
    logits -= logits[:, :1]
    targets = np.eye(logits.shape[1])[labels]
    scale, bias = 1.0, np.zeros(logits.shape[1])
    for _ in range(_STEPS):
        difference = _softmax(logits * scale + bias) - targets
        scale -= _RATE * float((difference * logits).sum(axis=1).mean())
        if with_bias:
            bias -= 4 * _RATE * difference.mean(axis=0)
    return Calibration(scale, tuple(float(value - bias[0]) for value in bias))


def _softmax(logits: Floats) -> Floats:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = exponents / exponents.sum(axis=1, keepdims=True)
    return shares
