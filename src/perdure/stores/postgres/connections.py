"""Connections to one PostgreSQL database: a small pool, transactions, errors in Perdure's words.

Every statement runs in a transaction that sets its search path and time-outs for itself (`SET LOCAL`), and no
connection keeps anything from one transaction to the next: a pooler such as PgBouncer may give each
transaction another server process. Reads, and the beginnings of writes, are repeated with growing pauses
while no primary answers; a write that has begun is not.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from typing import Any, NoReturn, TypeVar, cast

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg.sql import quote

from perdure.errors import (
    InvalidInput,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
)
from perdure.stores.sql.columns import Values

SCHEMA_NAME = "perdure"
"""The schema of the database that holds all tables."""
BANK_SETTING = "perdure.bank"
"""The setting of each transaction that says which bank it is about, for policies of row-level security."""
ANY_BANK = "/"
"""Stands there for transactions that are about none; no bank has this name."""
SHARED = "/shared"
"""Stands there for transactions about records that belong to no bank, such as API keys."""
Db = psycopg.Connection[Values]
T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
"""Seconds between attempts to reach a primary; doubled each time."""
_PROBE_SECONDS = 2
_BEGIN_READING = b"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN_WRITING = b"BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE"
_REFUSALS = re.compile(
    r'FATAL:\s+(?:password authentication failed|no pg_hba\.conf entry|(?:database|role) "[^"]*" does not exist)'
)
_LOST = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "53300", "25006")
"""SQLSTATEs, or their classes, of a server that stops, starts, is full, or is no primary any more."""
_ERRORS: dict[str, tuple[type[StoreError], str]] = {
    "55P03": (StoreLocked, "another transaction holds the lock"),
    "40P01": (StoreLocked, "two transactions waited for each other"),
    "40001": (StoreLocked, "another transaction changed the same rows"),
    "57014": (StoreLocked, "a statement took longer than `database_timeout`"),
    "53100": (StoreFull, "the server's disk is full; nothing was written"),
    "42501": (StoreReadOnly, "the role lacks a privilege"),
    "42P01": (StoreCorrupt, "a table is missing"),
    "42703": (StoreCorrupt, "a column is missing"),
    "XX001": (StoreCorrupt, "the server reports damaged data"),
    "XX002": (StoreCorrupt, "the server reports a damaged index"),
}


@lru_cache(maxsize=1024)
def translated(statement: str) -> bytes:
    """Return a statement in the driver's style; ours have no per cent sign and no literal `?`."""
    return statement.replace("?", "%s").encode()


def is_lost(error: BaseException | None) -> bool:
    """Return whether connection or primary is gone, so that another attempt may succeed."""
    if isinstance(error, psycopg.InterfaceError):
        return True
    if not isinstance(error, psycopg.Error) or isinstance(error, psycopg.errors.PipelineAborted):
        return False
    if error.sqlstate is not None:
        return error.sqlstate.startswith(_LOST)
    # What no server has said: libpq itself, of a connection. A result that it makes up is an error of no particular kind.
    return isinstance(error, psycopg.OperationalError) or type(error) is psycopg.DatabaseError


class PatientConnection(psycopg.Connection[Values]):
    """A connection that is given up when a hanging server sends nothing for a time."""

    longest_silence = float("inf")
    """Seconds."""

    def wait(self, gen: PQGen[T], *args: Any, **options: Any) -> T:
        """Run what waits for the server. Raise OperationalError, with the connection closed, if it hangs."""
        return super().wait(self._answered(gen), *args, **options)

    def _answered(self, gen: PQGen[T]) -> PQGen[T]:
        heard = time.monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    heard = time.monotonic()
                elif time.monotonic() - heard > self.longest_silence:
                    gen.close()
                    self.close()
                    raise psycopg.OperationalError(f"no answer for {self.longest_silence:g} seconds")
                state = gen.send(ready)
        except StopIteration as end:
            return cast(T, end.value)


def select(db: Db, query: str, *parameters: object) -> list[Values]:
    """Return all rows of a query within a transaction."""
    return db.cursor(binary=True).execute(translated(query), parameters).fetchall()


@contextmanager
def copying(db: Db, statement: bytes) -> Iterator[psycopg.Copy]:
    """Run a COPY that ends with the block; raise OperationalError where the connection is lost."""
    try:
        with db.cursor().copy(statement) as copy:
            yield copy
    except ValueError as error:
        # psycopg stumbles over the two results that libpq has of a COPY whose connection broke.
        if db.info.status is not ConnStatus.BAD:
            raise
        raise psycopg.OperationalError("the connection was lost within COPY") from error


def is_refused(error: BaseException) -> bool:
    """Return whether every server that was tried says that it will never let us in.

    A failed connection has no SQLSTATE, only what the servers wrote.
    """
    tried = str(error).count("connection to server")
    return 0 < tried == len(_REFUSALS.findall(str(error)))


class Address:
    """Where the database is: what libpq connects with, and what may be shown of it."""

    def __init__(self, url: str, *, connect_timeout: float, timeout: float) -> None:
        expected = "postgresql://USER:PASSWORD@HOST[,HOST...]/DATABASE, with special characters as %XX"
        try:
            url_parameters = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # The driver's message repeats parts of the URL, perhaps of the password.
            raise InvalidInput("database", expected) from None
        if not all(port.isdigit() for port in str(url_parameters.get("port", "")).split(",") if port):
            raise InvalidInput("database", expected)
        self._password = str(url_parameters.get("password") or "")
        parameters: dict[str, str | int] = {
            "application_name": "perdure",
            "connect_timeout": max(2, round(connect_timeout)),
            "target_session_attrs": "read-write",
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": round(timeout * 1000),
            **{name: value for name, value in url_parameters.items() if value is not None},
            "client_encoding": "utf8",
        }
        self.conninfo = make_conninfo("", **parameters)
        """What libpq connects with; holds the password."""
        hosts = str(url_parameters.get("host") or url_parameters.get("hostaddr") or "")
        self.shown = f"postgresql://{hosts}/{url_parameters.get('dbname') or ''}"
        """Without user and password."""

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    def without_password(self, message: object) -> str:
        """Return what the driver says, on one line, without the password."""
        line = " ".join(str(message).split())
        return line.replace(self._password, "********") if self._password else line


class PostgresErrors:
    """A block whose driver errors become StoreErrors, and unstorable text InvalidInput."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnicodeEncodeError):
            raise InvalidInput("text", "no lone surrogates", error.object) from error
        if isinstance(error, psycopg.Error):
            self._raise(error)

    def _raise(self, error: psycopg.Error) -> NoReturn:
        state = error.sqlstate
        where, told = self._address.shown, self._address.without_password(error)
        if isinstance(error, psycopg.DataError) and "NUL" in told:
            raise InvalidInput("text", "no NUL characters") from None
        if state == "54000":
            raise InvalidInput("text", "ids, tags and names of at most 2,600 bytes") from None
        if is_lost(error):
            meaning = "the server refuses the connection" if is_refused(error) else "no primary answers"
            raise StoreUnreachable(f"{where}: {meaning} ({told})") from None
        translated_kind, meaning = _ERRORS.get(state or "", (StoreError, "the database failed"))
        # The driver's error is not chained: its trace may hold the parameters of the connection.
        raise translated_kind(f"{where}: {meaning} ({told})") from None


class Connections:
    """The connections of a process to one database."""

    def __init__(
        self,
        url: str,
        *,
        connections: int = 16,
        connect_timeout: float = 5.0,
        timeout: float = 60.0,
        patience: float = 10.0,
        busy_timeout_ms: int = 5000,
        prepared: bool = True,
    ) -> None:
        self.address = Address(url, connect_timeout=connect_timeout, timeout=timeout)
        self.errors = PostgresErrors(self.address)
        self._prepare_after = 5 if prepared else None
        self._timeout = timeout
        self._patience = patience
        settings = {
            "search_path": SCHEMA_NAME,
            "statement_timeout": str(round(timeout * 1000)),
            "lock_timeout": str(busy_timeout_ms),
        }
        self._local = "; ".join(f"SET LOCAL {name} = {value}" for name, value in settings.items()).encode()
        calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
        self._local_call = f"SELECT {calls}, set_config('{BANK_SETTING}', %s, true)".encode()
        self.is_secured = False
        """Whether row-level security holds for this role, so that COPY cannot write."""
        self._free = threading.BoundedSemaphore(connections)
        # A thread that writes may read by a second connection: writers never take all of them.
        self._writers = threading.BoundedSemaphore(max(1, connections // 2))
        # A reading that holds a snapshot reads rows by another connection: snapshots never take all of them either.
        self._snapshots = threading.BoundedSemaphore(max(1, connections // 4))
        self._idle: list[Db] = []
        self._lock = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        self.losses = 0
        """How often a connection was lost, or could not be had, since the start."""

    def select(self, query: str, *parameters: object, bank: str = ANY_BANK) -> list[Values]:
        """Return all rows of a query, in a transaction and a round trip of its own."""
        return self.select_all([(query, parameters)], bank)[0]

    def select_all(
        self, queries: Sequence[tuple[str, Sequence[object]]], bank: str = ANY_BANK
    ) -> list[list[Values]]:
        """Return the rows of each query with its values, in one transaction and one round trip."""

        def attempt() -> list[list[Values]]:
            with self._borrowed() as db:
                cursors = [db.cursor(binary=True) for _ in queries]
                # A pipeline is one transaction, which ends with it.
                with db.pipeline():
                    db.execute(self._local_call, (bank,))
                    for cursor, (query, parameters) in zip(cursors, queries, strict=True):
                        cursor.execute(translated(query), parameters)
                return [cursor.fetchall() for cursor in cursors]

        return self.until_reached(attempt)

    @contextmanager
    def reading(self, bank: str = ANY_BANK) -> Iterator[Db]:
        """Open a transaction that sees one state of the database."""
        with self._transaction(_BEGIN_READING, bank) as db:
            yield db

    @contextmanager
    def snapshot(self, bank: str) -> Iterator[Db]:
        """Open a transaction as `reading` does, to be kept open while others are used."""
        if not self._snapshots.acquire(timeout=self._timeout):
            raise StoreLocked(f"{self.address.shown}: all connections for searches of large banks are in use")
        try:
            with self.reading(bank) as db:
                yield db
        finally:
            self._snapshots.release()

    @contextmanager
    def writing(self, bank: str = ANY_BANK) -> Iterator[Db]:
        """Open a transaction: committed at the end, rolled back on any error."""
        if not self._writers.acquire(timeout=self._timeout):
            raise StoreLocked(f"{self.address.shown}: all connections for writing are in use")
        try:
            with self._transaction(_BEGIN_WRITING, bank) as db:
                yield db
        finally:
            self._writers.release()

    def close(self) -> None:
        """Close the connections; those in use are closed when they are given back."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    @contextmanager
    def _transaction(self, begin: bytes, bank: str) -> Iterator[Db]:
        db = self.until_reached(lambda: self._begun(begin, bank))
        try:
            yield db
            try:
                db.execute(b"COMMIT")
            except psycopg.Error as error:
                if is_lost(error):
                    raise StoreUnreachable(
                        f"{self.address.shown}: the connection was lost at the commit, so whether it was written is not known"
                    ) from None
                raise
        finally:
            self._give_back(db)

    def _begun(self, begin: bytes, bank: str) -> Db:
        db = self._take()
        try:
            named = f"SET LOCAL {BANK_SETTING} = {quote(bank)}".encode()
            db.execute(begin + b"; " + self._local + b"; " + named)
        except psycopg.errors.FeatureNotSupported as error:
            # "cannot set transaction read-write mode during recovery": behind a pooler there is a standby.
            self._give_back(db)
            raise psycopg.OperationalError(str(error)) from None
        except BaseException:
            self._give_back(db)
            raise
        return db

    def until_reached(self, attempt: Callable[[], T]) -> T:
        """Return the result of an attempt, which is repeated while the server cannot be reached."""
        deadline = time.monotonic() + self._patience
        pause = _FIRST_PAUSE
        while True:
            try:
                return attempt()
            except psycopg.Error as error:
                if is_lost(error):
                    with self._lock:
                        self.losses += 1
                if not is_lost(error) or is_refused(error) or time.monotonic() + pause > deadline:
                    raise
            self._drop_idle()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def check_reached(self, losses: int) -> None:
        """Raise StoreUnreachable after more than `losses` lost connections, or without an answer."""
        if self.losses == losses:
            with (
                suppress(psycopg.Error),
                psycopg.connect(self.address.conninfo, connect_timeout=_PROBE_SECONDS),
            ):
                return
        raise StoreUnreachable(f"{self.address.shown}: no primary answers")

    @contextmanager
    def _borrowed(self) -> Iterator[Db]:
        db = self._take()
        try:
            yield db
        finally:
            self._give_back(db)

    def _take(self) -> Db:
        self._check_usable()
        if not self._free.acquire(timeout=self._timeout):
            raise StoreLocked(f"{self.address.shown}: all connections are in use")
        try:
            with self._lock:
                if self._idle:
                    return self._idle.pop()
            db = PatientConnection.connect(
                self.address.conninfo, autocommit=True, prepare_threshold=self._prepare_after
            )
            db.longest_silence = self._timeout + max(1.0, self._timeout / 10)
            return db
        except BaseException:
            self._free.release()
            raise

    def _give_back(self, db: Db) -> None:
        """Roll back what is not committed; a connection that cannot do that is closed."""
        try:
            if not db.closed and db.info.transaction_status is not TransactionStatus.IDLE:
                db.execute(b"ROLLBACK")
        except psycopg.Error:
            db.close()
        finally:
            with self._lock:
                if self._closed or db.closed:
                    db.close()
                else:
                    self._idle.append(db)
            self._free.release()

    def _drop_idle(self) -> None:
        """Close connections that nobody uses: they lead to a server that is gone."""
        with self._lock:
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreError(f"{self.address.shown}: the store is closed")
        if os.getpid() != self._process:
            raise StoreError(
                f"{self.address.shown}: opened before this process was forked; open it anew after the fork"
            )


class SnapshotReads:
    """Queries that all see one state of the database: of the moment of the first one. Safe for any thread."""

    def __init__(self, connections: Connections, bank: str) -> None:
        self._connections = connections
        self._bank = bank
        self._lock = threading.Lock()
        self._opened = ExitStack()
        self._db: Db | None = None

    def select_all(self, queries: Sequence[tuple[str, Sequence[object]]]) -> list[list[Values]]:
        """Return the rows of each query in one round trip, after a lost connection in another state."""
        with self._lock:
            try:
                return self._select_all(queries)
            except psycopg.Error as error:
                self._close()
                if not is_lost(error):
                    raise
                return self._select_all(queries)

    def close(self) -> None:
        """End the transaction."""
        with self._lock:
            self._close()

    def _select_all(self, queries: Sequence[tuple[str, Sequence[object]]]) -> list[list[Values]]:
        if self._db is None:
            self._db = self._opened.enter_context(self._connections.snapshot(self._bank))
        cursors = [self._db.cursor(binary=True) for _ in queries]
        with self._db.pipeline():
            for cursor, (query, parameters) in zip(cursors, queries, strict=True):
                cursor.execute(translated(query), parameters)
        return [cursor.fetchall() for cursor in cursors]

    def _close(self) -> None:
        self._db = None
        with suppress(psycopg.Error, StoreUnreachable):
            # It has only read: nothing is lost when the end of the transaction does not arrive.
            self._opened.close()
