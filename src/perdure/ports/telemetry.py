"""Port of telemetry: operations on a memory, reported while they run."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from perdure.ports.llm import TokenUsage


class MemoryOperation(Enum):
    """An operation; telemetry has its own names for these."""

    RETAIN = "retain"
    UPDATE = "update"
    RECALL = "recall"
    REFLECT = "reflect"
    FORGET = "forget"
    FORGET_BANK = "forget bank"
    CREATE_BANK = "create bank"


@dataclass(frozen=True, slots=True)
class RecordText:
    """A record with its content, reported only if content is enabled."""

    id: str
    content: str
    score: float | None = None


class Observed(Protocol):
    """An operation under way."""

    def records(self, count: int, texts: Iterable[RecordText] = ()) -> None:
        """Report the number of records that resulted; `texts` are read only if content is enabled."""

    def usage(self, model: str, usage: TokenUsage) -> None:
        """Report the tokens of a call of a language model, and which model answered."""


class Telemetry(Protocol):
    """Receives operations; never raises."""

    def memory(
        self, operation: MemoryOperation, bank: str, *, record_id: str | None = None, query: str | None = None
    ) -> AbstractContextManager[Observed]:
        """Report the block as an operation on a bank, with the error that leaves it."""

    def model(self, model: str) -> AbstractContextManager[Observed]:
        """Report the block as a call of a language model."""


def observed(
    telemetry: Telemetry | None,
    operation: MemoryOperation,
    bank: str,
    *,
    record_id: str | None = None,
    query: str | None = None,
) -> AbstractContextManager[Observed | None]:
    """Report the block as an operation on a bank, if there is telemetry."""
    if telemetry is None:
        return nullcontext()
    return telemetry.memory(operation, bank, record_id=record_id, query=query)
