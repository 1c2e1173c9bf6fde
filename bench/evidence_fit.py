"""Fitting evidence: logistic regression with signs that are told beforehand, calibration error, and thresholds that hold a precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEPS = 4000
Bounds = tuple[float, float]
"""Least and most that a weight may be."""
NOTHING = 1e-4
RIDGE = 3.0
"""Weight of the squared weights of standardised features: a prior that a feature says nothing."""


def fit_logistic(
    rows: Sequence[Mapping[str, float]],
    labels: Sequence[bool],
    bounds: Mapping[str, Bounds],
    ridge: float = RIDGE,
) -> dict[str, float]:
    """Feature -> weight, by accelerated projected gradient over standardised features.

    `bounds` names the features and holds their weights, so that the probability is monotone in what must be.
    """
    names = list(bounds)
    raw = np.array([[row[name] for name in names] for row in rows], dtype=float)
    y = np.array(labels, dtype=float)
    mean, spread = raw.mean(axis=0), raw.std(axis=0)
    # A feature that never varies keeps the bound nearest to nothing.
    spread[spread < 1e-9] = 1.0
    x = np.column_stack([np.ones(len(y)), (raw - mean) / spread])
    least = np.array([-np.inf, *(bounds[name][0] * spread[place] for place, name in enumerate(names))])
    most = np.array([np.inf, *(bounds[name][1] * spread[place] for place, name in enumerate(names))])
    penalty = np.array([0.0] + [ridge] * len(names))
    step = 1.0 / (0.25 * float(np.linalg.eigvalsh(x.T @ x)[-1]) + ridge)
    theta = np.clip(np.zeros(x.shape[1]), least, most)
    ahead, momentum = theta.copy(), 1.0
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ ahead, -40, 40)))
        stepped = np.clip(ahead - step * (x.T @ (p - y) + penalty * ahead), least, most)
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = stepped + (momentum - 1.0) / following * (stepped - theta)
        theta, momentum = stepped, following
    scaled = theta[1:] / spread
    weights = {"bias": float(theta[0] - (scaled * mean).sum())}
    return weights | {name: float(w) for name, w in zip(names, scaled, strict=True) if abs(w) > NOTHING}


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about the same probability."""

    count: int
    told: float
    """Mean probability."""
    came_true: float

    @property
    def tenth(self) -> int:
        """Which tenth it is, of ten bins."""
        return min(int(self.told * 10.0), 9)


def reliability(probabilities: Sequence[float], outcomes: Sequence[bool], bins: int = 10) -> list[Bin]:
    """Equal bins of the probability, those that are empty left out."""
    told, came = np.array(probabilities, dtype=float), np.array(outcomes, dtype=float)
    place = np.minimum((told * bins).astype(int), bins - 1)
    return [
        Bin(int((place == n).sum()), float(told[place == n].mean()), float(came[place == n].mean()))
        for n in range(bins)
        if (place == n).any()
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error (Guo et al. 2017): the mean distance between told and come true, by the bins' counts."""
    total = sum(one.count for one in bins)
    return sum(one.count * abs(one.told - one.came_true) for one in bins) / total if total else 0.0


def threshold_of_share(probabilities: Sequence[float], below: float) -> float:
    """The probability below which that share of them lies; 0 where there are none."""
    if not len(probabilities):
        return 0.0
    ordered = np.sort(np.array(probabilities, dtype=float))
    place = min(int(np.ceil(below * len(ordered))), len(ordered) - 1)
    return float(ordered[place])


def threshold_for(
    probabilities: Sequence[float], outcomes: Sequence[bool], precision: float, least: int = 20
) -> float:
    """The lowest probability from which on at least that share came true; 1 where there is none with so many answers."""
    order = np.argsort(-np.array(probabilities, dtype=float), kind="stable")
    told, came = np.array(probabilities)[order], np.array(outcomes, dtype=float)[order]
    shares = np.cumsum(came) / np.arange(1, len(came) + 1)
    good = [n for n in range(len(told)) if n + 1 >= least and shares[n] >= precision]
    return float(told[good[-1]]) if good else 1.0
