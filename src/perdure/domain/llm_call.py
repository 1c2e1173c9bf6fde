"""A call of a language model, as the request log keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from perdure.domain.record import Record

LLM_CALL = "llm_call"
"""Kind of the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCall:
    """What a language model was asked for, and what came of it."""

    id: str
    at: datetime
    """When it was asked."""
    bank: str
    operation: str
    """retain, reflect or consolidation."""
    model: str
    status: str
    """success or error."""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    error: str | None = None
    request: str | None = None
    """What was sent, where the bank keeps that."""
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
    "operation", "model", "status", "input_tokens", "output_tokens", "seconds", "error", "request", "response",
)  # fmt: skip
