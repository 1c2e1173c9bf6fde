"""Port of models that read a query and a passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from perdure.ports.embedder import Vector


class Reranker(Protocol):
    """Scores how well each passage answers the query. Any thread may call it, several at once."""

    @property
    def name(self) -> str:
        """Name of the model."""

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        """Raw logits, one per passage, in order; callers put them through the sigmoid."""
