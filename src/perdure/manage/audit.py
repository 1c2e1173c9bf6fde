"""Writing and reading the audit log of a bank."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from perdure.domain.audit import AUDIT, ENABLED, AuditEntry, Transport, read_entry
from perdure.domain.operation import Operation
from perdure.errors import InvalidInput
from perdure.ports.store import Rows, Store, Transaction

MAX_ENTRIES = 10_000
"""Entries of a bank that are kept, the newest."""
PRUNED_EVERY = 256
"""Entries between two prunings, so that few writes read the log."""


def record_entry(store: Store, entry: AuditEntry, number: int) -> bool:
    """Keep an entry if its bank exists and wants a log; `number` counts the caller's entries, for pruning."""
    if not any(bank.settings.get(ENABLED) is True for bank in store.banks([entry.bank])):
        return False
    with store.transaction(entry.bank) as tx:
        if tx.bank() is None:
            return False
        tx.put_records([entry.to_record()])
        if number % PRUNED_EVERY == 0:
            ids = [record.id for record in tx.records(AUDIT)]
            tx.delete_records(AUDIT, ids[: max(len(ids) - MAX_ENTRIES, 0)])
    return True


def log_consolidation(tx: Transaction, operation: Operation, counts: Mapping[str, object]) -> None:
    """Keep that a run of consolidation ended, in its transaction, if the bank wants a log."""
    bank = tx.bank()
    if bank is None or bank.settings.get(ENABLED) is not True:
        return
    ended = operation.updated_at or operation.created_at
    assert operation.created_at is not None
    entry = AuditEntry(
        id=operation.id,
        bank=operation.bank,
        action="consolidation",
        transport=Transport.SYSTEM,
        started_at=operation.created_at,
        ended_at=ended,
        response=counts,
    )
    tx.put_records([entry.to_record()])


def list_entries(
    rows: Rows,
    *,
    action: str | None = None,
    transport: Transport | str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[AuditEntry]:
    """The entries that match, newest first; `since` is included, `until` is not."""
    if transport is not None and transport not in set(Transport):
        raise InvalidInput("transport", "one of " + ", ".join(Transport), transport)
    entries = [read_entry(record) for record in rows.records(AUDIT)]
    return [
        one
        for one in sorted(entries, key=lambda one: (one.started_at, one.id), reverse=True)
        if (action is None or one.action == action)
        and (transport is None or one.transport == transport)
        and (since is None or one.started_at >= since)
        and (until is None or one.started_at < until)
    ]
