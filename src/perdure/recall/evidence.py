"""Evidence: calibrated probabilities that a recalled fact helps and that the first one answers, and the levels that follow.

A calibration is a logistic regression over named features. `python -m bench.evidence --write` fits them on labelled
questions and writes `calibration.toml` beside this file; docs/evidence.md has the reliability curves.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, log1p

from perdure.domain.recall import Evidence, QuestionSignals, sigmoid
from perdure.errors import InvalidInput

FILE = "calibration.toml"
NAMES = ("reader", "words", "bare")
LEVELS = ("strong", "weak", "floor")
MIN_LATIN = 0.5
"""Share of Latin letters in a question below which the reader, whose vocabulary is English, cannot read it."""
UNREAD = -6.0
"""Log-odds of answering of a candidate that the reader did not read."""
ODDS = (-12.0, 12.0)
FAR = 6.0
"""Bound of the lead of the first candidate, in log-odds."""
RIVALS = 10
"""Candidates behind the first that it is compared with."""
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Weights by feature, and the probabilities at which the levels begin."""

    name: str
    fact: Mapping[str, float]
    """Weights for the probability that a fact helps with the question."""
    answer: Mapping[str, float]
    """Weights for the probability that the first fact answers it."""
    strong: float
    weak: float
    floor: float
    """A fact that is less likely to help does not go into a prompt."""

    def level(self, probability: float) -> Evidence:
        """Return the level of a probability."""
        if probability >= self.strong:
            return Evidence.STRONG
        return Evidence.WEAK if probability >= self.weak else Evidence.NONE


@dataclass(frozen=True, slots=True)
class Calibrations:
    """All calibrations by name."""

    by_name: Mapping[str, Calibration]

    def choose(self, signals: QuestionSignals) -> Calibration:
        """Return the calibration whose signals the recall has.

        `reader` if the reader read a candidate and can read the question's script; otherwise `words`, or `bare` if no
        candidate has a BM25 score.
        """
        if signals.latin >= MIN_LATIN and any(fact.answers is not None for fact in signals.facts):
            return self.by_name["reader"]
        return self.by_name["words" if any(fact.bm25 for fact in signals.facts) else "bare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The probabilities of each judged fact, and of the answer."""

    calibration: Calibration
    relevances: Mapping[str, float]
    """Fact id -> probability that it helps."""
    confidence: float
    """Probability that the first fact answers."""

    @property
    def level(self) -> Evidence:
        """Return the level of the answer."""
        return self.calibration.level(self.confidence)

    @property
    def lowest(self) -> float:
        """Return the lowest relevance, 0 if nothing was judged."""
        return min(self.relevances.values(), default=0.0)


def judge(signals: QuestionSignals, calibration: Calibration, fact_ids: Sequence[str]) -> Judgement:
    """Return the probabilities of the judged facts, whose ids are given in order, and of the answer."""
    if not signals.facts:
        return Judgement(calibration=calibration, relevances={}, confidence=0.0)
    confidence = probability(calibration.answer, answer_features(signals))
    rest = (probability(calibration.fact, fact_features(signals, n)) for n in range(1, len(signals.facts)))
    relevances = dict(zip(fact_ids, (confidence, *rest), strict=True))
    return Judgement(calibration=calibration, relevances=relevances, confidence=confidence)


def probability(weights: Mapping[str, float], features: Features) -> float:
    """Return the sigmoid of the weighted sum; features without a weight do not count."""
    return sigmoid(weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * x for name, x in features.items()))


def fact_features(signals: QuestionSignals, place: int) -> dict[str, float]:
    """Return what speaks for and against the candidate at a place of the ranking."""
    fact, first = signals.facts[place], signals.facts[0]
    return {
        "answers": UNREAD if fact.answers is None else fact.answers,
        "cosine": 10.0 * fact.cosine,
        "bm25": log1p(fact.bm25),
        "covered": fact.covered,
        "behind": min(odds(first.score) - odds(fact.score), FAR),
        "place": log1p(place),
        "names": fact.names if signals.entities else 0.0,
        "nameless": float(not signals.entities),
        "speaker": float(fact.speaker),
        "window": 10.0 * (fact.window - 1.0) if fact.window is not None else 0.0,
        "stale": float(fact.stale),
        "unsure": float(fact.unsure),
        "terms": log1p(signals.terms),
        "uncovered": signals.uncovered,
        "own": float(signals.own),
    }


def answer_features(signals: QuestionSignals) -> dict[str, float]:
    """Return what speaks for and against the first candidate as the answer, among the others."""
    first, rest = signals.facts[0], signals.facts[1 : RIVALS + 1]
    features = fact_features(signals, 0)
    answers = [fact.answers for fact in rest if fact.answers is not None]
    return {
        **features,
        "margin": clamp(odds(first.score) - (odds(rest[0].score) if rest else ODDS[0]), 0.0, FAR),
        "best_rival": max(answers, default=UNREAD),
        "bm25_margin": features["bm25"] - max((log1p(fact.bm25) for fact in rest), default=0.0),
        "covered_margin": features["covered"] - max((fact.covered for fact in rest), default=0.0),
    }


def odds(score: float) -> float:
    """Return the logarithm of the odds of a score from 0 to 1, bounded."""
    return clamp(log(max(score, 1e-9)) - log(max(1.0 - score, 1e-9)), *ODDS)


def clamp(value: float, least: float, most: float) -> float:
    """Return the value, or the bound that it is beyond."""
    return min(max(value, least), most)


@cache
def read_calibrations() -> Calibrations:
    """Return the calibrations of the file beside this module."""
    return parse_calibrations(files("perdure.recall").joinpath(FILE).read_text(encoding="utf-8"))


def parse_calibrations(text: str) -> Calibrations:
    """Parse calibrations from TOML. Raise `InvalidInput` naming what is missing or out of bounds."""
    raw = tomllib.loads(text)
    return Calibrations({name: _calibration(name, raw.get(name)) for name in NAMES})


def _calibration(name: str, raw: object) -> Calibration:
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"calibration.{name}", "a table", raw)
    levels = {level: _probability(f"calibration.{name}.{level}", raw.get(level)) for level in LEVELS}
    if levels["strong"] < levels["weak"]:
        raise InvalidInput(f"calibration.{name}.strong", "a probability not below weak", levels["strong"])
    for part in ("fact", "answer"):
        weights = raw.get(part)
        if not isinstance(weights, Mapping) or not all(isinstance(w, float) for w in weights.values()):
            raise InvalidInput(f"calibration.{name}.{part}", "weights by feature", weights)
    return Calibration(name=name, fact=raw["fact"], answer=raw["answer"], **levels)


def _probability(field: str, value: object) -> float:
    if not isinstance(value, float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(field, "a probability", value)
    return value
