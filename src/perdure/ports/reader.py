"""Port of the model that reads statements in their place: what they answer, mean and change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol, Self

from perdure.domain.fact import Fact

MEANINGS = (
    "fact", "begins", "ended", "corrects", "plan", "wish", "unreal", "denied", "past", "temporary",
    "request", "question", "belief", "reported", "none",
)  # fmt: skip
"""How a statement is meant. Only `fact`, `begins` and `belief` hold from now on."""
ABOUTS = ("speaker", "listener", "other", "thing", "-")
"""Whom a statement is about; `-` for one that says nothing worth keeping."""
EFFECTS = ("ends", "corrects", "same", "adds", "unrelated")
"""What a later statement does to an earlier one."""
NAME_TYPES = ("person", "place", "org", "thing")


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement and where it was said. Everything but the text may be empty."""

    text: str
    speaker: str = ""
    listener: str = ""
    said_at: date | None = None
    before: str = ""
    """The turn before, as `speaker: text`; only its last words are read."""

    @classmethod
    def of(cls, fact: Fact, in_context: str = "") -> Self:
        """Return a fact as the reader sees it; `in_context` is its passage with the turn before."""
        return cls(
            text=fact.text,
            speaker=fact.speaker,
            listener=fact.listener,
            said_at=fact.mentioned_at.date() if fact.mentioned_at is not None else None,
            before=in_context.rpartition("\n")[0],
        )


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """How a statement relates to a question."""

    relevance: float
    """A logit for ranking, comparable between the statements of one question."""
    answers: float
    """The calibrated probability that the statement answers the question."""
    span: tuple[int, int]
    """Character offsets into the text of the words that would answer."""


@dataclass(frozen=True, slots=True)
class Name:
    """A named entity, as character offsets into the text."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class MeaningReading:
    """Calibrated probabilities of how a statement is meant and whom it is about, and the names in it."""

    meanings: Mapping[str, float]
    abouts: Mapping[str, float]
    names: Sequence[Name] = field(default=())

    @property
    def meaning(self) -> str:
        """Return the most probable meaning."""
        return max(self.meanings, key=self.meanings.__getitem__)

    @property
    def about(self) -> str:
        """Return whom the statement is most probably about."""
        return max(self.abouts, key=self.abouts.__getitem__)


@dataclass(frozen=True, slots=True)
class EffectReading:
    """Calibrated probabilities of what a later statement does to an earlier one."""

    effects: Mapping[str, float]

    @property
    def closes(self) -> float:
        """Return the probability that the earlier statement does not hold any more, or never did."""
        return self.effects["ends"] + self.effects["corrects"]


class Reader(Protocol):
    """Reads statements in their place. Any thread may call it; results do not depend on the batch."""

    @property
    def name(self) -> str:
        """Return name and version of the model."""

    def answers(
        self, question: str, asker: str, statements: Sequence[PlacedStatement]
    ) -> Sequence[AnswerReading]:
        """Return one reading per statement. Without an asker, people are expected by name."""

    def meanings(self, statements: Sequence[PlacedStatement]) -> Sequence[MeaningReading]:
        """Return one reading per statement."""

    def effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> Sequence[EffectReading]:
        """Return one reading per pair of an earlier and a later statement."""
