"""A call of a language model, and what calls cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from perdure.domain.plain import from_record, to_record
from perdure.domain.record import Record

LLM_CALL = "llm_call"
"""Kind of the records of single calls, which belong to their bank."""
SUCCESS, ERROR = "success", "error"


class LlmOperation(StrEnum):
    """The purpose of a call; models, limits and costs are set and counted by it."""

    RETAIN = "retain"
    REFINE = "refine"
    CONSOLIDATE = "consolidate"
    REFLECT = "reflect"
    MENTAL_MODEL = "mental_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCall:
    """One request to a language model."""

    id: str
    at: datetime
    bank: str
    operation: str
    model: str
    status: str
    """success or error."""
    input_tokens: int = 0
    """As the provider counted them; our own count if it reported none, or the call failed."""
    output_tokens: int = 0
    seconds: float = 0.0
    error: str | None = None
    """Code and reason of a call that failed."""
    prompt: str = ""
    """Name and hash of the prompt."""
    price: float | None = None
    """US dollars; None if the model's price is not known."""
    request: str | None = None
    """The messages as JSON, if the setting `llm_log_texts` is on."""
    response: str | None = None

    def to_record(self) -> Record:
        return to_record(LLM_CALL, self, created_at=self.at)

    @classmethod
    def from_record(cls, record: Record) -> LlmCall:
        return from_record(cls, record, at=record.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCost:
    """The cost of a day's calls for a bank, an operation and a model."""

    day: date
    """In UTC."""
    bank: str
    """Empty for a bank that has been erased."""
    operation: str
    model: str
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    seconds: float
    price: float | None
    """Cost in US dollars of the calls with a known price; None if no price is known."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens
