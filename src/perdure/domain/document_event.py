"""The history of a document: changes and their effect on facts and observations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DocumentEventKind(StrEnum):
    RETAIN = "retain"
    APPEND = "append"
    FACT_INVALIDATED = "fact_invalidated"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEvent:
    """One change of a document."""

    document_id: str
    kind: DocumentEventKind
    at: datetime
    fact_id: str | None = None
    """The fact that was invalidated."""
    facts_added: int = 0
    facts_removed: int = 0
    observations_created: tuple[str, ...] = ()
    observations_removed: tuple[str, ...] = ()
