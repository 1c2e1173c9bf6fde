"""A question that memory asks its user: two values of one thing that nothing decides between."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

QUESTION_RECORD = "question"
"""Kind of the records of questions, which name facts by id and quote none."""
BOTH = "both"
"""The answer that keeps all values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOption:
    """One of the values, with its speaker and time."""

    fact_id: str
    value: str
    text: str
    speaker: str = ""
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An undecided conflict, or its answer."""

    id: str
    bank: str
    subject: str
    relation: str
    options: tuple[QuestionOption, ...]
    asked_at: datetime | None = None
    answer: str | None = None
    """`both`, or the id of the chosen fact; None while the question is open."""
    answered_at: datetime | None = None

    @property
    def text(self) -> str:
        """Return the question in words."""
        values = " or ".join(dict.fromkeys(_told(option) for option in self.options))
        return f"{self.subject}, {self.relation.replace('_', ' ')}: {values}?"


def _told(option: QuestionOption) -> str:
    said = f"{option.said_at:%Y-%m-%d}" if option.said_at is not None else ""
    source = ", ".join(filter(None, (option.speaker, said)))
    return f"{option.value} ({source})" if source else option.value
