"""The database under a memory: verification, backups, and the state of files and indexes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perdure.domain.damage import Verification
from perdure.domain.verb import ADMIN, READ, BankIn, local, verb
from perdure.manage.backup import Backup, write_backup
from perdure.ports.clock import Clock
from perdure.ports.store import IndexUsage, Store, Traces


class Database:
    """The database of a memory: `memory.database`."""

    def __init__(self, store: Store, clock: Clock, verify_file: Callable[[str], Verification]) -> None:
        self._store, self._clock, self._verify_file = store, clock, verify_file

    @verb(ADMIN, bank=BankIn.ALL)
    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Check everything stored against its checksums and counterparts; `quick` checks only the structure of the files.

        `repair` restores what can be restored without losing anything; `drop` deletes damaged rows that cannot be repaired.
        """
        return self._store.verify(quick=quick, repair=repair, drop=drop)

    @local("it writes a file on the server's machine; run `perdure backup` there")
    def backup(self, file: str | Path, *, keep: int | None = None) -> Backup:
        """Write a checked copy of everything while the memory is in use.

        With `keep`, the name of the file gets a timestamp, and only that many backups of the name are kept.
        """
        return write_backup(self._store, Path(file), keep, self._clock(), self._verify_file)

    @verb(READ, bank=BankIn.NOWHERE)
    def erasure_pending(self) -> bool:
        """Return whether traces of erased content are still to be cleared from the files."""
        return self._store.traces() is Traces.PENDING

    @verb(READ, bank=BankIn.NOWHERE)
    def index_usage(self) -> IndexUsage:
        """Return the number, size and hit rate of the search indexes in memory."""
        return self._store.index_usage()

    @verb(READ, bank=BankIn.NOWHERE)
    def evictions(self) -> int:
        """Return how many indexes left memory to make room for others since this memory was opened."""
        return self._store.evictions()
