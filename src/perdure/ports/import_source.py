"""Port of imports: the content of another program, as documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from perdure.domain.imported import ImportedDocument, SkippedPart


class ImportSource(Protocol):
    """A source that can be read repeatedly, each time the same, one document in memory at a time."""

    @property
    def name(self) -> str:
        """Return the kind of source, such as `chatgpt`."""

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        """Yield documents in the order of the source, and skipped parts. `InvalidInput` names a file and a position that cannot be read."""

    def close(self) -> None:
        """Release files."""
