"""Evidence: calibrated probabilities that a recalled fact helps and that the first one answers, and the levels that follow.

A calibration is a logistic regression over named features. `python -m bench.evidence --write` fits them on labelled questions and writes
`calibration.toml` beside this file; docs/evidence.md has the reliability curves.
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
NAMES = ("cross", "late", "words", "bare")
LEVELS = ("strong", "weak", "floor")
MIN_LATIN = 0.5
"""Share of Latin letters in a question below which the English models' figures mean nothing."""
LOGITS = (-11.0, 10.0)
"""Where the cross-encoder's logits end."""
HIGH_LOGIT = 4.0
"""From here on a logit says more."""
ODDS = (-12.0, 12.0)
FAR = 6.0
"""Odds by which the first candidate is ahead at most."""
BACKGROUND = 5
"""From this place on, candidates hardly ever answer."""
RIVALS = 10
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Weights by feature, and the probabilities at which the levels begin."""

    name: str
    fact: Mapping[str, float]
    """That a fact helps with the question."""
    answer: Mapping[str, float]
    """That the first fact answers it."""
    strong: float
    weak: float
    floor: float
    """A fact that is less likely to help does not go into a prompt."""

    def level(self, probability: float) -> Evidence:
        """The level that a probability has."""
        if probability >= self.strong:
            return Evidence.STRONG
        return Evidence.WEAK if probability >= self.weak else Evidence.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """All calibrations, and the models whose figures they are made for."""

    reranker: str
    embedder: str
    by_name: Mapping[str, Calibration]

    def choose(self, signals: QuestionSignals, reranker: str | None, embedder: str | None) -> Calibration:
        """The one whose signals the recall has.

        `cross` where the cross-encoder read the first candidates, `late` where late interaction did; `words` where neither did, where
        other models did, and where the question is in a script that the models cannot read; `bare` where BM25 is missing as well.
        """
        first = signals.facts[:1]
        if signals.latin >= MIN_LATIN and embedder == self.embedder:
            if reranker == self.reranker and any(fact.logit is not None for fact in first):
                return self.by_name["cross"]
            if any(fact.late is not None for fact in first):
                return self.by_name["late"]
        return self.by_name["words" if any(fact.bm25 for fact in signals.facts) else "bare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the evidence is worth: of each judged fact, and of the answer."""

    calibration: Calibration
    relevances: Mapping[str, float]
    """Fact id -> probability that it helps."""
    confidence: float
    """Probability that the first fact answers."""

    @property
    def level(self) -> Evidence:
        """The level of the answer."""
        return self.calibration.level(self.confidence)

    @property
    def lowest(self) -> float:
        """The lowest relevance, 0 where nothing was judged."""
        return min(self.relevances.values(), default=0.0)


def judge(signals: QuestionSignals, calibration: Calibration, fact_ids: Sequence[str]) -> Judgement:
    """The probabilities of the judged facts, whose ids are given in order, and of the answer."""
    if not signals.facts:
        return Judgement(calibration=calibration, relevances={}, confidence=0.0)
    confidence = probability(calibration.answer, answer_features(signals))
    rest = (probability(calibration.fact, fact_features(signals, n)) for n in range(1, len(signals.facts)))
    relevances = dict(zip(fact_ids, (confidence, *rest), strict=True))
    return Judgement(calibration=calibration, relevances=relevances, confidence=confidence)


def probability(weights: Mapping[str, float], features: Features) -> float:
    """Logistic regression: the sigmoid of the weighted sum; features without a weight do not count."""
    return sigmoid(weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * x for name, x in features.items()))


def fact_features(signals: QuestionSignals, place: int) -> dict[str, float]:
    """What speaks for and against the candidate at a place of the answer."""
    fact, first = signals.facts[place], signals.facts[0]
    weakest = min((one.logit for one in signals.facts if one.logit is not None), default=LOGITS[0])
    logit = clamp(weakest if fact.logit is None else fact.logit, *LOGITS)
    return {
        "logit": logit,
        "high_logit": max(0.0, logit - HIGH_LOGIT),
        "unread": float(fact.logit is None),
        "late": 10.0 * (fact.late or 0.0),
        "cosine": 10.0 * (fact.cosine or 0.0),
        "nearby": 10.0 * (fact.nearby or 0.0),
        "unseen_cosine": float(fact.cosine is None),
        "bm25": log1p(fact.bm25),
        "covered": fact.covered,
        "covered_all": float(fact.covered >= 1.0),
        "channels": float(fact.channels),
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
    """What speaks for and against the first candidate as the answer, among the others."""
    first, rest = signals.facts[0], signals.facts[1:]
    features = fact_features(signals, 0)
    logits = [one.logit for one in rest if one.logit is not None]
    logit_margin = features["logit"] - max(logits) if logits and first.logit is not None else 0.0
    late_margin = (first.late or 0.0) - max((one.late or 0.0 for one in rest), default=0.0)
    return {
        **features,
        "margin": clamp(odds(first.score) - (odds(rest[0].score) if rest else ODDS[0]), 0.0, FAR),
        "logit_margin": clamp(logit_margin, -FAR, FAR),
        "late_margin": clamp(10.0 * late_margin, -3.0, 3.0),
        "late_lead": 10.0 * lead([one.late for one in signals.facts]),
        "cosine_lead": 10.0 * lead([one.cosine for one in signals.facts]),
        "bm25_margin": features["bm25"] - max((log1p(one.bm25) for one in rest[:RIVALS]), default=0.0),
        "covered_margin": features["covered"] - max((one.covered for one in rest[:RIVALS]), default=0.0),
    }


def lead(values: Sequence[float | None]) -> float:
    """How far the first value stands above the mean of the background, which has no answer; 0 where either is missing."""
    background = [value for value in values[BACKGROUND:] if value is not None]
    first = values[0] if values else None
    return first - sum(background) / len(background) if first is not None and background else 0.0


def odds(score: float) -> float:
    """The logarithm of the odds of a score from 0 to 1, bounded."""
    return clamp(log(max(score, 1e-9)) - log(max(1.0 - score, 1e-9)), *ODDS)


def clamp(value: float, least: float, most: float) -> float:
    """The value, or the bound that it is beyond."""
    return min(max(value, least), most)


@cache
def read_calibrations() -> Calibrations:
    """The calibrations of the file beside this module."""
    return parse_calibrations(files("perdure.recall").joinpath(FILE).read_text(encoding="utf-8"))


def parse_calibrations(text: str) -> Calibrations:
    """Calibrations from TOML; InvalidInput names what is missing or out of bounds."""
    raw = tomllib.loads(text)
    by_name = {name: _calibration(name, raw.get(name)) for name in NAMES}
    for field in ("reranker", "embedder"):
        if not isinstance(raw.get(field), str):
            raise InvalidInput(f"calibration.{field}", "the name of a model", raw.get(field))
    return Calibrations(reranker=raw["reranker"], embedder=raw["embedder"], by_name=by_name)


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
