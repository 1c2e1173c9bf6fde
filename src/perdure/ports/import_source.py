"""Port of imports: what another program keeps, as documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from perdure.domain.imported import ImportedDocument, SkippedPart


class ImportSource(Protocol):
    """A source that can be read again and again, each time the same, one document in memory at a time."""

    @property
    def name(self) -> str:
        """The source, such as `chatgpt`."""

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        """Documents in the order of the source, and what of it is left out; InvalidInput names a file and a place that cannot be read."""

    def close(self) -> None:
        """Release files."""
