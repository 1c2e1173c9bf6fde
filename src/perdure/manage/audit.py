"""The audit log of a bank: what was done with it over the servers."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from itertools import count

from perdure.domain.audit import AUDIT, ENABLED, AuditEntry, Transport
from perdure.domain.bank import check_bank_id
from perdure.domain.plain import from_record, readable, to_record
from perdure.domain.verb import ADMIN, local, verb
from perdure.errors import InvalidInput
from perdure.ports.store import Store

MAX_ENTRIES = 10_000
"""Entries kept per bank, the newest."""
PRUNED_EVERY = 256
"""Entries between two prunings, so that few writes read the log."""


class AuditLog:
    """The audit log of a memory: `memory.audit`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._count = count(1)

    @local("the server keeps its audit log itself")
    def record(self, entry: AuditEntry) -> bool:
        """Keep an entry if its bank has the setting `audit_log_enabled`. Return whether it was kept."""
        if not any(bank.settings.get(ENABLED) is True for bank in self._store.banks([entry.bank])):
            return False
        number = next(self._count)
        with self._store.transaction(entry.bank) as tx:
            if tx.bank() is None:
                return False
            tx.put_records([to_record(AUDIT, entry, created_at=entry.started_at)])
            if number % PRUNED_EVERY == 0:
                ids = [record.id for record in tx.records(AUDIT)]
                tx.delete_records(AUDIT, ids[: max(len(ids) - MAX_ENTRIES, 0)])
        return True

    @verb(ADMIN, "read")
    def list(
        self,
        bank: str,
        *,
        action: str | None = None,
        transport: Transport | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[AuditEntry]:
        """Return what was done with the bank over servers, newest first, from `since` to before `until`."""
        if transport is not None and transport not in set(Transport):
            raise InvalidInput("transport", "one of " + ", ".join(Transport), transport)
        with self._store.reading(check_bank_id(bank)) as reading:
            entries = list(readable(reading.records(AUDIT), partial(from_record, AuditEntry)))
        return [
            entry
            for entry in sorted(entries, key=lambda entry: (entry.started_at, entry.id), reverse=True)
            if (action is None or entry.action == action)
            and (transport is None or entry.transport == transport)
            and (since is None or entry.started_at >= since)
            and (until is None or entry.started_at < until)
        ]
