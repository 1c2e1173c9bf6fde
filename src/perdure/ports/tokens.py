"""Port of token counting, for budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokens(Protocol):
    """Counts tokens as a language model would."""

    @property
    def name(self) -> str:
        """Name of the encoding."""

    def count(self, text: str) -> int:
        """Tokens in the text."""

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens in each text."""

    def cut(self, text: str, limit: int) -> str:
        """The longest beginning of the text that has at most `limit` tokens."""
