"""Copies of the file: made while it is in use, and put in its place."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from perdure.errors import StoreLocked
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
    """Raise StoreLocked while another process has the file open; a file that SQLite cannot read is nobody's."""
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
