"""An operation: work that continues after the call that requested it returned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class OperationStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINISHED = frozenset({OperationStatus.COMPLETED, OperationStatus.FAILED, OperationStatus.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Background work, its progress and its outcome."""

    id: str
    bank: str
    """Empty if the work belongs to no bank."""
    kind: str
    status: OperationStatus = OperationStatus.PENDING
    done: int = 0
    total: int = 0
    error: str | None = None
    result: dict[str, object] | None = None
    document_id: str | None = None
    """The document that all of the work is about, if there is one."""
    next_retry_at: datetime | None = None
    """When the work may begin; None if at once."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def finished(self) -> bool:
        return self.status in FINISHED
