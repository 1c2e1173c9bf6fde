"""Connections to one file: a writer that all threads share in turn, and a reader a thread."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perdure.errors import InvalidInput, StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly
from perdure.stores.sqlite.migrate import migrate
from perdure.stores.sqlite.secure_erase import OPEN_FILES, clear_gaps

_TRIES = 3
"""Times that gaps are tried to be cleared when other processes keep writing; then the file is built anew."""
_WRITER_CACHE_KB, _READER_CACHE_KB = 16384, 2048
_PAUSE = 0.01
"""Seconds until the log is tried again."""
_KINDS: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreLocked, "another process holds the write lock"),
    sqlite3.SQLITE_LOCKED: (StoreLocked, "another connection holds the lock"),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full; nothing was written"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the file or its folder cannot be written"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "the file or its folder cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (StoreReadOnly, "the file cannot be opened or its folder cannot be written"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "the file is damaged; restore it from a copy"),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, "the file is not a database"),
}


def translate(error: sqlite3.Error, path: str) -> StoreError:
    """The error of the tree that says what happened to the file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return StoreError(f"{path}: {error}")
    kind, meaning = _KINDS.get(code & 0xFF, (StoreError, "the database failed"))
    return kind(f"{path}: {meaning} ({error})")


class SqliteErrors:
    """A block that SQLite's errors leave as StoreErrors, and text that cannot be stored as InvalidInput.

    A class, as every search enters one: a generator takes three times as long.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise translate(error, self._path) from error
        if isinstance(error, UnicodeEncodeError):
            raise InvalidInput("text", "no lone surrogates", error.object) from error


class Reader:
    """A thread's connection for reading; closed with its thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._looking = connection.cursor()
        self.seen: dict[str, tuple[int, object]] = {}
        """Bank id -> (data_version at the last look, what was seen)."""

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self._looking.execute("PRAGMA data_version").fetchall()[0][0])

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Several reads of one state of the file."""
        self.connection.execute("BEGIN")
        try:
            yield self.connection
        finally:
            self.connection.execute("COMMIT")

    def __del__(self) -> None:
        self.connection.close()


class Connections:
    """The connections of a process to one file."""

    def __init__(self, path: str, *, synchronous: str, busy_timeout_ms: int) -> None:
        self.path = path
        self._synchronous = synchronous
        self._busy_timeout_ms = busy_timeout_ms
        self._turn = threading.Lock()
        self._local = threading.local()
        self._closed = False
        self._process = os.getpid()
        with SqliteErrors(path):
            self._writer = self._connect()
            try:
                migrate(self._writer, path)
                self._writer.execute("PRAGMA journal_mode = WAL")
            except BaseException:
                self._writer.close()
                raise
        self._file = OPEN_FILES.enter(path)

    def reader(self) -> Reader:
        """This thread's reader."""
        self._check_usable()
        held: Reader | None = getattr(self._local, "reader", None)
        if held is None:
            held = Reader(self._connect())
            held.connection.execute("PRAGMA query_only = 1")
            # What is read at random comes from the system's cache as fast, and threads share that one.
            held.connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KB}")
            self._local.reader = held
        return held

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock: committed at the end, rolled back on any error."""
        with self._writer_turn() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def expunge(self) -> None:
        """Take what was erased out of the file and its log, when anything was.

        SQLite zeroes what it deletes (secure_delete), but rows that moved between pages left copies in the gaps
        of pages, and the log holds pages as they were. So the log is emptied into the file, then gaps are zeroed;
        where that cannot be done the file is built anew.
        """
        with self._writer_turn():
            for _ in range(_TRIES):
                self._empty_log()
                if not self._writer.execute("SELECT count(*) FROM residue").fetchone()[0]:
                    return
                if self._clear_gaps():
                    return
            self._writer.execute("PRAGMA temp_store = FILE")
            try:
                self._writer.execute("VACUUM")
            finally:
                self._writer.execute("PRAGMA temp_store = MEMORY")
            self._writer.execute("DELETE FROM residue")
            self._empty_log()

    def _empty_log(self) -> None:
        """SQLite itself waits for readers, but not for another process that is emptying the log at that moment."""
        deadline = time.monotonic() + self._busy_timeout_ms / 1000
        while self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() >= deadline:
                raise StoreLocked(
                    f"{self.path}: erased, but another process still reads the state before; its write-ahead "
                    "log could not be emptied, call forget again"
                )
            time.sleep(_PAUSE)

    def _clear_gaps(self) -> bool:
        """Zero all gaps while nobody can write; False when another process wrote meanwhile or the file is unfit."""
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            if self._log_size() or not clear_gaps(OPEN_FILES.file(self._file, self.path)):
                self._writer.execute("ROLLBACK")
                return False
            # This commit makes every other connection drop its cached pages before it writes again.
            self._writer.execute("DELETE FROM residue")
            self._writer.execute("COMMIT")
        except OSError as error:
            self._writer.execute("ROLLBACK")
            raise StoreError(f"{self.path}: erased, but traces could not be removed: {error}") from error
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise
        self._renew_writer()
        return True

    def _log_size(self) -> int:
        log = Path(f"{self.path}-wal")
        return log.stat().st_size if log.exists() else 0

    def _renew_writer(self) -> None:
        """A connection without cached pages, whose gaps may still be as they were."""
        renewed = self._connect()
        self._writer.close()
        self._writer = renewed

    def close(self) -> None:
        """Close the writer and this thread's reader; those of other threads close with their threads."""
        with self._turn:
            if self._closed or os.getpid() != self._process:
                return
            self._closed = True
            self._writer.close()
            self._local = threading.local()
            OPEN_FILES.leave(self._file)

    @contextmanager
    def _writer_turn(self) -> Iterator[sqlite3.Connection]:
        self._check_usable()
        if not self._turn.acquire(timeout=self._busy_timeout_ms / 1000):
            raise StoreLocked(f"{self.path}: another thread holds the write lock")
        try:
            yield self._writer
        finally:
            self._turn.release()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path}: the store is closed")
        # SQLite's locks stay with the process that took them: https://www.sqlite.org/howtocorrupt.html, 2.6.
        if os.getpid() != self._process:
            raise StoreError(
                f"{self.path}: opened before this process was forked; open it anew after the fork"
            )

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            Path(self.path),
            isolation_level=None,
            check_same_thread=False,
            timeout=self._busy_timeout_ms / 1000,
            cached_statements=256,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KB}")
        except BaseException:
            connection.close()
            raise
        return connection
