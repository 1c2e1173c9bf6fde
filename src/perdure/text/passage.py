"""Passages: what a reranker reads of a fact, alone or after what was said before it."""

from __future__ import annotations

_SEPARATOR = "\x1f"


def join_passage(preceding: str, own: str) -> str:
    """One string that holds both."""
    return f"{preceding}{_SEPARATOR}{own}" if preceding else own


def own_passage(passage: str) -> str:
    """The fact alone."""
    return passage.rpartition(_SEPARATOR)[2]


def full_passage(passage: str) -> str:
    """The fact after what was said before it."""
    return passage.replace(_SEPARATOR, "\n")
