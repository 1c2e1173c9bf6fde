"""A request to a language model, and what requests cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

LLM_CALL = "llm_call"
"""Kind of the records of single calls, which belong to their bank."""


class CallStatus(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCall:
    """One request that was sent to a language model."""

    id: str
    at: datetime
    bank: str
    operation: str
    model: str
    status: CallStatus
    input_tokens: int
    """As the provider counted them; counted by us where it did not, and for a call that failed."""
    output_tokens: int
    seconds: float
    error: str = ""
    """Code and reason of a call that failed."""
    prompt: str = ""
    """Name and hash of the prompt."""
    price: float | None = None
    """US dollars; None where the model's price is not known."""
    request: str | None = None
    """The messages as JSON, where the setting `llm_log_texts` is on."""
    response: str | None = None


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
