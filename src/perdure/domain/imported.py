"""Documents that importers read from other programs, and the report of an import."""

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
"""Kind of the records with the digest of an imported document, by which it is recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFact:
    """A statement that another memory extracted; it is stored as worded there."""

    text: str
    type: FactType = FactType.WORLD
    item: int = 0
    """Index of its item in the document."""
    subject: str = ""
    relation: str = ""
    object: str = ""
    said_at: datetime | None = None
    """When it was said; None if the source does not tell."""
    speaker: str = ""
    occurred: Window | None = None
    valid: Window | None = None
    """The period in which it is true, if the source tells; else from when it was said."""
    entities: tuple[tuple[str, str], ...] = ()
    """(name, type) pairs."""
    tags: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    topic: str | None = None
    context: str = ""
    confidence: float | None = None
    expires_at: datetime | None = None
    causes: tuple[int, ...] = ()
    """Indexes of the facts of the same document that caused it."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("text", "non-empty text", self.text)
        if bool(self.relation) != bool(self.subject):
            raise InvalidInput("relation", "a relation with its subject, or neither", self.relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDocument:
    """A conversation, a text or a group of ready facts, with an id that is the same in every run."""

    id: str
    items: tuple[Item, ...]
    """Each with the time when it was said, or timeless."""
    facts: tuple[ImportedFact, ...] | None = None
    """What the source extracted from it; None if facts are still to be extracted."""
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
        return sum(len(item.content) for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedPart:
    """A part of a source that is not imported."""

    path: str
    """The file, and the position in it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """The progress of an import; every document is read once before the first is written."""

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
    turns: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    facts: int = 0
    merged: int = 0
    """Statements that the bank had already."""
    retired: int = 0
    """Facts that a changed document no longer contains."""
    earliest: datetime | None = None
    latest: datetime | None = None
    skipped: tuple[SkippedPart, ...] = ()
    """The first `MOST_SKIPPED`; `skipped_total` counts all."""
    skipped_total: int = 0

    def __str__(self) -> str:
        verb = "would import" if self.dry_run else "imported"
        parts = [f"{self.added:,} new", f"{self.updated:,} changed", f"{self.unchanged:,} unchanged"]
        documents = f"{self.documents:,} document{'' if self.documents == 1 else 's'} from {self.source}"
        line = f"{verb} {documents} into {', '.join(self.banks) or 'no bank'} ({', '.join(parts)})"
        if not self.dry_run:
            line += f": {self.facts:,} new facts"
        return line + (f"; {self.skipped_total:,} parts skipped" if self.skipped_total else "")
