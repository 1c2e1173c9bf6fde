"""Port of models that score a query and a passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from perdure.ports.embedder import Vector


class Reranker(Protocol):
    """Scores how well each passage answers the query. Any thread may call it, several at once."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        """Return raw logits, one per passage, in order; callers apply the sigmoid."""
