"""Port of token counting, for budgets."""

from __future__ import annotations

from typing import Protocol


class Tokens(Protocol):
    """Counts tokens as a language model would."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def cut(self, text: str, limit: int) -> str:
        """Return the longest beginning of the text with at most `limit` tokens."""
