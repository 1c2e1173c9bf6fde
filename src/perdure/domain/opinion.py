"""An opinion: what the bank believes, with what confidence, and the evidence for it.

Confidence is never stored. It is the fold of an append-only log of evidence in time order, with the formulas
of Hindsight's CARA; what does not count at the moment asked for is left out of the fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from perdure.domain.time import AsOf
from perdure.errors import InvalidInput

STANDS_ALONE = 0.6
"""Strength from which a single fact makes a belief; weaker ones need a second statement."""
SURE_FROM = 0.5
"""Confidence from which a belief is worded plainly."""
RESERVED_FROM = 0.25
"""Confidence from which it is worded with reservations; below, as unsure."""
RATE_SETTINGS = {"alpha": "opinion_alpha", "delta": "opinion_delta", "gamma": "opinion_gamma"}
"""Rate -> the bank's setting that changes it."""
_LOWERED = frozenset({"The", "A", "An", "It", "This", "That", "These", "Those", "There"})


class EvidenceLabel(StrEnum):
    """What a fact says about a belief."""

    SUPPORTING = "supporting"
    WEAK = "weak"
    CONTRADICTING = "contradicting"


class Polarity(StrEnum):
    """Whether a belief affirms its topic or denies it."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceRates:
    """How much evidence changes a confidence; a bank may set its own."""

    alpha: float = 0.2
    delta: float = 0.1
    gamma: float = 0.5

    def __post_init__(self) -> None:
        for name, setting in RATE_SETTINGS.items():
            rate = getattr(self, name)
            if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 <= rate <= 1.0:
                raise InvalidInput(setting, "a number from 0 to 1", rate)


def read_rates(settings: Mapping[str, object]) -> ConfidenceRates:
    """Return the rates in a bank's settings, with defaults for missing ones."""
    rates = {name: settings[key] for name, key in RATE_SETTINGS.items() if settings.get(key) is not None}
    return ConfidenceRates(**rates)  # type: ignore[arg-type]  # checked by the class itself


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionEvidence:
    """A row of an opinion's log: what a fact says about the belief, how strongly, and when it was said."""

    opinion_id: str
    fact_id: str
    label: EvidenceLabel
    strength: float
    """The confidence that the fact's own words give the belief; c0 in the row that begins a belief."""
    at: datetime
    labelled_by: str = ""
    """The version of the prompt with which a language model gave the label; empty for rules."""


def supported(c: float, alpha: float) -> float:
    """Return c + alpha (1 - c): support closes a share of the distance to certainty (Hindsight, CARA)."""
    return c + alpha * (1.0 - c)


def weakened(c: float, delta: float) -> float:
    """Return c - delta c: weak evidence removes a share of the confidence (Hindsight, CARA)."""
    return c - delta * c


def contradicted(c: float, gamma: float) -> float:
    """Return c gamma: a contradiction leaves a share of the confidence (Hindsight, CARA)."""
    return c * gamma


def moved(c: float, label: EvidenceLabel, rates: ConfidenceRates) -> float:
    """Return the confidence after one row of evidence."""
    match label:
        case EvidenceLabel.SUPPORTING:
            return supported(c, rates.alpha)
        case EvidenceLabel.WEAK:
            return weakened(c, rates.delta)
        case EvidenceLabel.CONTRADICTING:
            return contradicted(c, rates.gamma)


def beginning(evidence: Sequence[OpinionEvidence]) -> OpinionEvidence | None:
    """Return the row that begins a belief: the first support that stands alone, or the first of two.

    None if the evidence makes no belief. More evidence never unmakes one. This rule is Perdure's own.
    """
    supports = [row for row in evidence if row.label is EvidenceLabel.SUPPORTING]
    alone = next((row for row in supports if row.strength >= STANDS_ALONE), None)
    if alone is not None:
        return alone
    return supports[0] if len(supports) > 1 else None


def fold(evidence: Sequence[OpinionEvidence], rates: ConfidenceRates) -> float | None:
    """Return c0 of the row that begins the belief, moved by every other row of evidence in time order.

    Statements before the belief began count too. None if the evidence makes no belief.
    """
    first = beginning(evidence)
    if first is None:
        return None
    c = first.strength
    for row in evidence:
        if row is not first:
            c = moved(c, row.label, rates)
    return c


def confidence_curve(
    evidence: Sequence[OpinionEvidence], rates: ConfidenceRates
) -> list[tuple[datetime, float]]:
    """Return (time, confidence) after each row, from the one that makes the belief."""
    steps = ((row.at, fold(evidence[: place + 1], rates)) for place, row in enumerate(evidence))
    return [(at, c) for at, c in steps if c is not None]


def toned(statement: str, confidence: float) -> str:
    """Return a statement as confidently as it is believed: "X, with reservations", "Unsure whether X"."""
    if confidence >= SURE_FROM:
        return statement
    bare = statement.rstrip(".")
    if confidence >= RESERVED_FROM:
        return f"{bare}, with reservations"
    first, _, rest = bare.partition(" ")
    return f"Unsure whether {first.lower() if first in _LOWERED else first} {rest}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A belief of the bank at a moment, with the evidence that counted then."""

    id: str
    bank: str
    statement: str
    subject: str
    entity_id: str | None
    """The entity that the subject names, if there is one."""
    polarity: Polarity
    c0: float
    """The confidence with which it began."""
    confidence: float
    evidence: tuple[OpinionEvidence, ...]
    """What counts, in time order."""
    left_out: tuple[OpinionEvidence, ...] = ()
    """Rows that do not count at the moment: their facts were taken back, ended, or came later."""
    as_of: AsOf = field(default_factory=AsOf)
    rates: ConfidenceRates = field(default_factory=ConfidenceRates)

    @property
    def text(self) -> str:
        """Return the statement, worded as confidently as it is believed."""
        return toned(self.statement, self.confidence)

    @property
    def formed_at(self) -> datetime:
        """Return when the evidence that counts first made the belief."""
        return self.curve()[0][0]

    def curve(self) -> list[tuple[datetime, float]]:
        """Return (time, confidence) after each piece of evidence that counts."""
        return confidence_curve(self.evidence, self.rates)

    def __str__(self) -> str:
        return f"{self.text} (c = {self.confidence:.2f})"
