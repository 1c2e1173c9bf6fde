"""Port of consolidation notes: daily, weekly and quarterly summaries kept as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from perdure.domain.fact import Fact
from perdure.domain.time import Window

NOTE_PREFIX = "note:"
"""Begins the ids of facts that stand for a paragraph of a note."""


class Notes(Protocol):
    """Paragraphs of notes, each shown as an observation whose id begins with NOTE_PREFIX."""

    def find(self, bank: str, words: Sequence[str], window: Window | None) -> list[Fact]:
        """Paragraphs that hold a word, those with most words first; only notes of the window's time."""

    def read(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        """The paragraphs of `ids` in that order; unknown ids are left out."""
