"""What happened to a document: one change and its effect on the facts and observations made from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DocumentEventKind(StrEnum):
    """What changed."""

    RETAIN = "retain"
    APPEND = "append"
    FACT_INVALIDATED = "fact_invalidated"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEvent:
    """One change."""

    document_id: str
    kind: DocumentEventKind
    at: datetime
    fact_id: str | None = None
    """The fact that a person declared wrong."""
    facts_added: int = 0
    facts_removed: int = 0
    observations_created: tuple[str, ...] = ()
    observations_removed: tuple[str, ...] = ()
