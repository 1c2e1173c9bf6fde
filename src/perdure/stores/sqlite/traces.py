"""Clearing what erased content left in the files, by SQLite's own means.

Rows are deleted under `secure_delete`, which zeroes them; but rows that moved between pages left copies in
unused parts of pages, and the log holds pages as they were. `VACUUM` writes every page anew, from rows alone;
`wal_checkpoint(TRUNCATE)` takes these pages into the file and cuts the log to nothing. The database file is
never opened beside SQLite: closing a second descriptor would drop all locks of the process
(https://www.sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import nullcontext

from perdure.ports.store import Traces
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.damage import primary_code

SMALL_FILE = 32 << 20
"""Bytes up to which clearing is waited for: about 0.2 s (docs/decisions/erasure.md)."""
MOST_INTERRUPTED = 10
"""How often clearing gives way to writers before they have to wait for it."""
_PAUSE = 0.01
"""Seconds until the log is tried again."""


def traces(connections: Connections) -> Traces:
    """Return whether an erasure is still marked."""
    rows = connections.reader().connection.execute("SELECT EXISTS (SELECT 1 FROM erasure)").fetchone()
    return Traces.PENDING if rows[0] else Traces.CLEARED


def clears_at_once(connections: Connections) -> bool:
    """Return whether the file is small."""
    return _size(connections.path) <= SMALL_FILE


def clear(connections: Connections) -> Traces:
    """Rewrite the file and cut the log. Return PENDING if another process or a waiting writer is in the way.

    An erasure is unmarked last, so that a crash at any moment leaves it marked. Only those that were marked
    before the file was written anew are unmarked: another process may erase meanwhile.
    """
    with connections.writer(for_long=True) as writer:
        (last,) = writer.execute("SELECT max(no) FROM erasure").fetchone()
        if last is None:
            return Traces.CLEARED
        try:
            _vacuum(writer, connections)
            if not _cut_log(writer, connections.busy_seconds):
                return Traces.PENDING
            writer.execute("DELETE FROM erasure WHERE no <= ?", (last,))
        except sqlite3.OperationalError as error:
            code = primary_code(error)
            connections.interrupted += code == sqlite3.SQLITE_INTERRUPT
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT):
                return Traces.PENDING
            raise
        connections.interrupted = 0
    return traces(connections)


def _vacuum(writer: sqlite3.Connection, connections: Connections) -> None:
    """Write the file anew; SQLite's copy goes to a temporary file and not to memory.

    That of a large file gives way to threads that want to write, up to a number of times.
    """
    gives_way = not clears_at_once(connections) and connections.interrupted < MOST_INTERRUPTED
    writer.execute("PRAGMA temp_store = FILE")
    try:
        with connections.giving_way() if gives_way else nullcontext():
            writer.execute("VACUUM")
    finally:
        writer.execute("PRAGMA temp_store = MEMORY")


def _cut_log(writer: sqlite3.Connection, seconds: float) -> bool:
    """Return whether the log could be cut, which another process that cuts it prevents."""
    deadline = time.monotonic() + seconds
    while writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE)
    return True


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
