"""Passages: what a reranker reads of a fact, alone or within what was said around it."""

from __future__ import annotations

_SEPARATOR = "\x1f"


def join_passage(full: str, own: str) -> str:
    """One string that holds both views."""
    return f"{full}{_SEPARATOR}{own}" if full and full != own else own


def own_passage(passage: str) -> str:
    """The fact alone."""
    return passage.rpartition(_SEPARATOR)[2]


def full_passage(passage: str) -> str:
    """The fact's turn after the turn before it, verbatim."""
    full, _, own = passage.rpartition(_SEPARATOR)
    return full or own
