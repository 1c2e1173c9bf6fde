"""Port of consolidation notes: daily, weekly and quarterly summaries kept as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from perdure.domain.fact import Fact
from perdure.domain.time import Window

NOTE_PREFIX = "note:"
"""Begins the ids of facts that stand for a paragraph of a note."""


class Notes(Protocol):
    """Paragraphs of notes, each shown as an observation whose id begins with NOTE_PREFIX.

    A line of a note that was made from memory is one of its own, with the facts that it tells of as its sources.
    """

    def find(self, bank: str, words: Sequence[str], window: Window | None) -> list[Fact]:
        """Paragraphs that hold a word, those with most words first; only notes of the window's time."""

    def read(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        """The paragraphs of `ids` in that order; unknown ids are left out."""


@runtime_checkable
class WritableNotes(Notes, Protocol):
    """Notes that consolidation can write. A note that somebody wrote by hand is never changed."""

    def note_text(self, bank: str, name: str) -> str | None:
        """The text of a note, None when there is none of that name."""

    def write_note(self, bank: str, name: str, text: str) -> bool:
        """Write a note that was made from memory; False when one that was written by hand stands there."""

    def delete_note(self, bank: str, name: str) -> None:
        """Delete a note that was made from memory, its text first."""

    def made_notes(self, bank: str) -> list[str]:
        """Names of the notes that were made from memory."""
