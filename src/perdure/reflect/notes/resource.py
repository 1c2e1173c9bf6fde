"""The notes of a bank: Markdown files that are made from its memory."""

from __future__ import annotations

from perdure.domain.bank import check_bank_id
from perdure.domain.note import Note, check_note_name, newest_first, read_note
from perdure.domain.verb import READ, verb
from perdure.errors import NotFound
from perdure.reflect.components import ReflectComponents
from perdure.reflect.notes.write import writable_notes


class MemoryNotes:
    """The notes of a memory: `memory.notes`."""

    def __init__(self, components: ReflectComponents) -> None:
        self._store = components.store
        self._notes = writable_notes(components)

    @verb(READ)
    def get(self, bank: str, name: str) -> Note:
        """Return a note, such as `daily/2026-11-16`, without lines whose facts are gone or were invalidated since."""
        check_bank_id(bank)
        text = None if self._notes is None else self._notes.note_text(bank, check_note_name(name))
        if text is None:
            raise NotFound("note", check_note_name(name))
        note = read_note(bank, name, text)
        with self._store.reading(bank) as reading:
            believed = {fact.id for fact in reading.facts(list(note.fact_ids)) if fact.retired_at is None}
        kept = tuple(
            (heading, tuple(line for line in lines if believed.issuperset(line.fact_ids)))
            for heading, lines in note.sections
        )
        sections = tuple((heading, lines) for heading, lines in kept if lines)
        return Note(bank=bank, name=name, sections=sections)

    @verb(READ)
    def list(self, bank: str, period: str | None = None) -> list[str]:
        """Return the names of the bank's notes, newest first: all, or the daily, weekly or quarterly ones."""
        check_bank_id(bank)
        names = [] if self._notes is None else self._notes.made_notes(bank)
        return newest_first([name for name in names if period in (None, name.partition("/")[0])])
