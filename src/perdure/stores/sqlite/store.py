"""The embedded store: one SQLite file is the truth, an index in memory per bank answers the channels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from os import PathLike
from typing import Literal

from perdure.domain.bank import check_bank_id
from perdure.domain.damage import Verification
from perdure.errors import InvalidInput, NotFound
from perdure.ports.store import Reading, Traces
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.feed import BankState, Feed
from perdure.stores.sql.columns import Values
from perdure.stores.sql.copying import Tables
from perdure.stores.sql.feed import read_state
from perdure.stores.sql.reading import BankReading
from perdure.stores.sql.schema import parse_tables
from perdure.stores.sql.store import SqlStore
from perdure.stores.sqlite import copies, traces
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.rows import SqliteFeed, SqliteRows, SqliteTables, SqliteTransaction
from perdure.stores.sqlite.schema import schema
from perdure.stores.sqlite.verify import verify

_STATES_KEPT = 4096
"""Banks per thread whose state is remembered."""


class SqliteStore(SqlStore):
    """The Store protocol on one file, which any number of processes may share."""

    def __init__(self, connections: Connections, indexes: IndexCache, clock: Callable[[], datetime]) -> None:
        super().__init__(connections.errors, indexes, clock)
        self._connections = connections

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        synchronous: Literal["normal", "full"] = "normal",
        busy_timeout_ms: int = 5000,
        index_memory_mb: int = 1024,
        clock: Callable[[], datetime] | None = None,
    ) -> SqliteStore:
        """Open a file, creating it when there is none; one that cannot be written is opened for reading.

        `synchronous="full"` keeps acknowledged writes through a loss of power, not only of the process.
        """
        if synchronous not in ("normal", "full"):
            raise InvalidInput("synchronous", "'normal' or 'full'", synchronous)
        if str(path) == ":memory:" or "\x00" in str(path):
            raise InvalidInput("database", "the path of a file", str(path))
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.exists(folder):
            raise NotFound("folder", folder)
        _make_private(str(path))
        connections = Connections(str(path), synchronous=synchronous, busy_timeout_ms=busy_timeout_ms)
        return cls(connections, IndexCache(index_memory_mb << 20), clock or (lambda: datetime.now(UTC)))

    @contextmanager
    def reading(self, bank: str) -> Iterator[Reading]:
        check_bank_id(bank)
        with self._connections.errors:
            state = self._bank_state(bank)
        yield SqliteReading(self._connections, self._indexes, bank, state)

    def traces(self) -> Traces:
        with self._connections.errors:
            return traces.traces(self._connections)

    def pending_traces(self) -> tuple[str, ...]:
        told = "erased rows in unused parts of the file and in its log, until background work has written it anew"
        return (told,) if self.traces() is Traces.PENDING else ()

    def clears_traces_at_once(self) -> bool:
        return traces.clears_at_once(self._connections)

    def clear_traces(self) -> Traces:
        with self._connections.errors:
            return traces.clear(self._connections)

    def table_columns(self) -> Mapping[str, Sequence[str]]:
        return {table: tuple(columns) for table, columns in parse_tables(schema()).items()}

    @contextmanager
    def tables(self, *, writing: bool) -> Iterator[Tables]:
        opened = self._connections.writing if writing else self._connections.reader().one_state
        with self._connections.errors, opened() as db:
            yield SqliteTables(db)

    @property
    def encrypts_new_banks(self) -> bool:
        return False

    def search_tables_due(self, bank: str) -> bool:
        return False

    def build_search_tables(self, bank: str, progress: Callable[[float], None], *, wait: bool = True) -> bool:
        """Do nothing: every bank is searched in memory."""
        return True

    @property
    def read_only(self) -> bool:
        return self._connections.read_only

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        with self._connections.errors:
            return verify(self._connections, quick=quick, repair=repair, drop=drop)

    def backup(self, file: str) -> None:
        with self._connections.errors:
            copies.write_copy(self._connections, file)

    def close(self) -> None:
        self._indexes.clear()
        self._connections.close()

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._connections.reader().select(query, *parameters)

    @contextmanager
    def _writing(self, bank: str) -> Iterator[SqliteTransaction]:
        check_bank_id(bank)
        with self._connections.errors, self._connections.writing() as db:
            transaction = SqliteTransaction(db, bank, self._clock())
            yield transaction
            transaction.finish()

    def _bank_state(self, bank: str) -> BankState | None:
        """Return the state of a bank in the file, read again only when something was committed."""
        reader = self._connections.reader()
        version = reader.data_version()
        remembered = reader.states.get(bank)
        if remembered is not None and remembered[0] == version:
            return remembered[1]
        if len(reader.states) >= _STATES_KEPT:
            reader.states.clear()
        state = read_state(reader.select, bank)
        reader.states[bank] = (version, state)
        if state is None:
            self._indexes.drop(bank)
        return state


class SqliteReading(SqliteRows, BankReading):
    """The Reading protocol: rows from the thread's connection, one snapshot for all searches."""

    def __init__(
        self, connections: Connections, indexes: IndexCache, bank: str, state: BankState | None
    ) -> None:
        self._connections = connections
        BankReading.__init__(self, connections.errors, indexes, bank, state)

    @contextmanager
    def _feed(self) -> Iterator[Feed]:
        with self._connections.reader().one_state() as db:
            yield SqliteFeed(db, self.bank_id)

    def _select(self, query: str, *parameters: object) -> list[Values]:
        with self._connections.errors:
            return self._connections.reader().connection.execute(query, parameters).fetchall()


def _make_private(path: str) -> None:
    """Create a missing file for its owner alone, as SQLite then does with its log files."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
