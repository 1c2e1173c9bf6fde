"""A request to a language model, and what requests cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

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
    """One request that was sent to a language model."""

    id: str
    at: datetime
    """When it was sent."""
    bank: str
    operation: str
    model: str
    status: str
    """success or error."""
    input_tokens: int = 0
    """As the provider counted them; counted by us where it did not, and for a call that failed."""
    output_tokens: int = 0
    seconds: float = 0.0
    error: str | None = None
    """Code and reason of a call that failed."""
    prompt: str = ""
    """Name and hash of the prompt."""
    price: float | None = None
    """US dollars; None where the model's price is not known."""
    request: str | None = None
    """The messages as JSON, where the setting `llm_log_texts` is on."""
    response: str | None = None

    def to_record(self) -> Record:
        """The call as it is stored."""
        body = {name: getattr(self, name) for name in _PLAIN}
        return Record(kind=LLM_CALL, id=self.id, bank=self.bank, body=body, created_at=self.at)

    @classmethod
    def from_record(cls, record: Record) -> LlmCall:
        """A call from its record."""
        body: Mapping[str, Any] = record.body
        assert record.created_at is not None
        return cls(
            id=record.id, at=record.created_at, bank=record.bank, **{name: body[name] for name in _PLAIN}
        )


_PLAIN = (
    "operation", "model", "status", "input_tokens", "output_tokens", "seconds", "error", "prompt", "price", "request",
    "response",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCost:
    """What the calls of a day came to, for a bank, an operation and a model."""

    day: date
    """In UTC."""
    bank: str
    """Empty for a bank that was erased since."""
    operation: str
    model: str
    calls: int
    failed: int
    """How many of the calls failed."""
    input_tokens: int
    output_tokens: int
    seconds: float
    price: float | None
    """US dollars of the calls whose price is known; None where that is none of them."""

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens
