"""Backups: checked copies of everything, of which the newest are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from perdure.domain.damage import Verification
from perdure.errors import Conflict, InvalidInput, NotFound
from perdure.manage.exports.private import writing_to
from perdure.ports.store import Store

STAMP = "%Y%m%dT%H%M%S%fZ"
"""The moment in the name of a backup; names sort as the moments do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was written."""

    file: Path
    size: int
    verification: Verification
    """What a check of the copy said."""
    removed: tuple[Path, ...] = ()
    """Older backups that had to go."""


def write_backup(
    store: Store, file: Path, keep: int | None, now: datetime, check: Callable[[str], Verification]
) -> Backup:
    """Write a copy to the file, whole or not at all, and check it.

    With `keep` the name gets the moment before its suffix, and the oldest beyond so many are removed; but none while the new
    one shows damage, since an older one may be the last that is sound.
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
    """The backups of this name, oldest first; files that only look alike are none."""
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
