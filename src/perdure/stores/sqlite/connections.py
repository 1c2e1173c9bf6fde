"""Connections to one file: a writer that all threads share in turn, and one reader per thread."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perdure.errors import InvalidInput, StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly
from perdure.stores.index.feed import BankState
from perdure.stores.sql.columns import Values
from perdure.stores.sqlite.migrate import migrate

_WRITER_CACHE_KB, _READER_CACHE_KB = 16384, 2048
"""Pages read at random come from the system's cache as fast, and threads share that one: readers keep few."""
_ERRORS: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreLocked, "another process holds the write lock"),
    sqlite3.SQLITE_LOCKED: (StoreLocked, "another connection holds the lock"),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full; nothing was written"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the file or its folder cannot be written"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "the file or its folder cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (StoreReadOnly, "the file cannot be opened or its folder cannot be written"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "the file is damaged; restore it from a copy"),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, "the file is not a database"),
}


def primary_code(error: sqlite3.Error) -> int | None:
    """SQLite's primary result code of an error; None for errors of the driver itself."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


class SqliteErrors:
    """A block that SQLite's errors leave as StoreErrors, and text that cannot be stored as InvalidInput."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise self._translated(error) from error
        if isinstance(error, UnicodeEncodeError):
            raise InvalidInput("text", "no lone surrogates", error.object) from error

    def _translated(self, error: sqlite3.Error) -> StoreError:
        code = primary_code(error)
        if code is None:
            return StoreError(f"{self._path}: {error}")
        kind, meaning = _ERRORS.get(code, (StoreError, "the database failed"))
        return kind(f"{self._path}: {meaning} ({error})")


class Reader:
    """A thread's connection for reading; closed with its thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.states: dict[str, tuple[int, BankState | None]] = {}
        """Bank id -> (data_version when its state was read, the state)."""

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def select(self, query: str, *parameters: object) -> list[Values]:
        """All rows of a query."""
        return self.connection.execute(query, parameters).fetchall()

    @contextmanager
    def one_state(self) -> Iterator[sqlite3.Connection]:
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
        self.errors = SqliteErrors(path)
        self.busy_seconds = busy_timeout_ms / 1000
        self._synchronous = synchronous
        self._turn = threading.Lock()
        self._patient = False
        self._local = threading.local()
        self._closed = False
        self._process = os.getpid()
        with self.errors:
            self._writer = self._connect()
            try:
                migrate(self._writer, path)
                self._writer.execute("PRAGMA journal_mode = WAL")
            except BaseException:
                self._writer.close()
                raise

    def reader(self) -> Reader:
        """This thread's reader."""
        self._check_usable()
        reader: Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = Reader(self._connect())
            reader.connection.execute("PRAGMA query_only = 1")
            reader.connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KB}")
            self._local.reader = reader
        return reader

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock: committed at the end, rolled back on any error."""
        with self.writer() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def writer(self, *, for_long: bool = False) -> Iterator[sqlite3.Connection]:
        """The writer for one thread at a time; while it is taken `for_long`, others wait as long as it takes."""
        self._check_usable()
        while not self._turn.acquire(timeout=self.busy_seconds):
            if not self._patient:
                raise StoreLocked(f"{self.path}: another thread holds the write lock")
        self._patient = for_long
        try:
            self._check_usable()
            yield self._writer
        finally:
            self._patient = False
            self._turn.release()

    def close(self) -> None:
        """Close the writer and all readers that no thread uses at the moment."""
        with self._turn:
            if self._closed or os.getpid() != self._process:
                return
            self._closed = True
            self._writer.close()
            self._local = threading.local()

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
            timeout=self.busy_seconds,
            cached_statements=256,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KB}")
            connection.create_function("casefold", 1, str.casefold, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection
