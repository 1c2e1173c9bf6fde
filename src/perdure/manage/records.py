"""Records: small JSON objects that surfaces and programs store next to the memory."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.bank import check_bank_id
from perdure.domain.record import Record
from perdure.domain.verb import READ, WRITE, Arguments, BankIn, local, verb
from perdure.errors import InvalidInput
from perdure.ports.store import Store


def is_own_kind(kind: object) -> bool:
    """Return whether records of the kind are Perdure's own. The kinds of programs contain a `.` or a `:`."""
    return not (isinstance(kind, str) and ("." in kind or ":" in kind))


def _check_kind(field: str, kind: object) -> None:
    if is_own_kind(kind):
        raise InvalidInput(field, "a kind of a program's, with a `.` or a `:`, such as app.item", kind)


def _names_own_kind(arguments: Arguments) -> bool:
    return is_own_kind(arguments.get("kind"))


class StoredRecords:
    """The records of a memory: `memory.records`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @verb(
        WRITE,
        bank=BankIn.RECORD,
        needs_admin=lambda arguments: is_own_kind(getattr(arguments["record"], "kind", "")),
    )
    def save(self, record: Record) -> None:
        """Insert or replace a record of a program's kind."""
        if not isinstance(record, Record):
            raise InvalidInput("record", "a Record", record)
        _check_kind("record.kind", record.kind)
        self.save_own(record)

    @local("records of Perdure's own kinds change through the verbs that they belong to")
    def save_own(self, record: Record) -> None:
        """Insert or replace a record of any kind; what reads it expects the body that its own module writes."""
        if not record.bank:
            self._store.put_shared_records([record])
            return
        with self._store.transaction(check_bank_id(record.bank)) as tx:
            tx.put_records([record])

    @verb(WRITE, needs_admin=_names_own_kind)
    def delete(self, kind: str, record_id: str, *, bank: str = "") -> None:
        """Delete a record of a program's kind, if it exists."""
        _check_kind("kind", kind)
        self.delete_own(kind, record_id, bank=bank)

    @local("records of Perdure's own kinds change through the verbs that they belong to")
    def delete_own(self, kind: str, record_id: str, *, bank: str = "") -> None:
        """Delete a record of any kind, if it exists."""
        if not bank:
            self._store.delete_shared_records(kind, [record_id])
            return
        with self._store.transaction(check_bank_id(bank)) as tx:
            tx.delete_records(kind, [record_id])

    @verb(READ, needs_admin=_names_own_kind)
    def list(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        """Return the records of a kind, oldest first; without a bank those that belong to none."""
        if not bank:
            return self._store.shared_records(kind, ids)
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.records(kind, ids)
