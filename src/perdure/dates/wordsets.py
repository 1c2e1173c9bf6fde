"""Sets of words, written as a text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())
