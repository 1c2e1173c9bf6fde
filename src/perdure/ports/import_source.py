"""Port of imports: the content of another program, as documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from perdure.domain.imported import ImportedDocument, SkippedPart


class ImportSource(Protocol):
    """A source that can be read repeatedly, each time the same, one document in memory at a time."""

    @property
    def name(self) -> str:
        """Return the kind of source, such as `chatgpt`."""

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        """Yield documents in order, and skipped parts. `InvalidInput` names a place that cannot be read."""

    def close(self) -> None:
        """Release files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReading:
    """One document: its items in the form that retain takes, and where it was read."""

    name: str
    """For messages: a file, or a conversation in it."""
    items: tuple[dict[str, Any], ...]

    @property
    def characters(self) -> int:
        return sum(len(item["content"]) for item in self.items)

    def filled(self, defaults: dict[str, Any]) -> ChatReading:
        """Return the document with `defaults` for the fields that its items leave open."""
        return replace(self, items=tuple({**defaults, **item} for item in self.items))
