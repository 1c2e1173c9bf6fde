"""Port of consolidation notes: daily, weekly and quarterly summaries kept as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from perdure.domain.fact import Fact
from perdure.domain.time import Window

NOTE_PREFIX = "note:"
"""Prefix of the ids of facts that represent a paragraph of a note."""


class Notes(Protocol):
    """Paragraphs of notes, each shown as an observation whose id begins with NOTE_PREFIX.

    Each line of a generated note is a paragraph, with the facts that it cites as its sources.
    """

    def find(self, bank: str, words: Sequence[str], window: Window | None) -> list[Fact]:
        """Return paragraphs with one of the words, those with most first; only from notes of the window."""

    def read(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        """Return the paragraphs of `ids` in that order, without unknown ids."""


@runtime_checkable
class WritableNotes(Notes, Protocol):
    """Notes that consolidation can write. A note written by hand is never changed."""

    def note_text(self, bank: str, name: str) -> str | None:
        """Return the text of a note, or None if there is none of that name."""

    def write_note(self, bank: str, name: str, text: str) -> bool:
        """Write a generated note; return False if one written by hand has its name."""

    def delete_note(self, bank: str, name: str) -> None:
        """Delete a generated note, its text first."""

    def made_notes(self, bank: str) -> list[str]:
        """Return the names of the generated notes."""
