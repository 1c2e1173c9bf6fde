"""Word lists written as plain text."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(words.split())


def phrase_set(phrases: str) -> frozenset[str]:
    """The phrases of a text, one a line or parted by semicolons, as a set."""
    lines = phrases.replace("\n", ";").split(";")
    return frozenset(phrase for line in lines if (phrase := " ".join(line.split())))
