"""Port of the model that reads which slot a sentence states, how it is meant and of whom it speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

NO_SLOT = "none"
"""The slot, and the aspect, of a sentence that states no lasting value."""
HOLDS, BEGINS, ENDS, CORRECTS = "holds", "begins", "ends", "corrects"
"""Aspects of a value: it is so, it came to be so, it is over, it was said wrongly before."""
ALSO = "also"
"""Aspect of a value that stands beside others."""
UNREAL_ASPECTS = ("denied", "past", "plan", "question", "temporary", "unreal", "wish")
"""Aspects of what is not so now, or only for a while."""

SELF, WE, OTHER, THING = "self", "we", "other", "thing"
"""Of whom a sentence speaks: the speaker, the speaker and others, somebody else, a thing."""


@dataclass(frozen=True, slots=True)
class StatementReading:
    """Probabilities of a sentence's slot, aspect and subject; each sums to 1."""

    slots: Mapping[str, float]
    aspects: Mapping[str, float]
    subjects: Mapping[str, float]


class StatementClassifier(Protocol):
    """Sentences to readings. Any thread may call it, several at once."""

    def classify(self, texts: Sequence[str]) -> list[StatementReading]:
        """Return one reading per text, in their order, the same for the same text."""
