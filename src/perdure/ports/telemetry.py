"""Port of telemetry: what was done with a memory, told while it is done. Without one nothing is told, and nothing costs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from perdure.ports.llm import TokenUsage


class MemoryOperation(Enum):
    """What is done; telemetry has its own names for these."""

    RETAIN = "retain"
    UPDATE = "update"
    RECALL = "recall"
    REFLECT = "reflect"
    FORGET = "forget"
    FORGET_BANK = "forget bank"
    CREATE_BANK = "create bank"


@dataclass(frozen=True, slots=True)
class RecordText:
    """A record with its content, for those who asked for content."""

    id: str
    content: str
    score: float | None = None


class Observed(Protocol):
    """An operation under way."""

    def records(self, count: int, texts: Iterable[RecordText] = ()) -> None:
        """How many records came of it; `texts` are looked at only where content is asked for."""

    def usage(self, model: str, usage: TokenUsage) -> None:
        """What a call of a language model took, and which model answered."""


class Telemetry(Protocol):
    """Is told of operations; never raises, whatever becomes of what it is told."""

    def memory(
        self, operation: MemoryOperation, bank: str, *, record_id: str | None = None, query: str | None = None
    ) -> AbstractContextManager[Observed]:
        """The block is an operation on a bank; an error that leaves it is told and goes on."""

    def model(self, model: str) -> AbstractContextManager[Observed]:
        """The block is a call of a language model."""


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
