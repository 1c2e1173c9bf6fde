"""Copies of the file: made while it is in use, and put in its place."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from perdure.domain.damage import RestoredFile, Verification
from perdure.errors import NotFound, StoreCorrupt, StoreLocked
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.damage import primary_code


def write_copy(connections: Connections, file: str) -> None:
    """Write one state of the file to a new one, readable by its owner alone.

    `VACUUM INTO` writes it from rows, so that nothing erased is in it; readers and writers go on meanwhile.
    """
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        reader = connections.reader().connection
        reader.execute("PRAGMA query_only = 0")
        try:
            reader.execute("VACUUM INTO ?", (file,))
        finally:
            reader.execute("PRAGMA query_only = 1")
        # It is read in the mode that it is used in; closing it again leaves one file.
        with closing(sqlite3.connect(file, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = WAL")
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        os.unlink(file)
        raise


def check_unused(path: str) -> None:
    """Raise StoreLocked while another process has the file open."""
    if not os.path.exists(path):
        return
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as db:
        try:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("BEGIN EXCLUSIVE")
            db.execute("ROLLBACK")
        except sqlite3.Error as error:
            if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreLocked(f"{path}: another process has it open; stop that first") from error


def restore_file(path: str, backup: str, stamp: str, check: Callable[[str], Verification]) -> RestoredFile:
    """Put a copy of a backup in the place of a file; what stood there stays beside it under another name.

    The copy is brought up to date and checked first: a damaged one replaces nothing.
    """
    if not os.path.isfile(backup):
        raise NotFound("backup", backup)
    check_unused(path)
    partial = f"{path}.restoring"
    _remove(partial)
    try:
        _copy(backup, partial)
        verification = check(partial)
        if not verification.sound:
            told = "; ".join(map(str, verification.left[:3]))
            raise StoreCorrupt(f"{backup} is damaged itself and was not restored: {told}")
        aside = _move_aside(path, f"{path}.before-{stamp}")
        os.replace(partial, path)
    finally:
        _remove(partial)
    return RestoredFile(file=path, aside=aside, verification=verification)


def _copy(source: str, target: str) -> None:
    """Return a copy of a file with its log, if it has one that was not taken in."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    log = f"{source}-wal"
    if os.path.exists(log) and os.path.getsize(log):
        with (
            closing(sqlite3.connect(f"{Path(source).absolute().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
    else:
        shutil.copyfile(source, target)


def _move_aside(path: str, aside: str) -> str | None:
    if not os.path.exists(path):
        return None
    for suffix in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            os.replace(path + suffix, aside + suffix)
    return aside


def _remove(path: str) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + suffix)
