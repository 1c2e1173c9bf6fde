"""Connections to one file: a writer that all threads share in turn, and one reader per thread.

A file that cannot be written is opened for reading alone; one on media that nobody can write also without its log.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from perdure.errors import InvalidInput, StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly
from perdure.stores.index.feed import BankState
from perdure.stores.sql.columns import Values
from perdure.stores.sqlite.damage import is_undecodable, primary_code
from perdure.stores.sqlite.log_tail import note_lost
from perdure.stores.sqlite.schema import check_readable, prepare, use_log

_WRITER_CACHE_KB, _READER_CACHE_KB = 16384, 2048
"""Pages read at random come from the system's cache as fast, and threads share that one: readers keep few."""
_STEPS_BETWEEN_LOOKS = 10_000
"""Steps of SQLite's virtual machine, some milliseconds, between looks for threads that wait."""
_ERRORS: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreLocked, "another process holds the write lock"),
    sqlite3.SQLITE_LOCKED: (StoreLocked, "another connection holds the lock"),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk is full; nothing was written"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the file or its folder cannot be written"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "the file or its folder cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (StoreReadOnly, "the file cannot be opened or its folder cannot be written"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "the file is damaged; `perdure verify` says what can be mended"),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, "the file is not a database"),
}


class SqliteErrors:
    """A block that SQLite's errors leave as StoreErrors, and text that cannot be stored as InvalidInput."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise self._translated(error) from error
        if isinstance(error, UnicodeDecodeError):
            raise StoreCorrupt(f"{self._path}: the file is damaged, even the names of its tables") from error
        if isinstance(error, UnicodeEncodeError):
            raise InvalidInput("text", "no lone surrogates", error.object) from error

    def _translated(self, error: sqlite3.Error) -> StoreError:
        if is_undecodable(error):
            return StoreCorrupt(f"{self._path}: a text is damaged; `perdure verify` says which")
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
        """Return a number that changes when another connection has committed."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def select(self, query: str, *parameters: object) -> list[Values]:
        """Return all rows of a query."""
        return self.connection.execute(query, parameters).fetchall()

    @contextmanager
    def one_state(self) -> Iterator[sqlite3.Connection]:
        """Let several reads see one state of the file."""
        self.connection.execute("BEGIN")
        try:
            yield self.connection
        finally:
            # Not COMMIT, which SQLite refuses after it met damage.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

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
        self._waiting: set[int] = set()
        """Threads that wait for the writer."""
        self.interrupted = 0
        """How often in a row clearing the traces of erasures gave way."""
        self._local = threading.local()
        self._closed = False
        self._process = os.getpid()
        self._uri = ""
        """How a file is opened that cannot be written; empty where it can."""
        self._writer = self._open()

    @property
    def read_only(self) -> bool:
        """Return whether the file can only be read."""
        return bool(self._uri)

    def _open(self) -> sqlite3.Connection:
        try:
            with self.errors:
                return self._opened(writable=True)
        except StoreReadOnly:
            if not os.path.isfile(self.path):
                raise
            log_size = os.path.getsize(f"{self.path}-wal") if os.path.exists(f"{self.path}-wal") else 0
            quoted = quote(os.path.abspath(self.path))
            # On media that nobody can write there is no file for locks, and nobody to lock against.
            uris = [f"file:{quoted}?mode=ro", *([] if log_size else [f"file:{quoted}?immutable=1"])]
            for uri in uris:
                self._uri = uri
                with suppress(sqlite3.OperationalError):
                    return self._opened(writable=False)
            raise

    def _opened(self, *, writable: bool) -> sqlite3.Connection:
        connection = self._connect()
        try:
            if writable:
                prepare(connection, self.path)
                use_log(connection, self.busy_seconds)
                note_lost(connection, self.path)
            else:
                check_readable(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def reader(self) -> Reader:
        """Return this thread's reader."""
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
        """Open a transaction that holds the write lock: committed at the end, rolled back on any error."""
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
        """Lend the writer to one thread at a time; `for_long` lets others wait without a limit."""
        self._check_usable()
        if self.read_only:
            raise StoreReadOnly(f"{self.path}: the file or its folder cannot be written")
        self._take_turn()
        self._patient = for_long
        try:
            self._check_usable()
            yield self._writer
        finally:
            self._patient = False
            self._turn.release()

    def _take_turn(self) -> None:
        self._waiting.add(threading.get_ident())
        try:
            while not self._turn.acquire(timeout=self.busy_seconds):
                if not self._patient:
                    raise StoreLocked(f"{self.path}: another thread holds the write lock")
        finally:
            self._waiting.discard(threading.get_ident())

    @contextmanager
    def giving_way(self) -> Iterator[None]:
        """Interrupt what the lent writer does as soon as another thread waits for it."""
        self._writer.set_progress_handler(lambda: bool(self._waiting), _STEPS_BETWEEN_LOOKS)
        try:
            yield
        finally:
            self._writer.set_progress_handler(None, 0)

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
            self._uri or Path(self.path),
            uri=bool(self._uri),
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
