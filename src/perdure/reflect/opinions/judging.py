"""The trained reader as the judge of opinions: which statements are beliefs, and which say the same or the opposite."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.fact import Fact
from perdure.domain.opinion import EvidenceLabel
from perdure.ports.reader import PlacedStatement, Reader

LEAST = 0.5
"""Probability from which a pair is taken to say the same, or the opposite."""


class ReaderJudge:
    """Judges by the reader, whose errors it passes on."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def beliefs(self, facts: Sequence[Fact]) -> Sequence[float]:
        """Return the probability that each fact states a preference, an opinion or a rule of who says it."""
        readings = self._reader.meanings([PlacedStatement.of(fact) for fact in facts])
        return [reading.meanings["belief"] for reading in readings]

    def labels(self, pairs: Sequence[tuple[str, Fact]]) -> Sequence[EvidenceLabel | None]:
        """Return the label of each (belief, fact): supporting if both say the same, contradicting if the fact ends it."""
        placed = [(PlacedStatement(belief, fact.speaker), PlacedStatement.of(fact)) for belief, fact in pairs]
        readings = self._reader.effects(placed)
        return [_label(reading.effects["same"], reading.closes) for reading in readings]


def _label(same: float, closes: float) -> EvidenceLabel | None:
    if max(same, closes) < LEAST:
        return None
    return EvidenceLabel.SUPPORTING if same > closes else EvidenceLabel.CONTRADICTING
