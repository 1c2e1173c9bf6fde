"""The database under a memory: verification, backups, and the state of files and indexes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from perdure.domain.damage import Verification
from perdure.domain.verb import ADMIN, READ, BankIn, local, verb
from perdure.errors import Conflict, InvalidInput, NotFound
from perdure.manage.exports.private import writing_to
from perdure.ports.clock import Clock
from perdure.ports.store import IndexUsage, Store, Traces

STAMP = "%Y%m%dT%H%M%S%fZ"
"""Format of the moment in the name of a backup; names sort as the moments do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was written."""

    file: Path
    size: int
    verification: Verification
    """The check of the copy."""
    removed: tuple[Path, ...] = ()
    """Older backups that were removed."""


def write_backup(
    store: Store, file: Path, keep: int | None, now: datetime, check: Callable[[str], Verification]
) -> Backup:
    """Write a copy to the file, whole or not at all, and check it.

    With `keep`, the name gets the moment before its suffix, and only that many of the newest backups stay.
    None is removed while the new one shows damage, since an older one may be the last that is sound.
    """
    if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int) or keep < 1):
        raise InvalidInput("keep", "a number from 1 on", keep)
    target = file if keep is None else _stamped(file, now)
    partial = target.with_name(target.name + ".part")
    with writing_to(target):
        if not file.parent.is_dir():
            raise NotFound("folder", str(file.parent))
        if target.exists():
            raise Conflict(f"{target} exists already; a backup never overwrites a file")
        try:
            partial.unlink(missing_ok=True)
            store.backup(str(partial))
            verification = check(str(partial))
            os.replace(partial, target)
        finally:
            for suffix in ("", "-wal", "-shm"):
                partial.with_name(partial.name + suffix).unlink(missing_ok=True)
    removed: tuple[Path, ...] = ()
    if keep is not None and verification.sound:
        removed = tuple(_stamped_files(file)[:-keep])
        for old in removed:
            old.unlink(missing_ok=True)
    return Backup(file=target, size=target.stat().st_size, verification=verification, removed=removed)


def _stamped(file: Path, now: datetime) -> Path:
    return file.with_name(f"{file.stem}-{now.astimezone(UTC).strftime(STAMP)}{file.suffix}")


def _stamped_files(file: Path) -> list[Path]:
    """Return the backups of this name, oldest first."""
    backups = []
    for one in file.parent.glob("*"):
        stamp = one.name.removeprefix(f"{file.stem}-").removesuffix(file.suffix)
        try:
            moment = datetime.strptime(stamp, STAMP)
        except ValueError:
            continue
        if one.name == f"{file.stem}-{stamp}{file.suffix}":
            backups.append((moment, one))
    return [one for _, one in sorted(backups)]


class Database:
    """The database of a memory: `memory.database`."""

    def __init__(self, store: Store, clock: Clock, verify_file: Callable[[str], Verification]) -> None:
        self._store, self._clock, self._verify_file = store, clock, verify_file

    @verb(ADMIN, bank=BankIn.ALL)
    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Check everything stored; `quick` checks only the structure of the files.

        `repair` restores what can be restored without loss; `drop` deletes rows that cannot be repaired.
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
