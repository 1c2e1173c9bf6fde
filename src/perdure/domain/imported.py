"""What importers read from other programs, and what an import reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from perdure.domain.fact import FactType
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.errors import InvalidInput

MOST_SKIPPED = 1_000
HINDSIGHT_FIELDS = "perdure."
"""Prefix of metadata in Hindsight's archives that has no field of its own there."""
IMPORTED_DOCUMENT = "imported_document"
"""Kind of the records that hold the digest of an imported document as its source had it, so that a second import is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """A statement that another memory had drawn already; it is stored as worded there."""

    text: str
    type: FactType = FactType.WORLD
    item: int = 0
    """Which item of its document it was drawn from."""
    subject: str = ""
    relation: str = ""
    object: str = ""
    said_at: datetime | None = None
    """When it was said; None where the source does not tell."""
    speaker: str = ""
    occurred: Window | None = None
    valid: Window | None = None
    """While it is true, as the source tells; else from when it was said."""
    entities: tuple[tuple[str, str], ...] = ()
    """(name, type) pairs."""
    tags: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    topic: str | None = None
    context: str = ""
    confidence: float | None = None
    expires_at: datetime | None = None
    causes: tuple[int, ...] = ()
    """Numbers of the facts of the same document that brought it about."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("text", "non-empty text", self.text)
        if bool(self.relation) != bool(self.subject):
            raise InvalidInput("relation", "a relation with its subject, or neither", self.relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDocument:
    """A conversation, a text or a group of ready facts, under an id that is the same in every run."""

    id: str
    items: tuple[Item, ...]
    """Each with the time when it was said, or timeless."""
    facts: tuple[ImportedFact, ...] | None = None
    """What the source drew from it; None where facts are still to be drawn."""
    scope: str = ""
    """The user, project or group that it belongs to in its source; banks may be split by it."""

    def __post_init__(self) -> None:
        if not self.items:
            raise InvalidInput("items", "at least one text", self.id)
        for item in self.items:
            if item.timestamp is None and not item.timeless:
                raise InvalidInput("timestamp", "a time, or a timeless item, so that each run reads the same")

    @property
    def characters(self) -> int:
        """Characters of its texts."""
        return sum(len(item.content) for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedPart:
    """Something of a source that is not imported."""

    path: str
    """The file, and the place in it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far an import is; every document is looked at once before the first is written."""

    stage: str
    """`reading`, then `writing`."""
    documents: int
    total: int | None
    """Documents of the source; None while it is read."""
    document_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or would do."""

    source: str
    banks: tuple[str, ...] = ()
    dry_run: bool = False
    documents: int = 0
    """Documents of the source."""
    turns: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    facts: int = 0
    """New facts."""
    merged: int = 0
    """Statements that memory had already."""
    retired: int = 0
    """Facts whose text is gone from a changed document."""
    earliest: datetime | None = None
    latest: datetime | None = None
    skipped: tuple[SkippedPart, ...] = ()
    """The first `MOST_SKIPPED`; `skipped_total` counts all."""
    skipped_total: int = 0

    def __str__(self) -> str:
        verb = "would import" if self.dry_run else "imported"
        parts = [f"{self.added:,} new", f"{self.updated:,} changed", f"{self.unchanged:,} unchanged"]
        line = f"{verb} {self.documents:,} documents from {self.source} ({', '.join(parts)})"
        if not self.dry_run:
            line += f": {self.facts:,} new facts"
        return line + (f"; {self.skipped_total:,} parts skipped" if self.skipped_total else "")
