"""The trained reader as the judge of opinions: which statements are beliefs, and which say the same or the opposite."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from perdure.domain.fact import Fact
from perdure.domain.opinion import EvidenceLabel
from perdure.errors import ModelError, public_message
from perdure.ports.reader import PlacedStatement, Reader

log = logging.getLogger(__name__)
LEAST = 0.5
"""Probability from which on a pair is taken to say the same, or the opposite."""


class ReaderJudge:
    """Judges by the reader; if it fails, nothing is judged and a warning is logged."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def beliefs(self, facts: Sequence[Fact]) -> Sequence[float]:
        """Return the probability that each fact states a preference, an opinion or a rule of who says it."""
        try:
            readings = self._reader.meanings([PlacedStatement.of(fact) for fact in facts])
        except ModelError as error:
            log.warning("beliefs were not judged: %s", public_message(error))
            return [0.0] * len(facts)
        return [reading.meanings["belief"] for reading in readings]

    def labels(self, pairs: Sequence[tuple[str, Fact]]) -> Sequence[EvidenceLabel | None]:
        """Return the label of each (belief, fact): supporting where both say the same, contradicting where the fact ends it."""
        placed = [(PlacedStatement(belief, fact.speaker), PlacedStatement.of(fact)) for belief, fact in pairs]
        try:
            readings = self._reader.effects(placed)
        except ModelError as error:
            log.warning("evidence was not judged: %s", public_message(error))
            return [None] * len(pairs)
        return [_label(reading.effects["same"], reading.closes) for reading in readings]


def _label(same: float, closes: float) -> EvidenceLabel | None:
    if max(same, closes) < LEAST:
        return None
    return EvidenceLabel.SUPPORTING if same > closes else EvidenceLabel.CONTRADICTING
