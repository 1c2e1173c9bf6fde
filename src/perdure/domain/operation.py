"""An operation: work that goes on after the call that asked for it returned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class OperationStatus(StrEnum):
    """Where an operation stands."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINISHED = frozenset({OperationStatus.COMPLETED, OperationStatus.FAILED, OperationStatus.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Background work, its progress and how it ended."""

    id: str
    bank: str
    """Empty where the work belongs to no bank."""
    kind: str
    status: OperationStatus = OperationStatus.PENDING
    done: int = 0
    total: int = 0
    error: str | None = None
    result: dict[str, object] | None = None
    document_id: str | None = None
    """The document that all of the work is about, where there is one."""
    next_retry_at: datetime | None = None
    """The moment before which the work does not begin; None when it may at once."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in FINISHED
