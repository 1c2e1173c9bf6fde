"""Writing notes: a record names a note's facts before its file does, and the file is written under the bank's lock.

So whoever erases a fact learns every file that names it, and no file is written from facts that were erased meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.observation import fingerprint
from perdure.domain.plain import from_plain, readable
from perdure.domain.record import Record
from perdure.ports.notes import WritableNotes
from perdure.ports.store import Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.notes.compose import compose_note
from perdure.reflect.questions import list_questions

NOTE_RECORD = "note"
"""Kind of the records that name the facts of a note; the id is the note's name."""
NOTE_PENDING = "note_pending"
"""Kind of the records that name notes to be written anew; `erased` in the body when their file may hold erased content."""
TRIES = 3

Guard = Callable[[Transaction], None]
"""Called in each transaction; raises when the work is no longer the caller's to do."""


def writable_notes(components: ReflectComponents) -> WritableNotes | None:
    """Return the notes, if there are any and they can be written."""
    notes = components.recall.notes
    return notes if isinstance(notes, WritableNotes) else None


def put_pending(tx: Transaction, bank: str, names: Iterable[str]) -> None:
    """Have notes written anew."""
    pending = {record.id for record in tx.records(NOTE_PENDING)}
    fresh = [name for name in sorted(names) if name not in pending]
    tx.put_records([Record(kind=NOTE_PENDING, id=name, bank=bank, body={"erased": False}) for name in fresh])


def write_note(
    components: ReflectComponents, notes: WritableNotes, bank: str, name: str, now: datetime, guard: Guard
) -> bool:
    """Make a note anew from the store; False when its facts keep changing, or one written by hand stands there."""
    for _ in range(TRIES):
        questions = list_questions(components.store, bank, now)
        with components.store.reading(bank) as reading:
            note, facts = compose_note(reading, bank, name, questions, now)
        with components.store.transaction(bank) as tx:
            guard(tx)
            before = {fact_id for record in tx.records(NOTE_RECORD, [name]) for fact_id in _ids(record)}
            if before or facts:
                _put(tx, bank, name, [*before, *(fact.id for fact in facts)])
        with components.store.transaction(bank) as tx:
            guard(tx)
            if not _unchanged(tx, facts, len(note.fact_ids)):
                continue
            tx.delete_records(NOTE_PENDING, [name])
            if facts and notes.write_note(bank, name, str(note)):
                _put(tx, bank, name, note.fact_ids)
                return True
            if not facts:
                notes.delete_note(bank, name)
            tx.delete_records(NOTE_RECORD, [name])
            return not facts
    return False


def _unchanged(tx: Transaction, facts: Iterable[Fact], count: int) -> bool:
    """Return whether all facts are stored as they were read."""
    read = {fact.id: fingerprint(fact) for fact in facts}
    stored = {fact.id: fingerprint(fact) for fact in tx.facts(list(read))}
    return read == stored and len(read) == count


def _put(tx: Transaction, bank: str, name: str, fact_ids: Iterable[str]) -> None:
    body = {"fact_ids": list(dict.fromkeys(fact_ids))}
    tx.put_records([Record(kind=NOTE_RECORD, id=name, bank=bank, body=body)])


def _ids(record: Record) -> list[str]:
    """Return the ids of the facts that a note names."""
    return from_plain(list[str], record.body["fact_ids"])


def scrub_notes(tx: Transaction, erased: Mapping[str, Fact]) -> bool:
    """Have the notes that name erased facts, or whose record is unreadable, written anew, which `repair_notes` does at once."""
    unreadable: list[Record] = []
    stored = tx.records(NOTE_RECORD)
    ids = readable(stored, lambda record: (record, _ids(record)), unreadable.append)
    named = [record for record, fact_ids in ids if not erased.keys().isdisjoint(fact_ids)] + unreadable
    tx.put_records(
        [Record(kind=NOTE_PENDING, id=record.id, bank=record.bank, body={"erased": True}) for record in named]
    )
    tx.delete_records(NOTE_RECORD, [record.id for record in unreadable])
    return bool(named)


def repair_notes(components: ReflectComponents, bank: str) -> int:
    """Write the notes anew whose files may hold erased content; returns how many."""
    notes = writable_notes(components)
    if notes is None:
        return 0
    with components.store.reading(bank) as reading:
        pending = [record.id for record in reading.records(NOTE_PENDING) if record.body.get("erased")]
    now = components.clock()
    for name in pending:
        if not write_note(components, notes, bank, name, now, lambda _: None):
            notes.delete_note(bank, name)
    return len(pending)


def drop_notes(components: ReflectComponents, bank: str) -> None:
    """Delete all files that were made of a bank's memory."""
    notes = writable_notes(components)
    if notes is not None:
        for name in notes.made_notes(bank):
            notes.delete_note(bank, name)
