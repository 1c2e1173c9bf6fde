"""The store on a server: PostgreSQL is the truth, every process caches the indexes of the banks that it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from threading import Lock

from perdure.domain.bank import Bank, check_bank_id
from perdure.domain.damage import Verification
from perdure.domain.record import Record
from perdure.errors import Unavailable
from perdure.ports.store import IndexUsage, Reading, Traces, Transaction
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.feed import BankState, Feed
from perdure.stores.postgres import traces
from perdure.stores.postgres.connections import Connections, translated
from perdure.stores.postgres.migrate import migrate
from perdure.stores.postgres.rows import (
    PostgresFeed,
    PostgresRows,
    PostgresTables,
    PostgresTransaction,
    column_types,
)
from perdure.stores.postgres.verify import verify
from perdure.stores.sql import columns, queries
from perdure.stores.sql.columns import T, Values
from perdure.stores.sql.copying import Tables
from perdure.stores.sql.feed import read_state
from perdure.stores.sql.reading import BankReading
from perdure.stores.sql.transaction import upsert


class BankStates:
    """The states of banks as last read; with `seconds` 0 each is read for every reading."""

    def __init__(self, read: Callable[[str], BankState | None], seconds: float) -> None:
        self._read = read
        self._seconds = seconds
        self._states: dict[str, tuple[float, BankState]] = {}
        self._written = 0
        """Grows with every transaction of this process: a state that was read before its end is not kept."""
        self._lock = Lock()

    def get(self, bank: str) -> BankState | None:
        """The state of a bank, at most `seconds` old; None when there is no such bank."""
        began = time.monotonic()
        with self._lock:
            kept, written = self._states.get(bank), self._written
        if kept is not None and began - kept[0] < self._seconds:
            return kept[1]
        state = self._read(bank)
        with self._lock:
            if state is None:
                self._states.pop(bank, None)
            elif self._seconds and written == self._written:
                self._states[bank] = began, state
        return state

    def forget(self, bank: str) -> None:
        """Read the state anew: this process has written to the bank."""
        with self._lock:
            self._written += 1
            self._states.pop(bank, None)


class PostgresStore:
    """The Store protocol on one database, which any number of processes on any number of machines may share."""

    def __init__(
        self,
        connections: Connections,
        indexes: IndexCache,
        clock: Callable[[], datetime],
        max_age: float = 0.0,
    ) -> None:
        self._connections = connections
        self._indexes = indexes
        self._clock = clock
        self._states = BankStates(lambda bank: read_state(connections.select, bank), max_age)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        connections: int = 16,
        connect_timeout: float = 5.0,
        timeout: float = 60.0,
        patience: float = 10.0,
        busy_timeout_ms: int = 5000,
        prepared: bool = True,
        max_age: float = 0.0,
        index_memory_mb: int = 1024,
        indexes: IndexCache | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> PostgresStore:
        """Connect, and create the tables in the schema `perdure` when there are none.

        `max_age` is how many seconds old the state of a bank's index may be; 0 looks for every reading. Erased facts are
        never returned either way, since their rows are read when asked for. `indexes` may be shared with other stores whose
        banks have other ids.
        """
        opened = Connections(
            url,
            connections=connections,
            connect_timeout=connect_timeout,
            timeout=timeout,
            patience=patience,
            busy_timeout_ms=busy_timeout_ms,
            prepared=prepared,
        )
        try:
            migrate(opened)
        except BaseException:
            opened.close()
            raise
        return cls(
            opened,
            indexes or IndexCache(index_memory_mb << 20),
            clock or (lambda: datetime.now(UTC)),
            max_age,
        )

    @property
    def shown(self) -> str:
        """Its address without user and password."""
        return self._connections.address.shown

    @property
    def errors(self) -> AbstractContextManager[None]:
        """A block that the driver's errors leave as StoreErrors."""
        return self._connections.errors

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        with self._connections.errors:
            return queries.banks(self._connections.select, ids)

    def banks_with_records(self, kind: str) -> list[str]:
        with self._connections.errors:
            return queries.banks_with_records(self._connections.select, kind)

    @contextmanager
    def reading(self, bank: str) -> Iterator[Reading]:
        check_bank_id(bank)
        with self._connections.errors:
            state = self._states.get(bank)
        if state is None:
            self._indexes.drop(bank)
        yield PostgresReading(self._connections, self._indexes, bank, state)

    @contextmanager
    def transaction(self, bank: str) -> Iterator[Transaction]:
        with self._writing(bank) as transaction:
            yield transaction

    def record_recalls(self, bank: str, recalls: Iterable[tuple[str, datetime]]) -> None:
        with self._writing(bank) as transaction:
            transaction.add_recalls(recalls)

    def shared_records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        with self._connections.errors:
            return queries.shared_records(self._connections.select, kind, ids)

    def put_shared_records(self, records: Sequence[Record]) -> None:
        now = self._clock().isoformat()
        with self._connections.errors, self._connections.writing() as db:
            for record in records:
                row = dict(zip(columns.RECORD, columns.values(record, columns.RECORD), strict=True))
                statement, values = upsert("shared_record", ("kind", "id"), row, now)
                db.execute(translated(statement), values)

    def delete_shared_records(self, kind: str, ids: Sequence[str]) -> None:
        with self._connections.errors, self._connections.writing() as db:
            db.execute(b"DELETE FROM shared_record WHERE kind = %s AND id = ANY(%s)", (kind, list(ids)))

    def traces(self) -> Traces:
        with self._connections.errors:
            return traces.traces(self._connections)

    def clears_traces_at_once(self) -> bool:
        """Never: it takes locks that other machines wait for."""
        return False

    def clear_traces(self) -> Traces:
        with self._connections.errors:
            return traces.clear(self._connections)

    def traces_progress(self) -> float:
        with self._connections.errors:
            return traces.progress(self._connections)

    def evictions(self) -> int:
        return self._indexes.evicted

    def index_usage(self) -> IndexUsage:
        return self._indexes.usage()

    @property
    def read_only(self) -> bool:
        return False

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Nothing is repaired here: a server that damages rows needs its own backups."""
        if repair or drop:
            raise Unavailable("verify --repair: PostgreSQL's rows are mended from its own backups")
        with self._connections.errors:
            return verify(self._connections, quick=quick)

    def backup(self, file: str) -> None:
        raise Unavailable(
            "backup: use pg_dump, or `perdure database copy FILE` for a SQLite file of all banks"
        )

    def note_erasure(self, now: datetime) -> None:
        """Say that content was erased: its traces in the files have to be cleared."""
        with self._connections.errors, self._connections.writing() as db:
            traces.note_erasure(db, now.isoformat())

    def table_columns(self) -> Mapping[str, Sequence[str]]:
        return {table: tuple(columns) for table, columns in column_types().items()}

    @contextmanager
    def tables(self, *, writing: bool) -> Iterator[Tables]:
        opened = self._connections.writing if writing else self._connections.reading
        with self._connections.errors, opened() as db:
            yield PostgresTables(db)

    def close(self) -> None:
        self._indexes.clear()
        self._connections.close()

    @contextmanager
    def _writing(self, bank: str) -> Iterator[PostgresTransaction]:
        check_bank_id(bank)
        with self._connections.errors:
            try:
                with self._connections.writing() as db:
                    transaction = PostgresTransaction(db, bank, self._clock())
                    with transaction.send_ahead():
                        yield transaction
                        transaction.finish()
            finally:
                self._states.forget(bank)


class PostgresReading(PostgresRows, BankReading):
    """The Reading protocol: each read of rows is a transaction of its own, searches come from one snapshot of the index."""

    def __init__(
        self, connections: Connections, indexes: IndexCache, bank: str, state: BankState | None
    ) -> None:
        self._connections = connections
        self.feed_elsewhere: Callable[[], AbstractContextManager[Feed]] | None = None
        """A feed of the bank where it is now, should it have left this database since."""
        BankReading.__init__(self, connections.errors, indexes, bank, state)

    @contextmanager
    def _feed(self) -> Iterator[Feed]:
        with self._connections.reading() as db:
            feed = PostgresFeed(db, self.bank_id)
            if feed.state() is not None or self.feed_elsewhere is None:
                yield feed
                return
        with self.feed_elsewhere() as moved:
            yield moved

    def _until_read(self, read: Callable[[], T]) -> T:
        return self._connections.until_reached(read)

    def _select(self, query: str, *parameters: object) -> list[Values]:
        with self._connections.errors:
            return self._connections.select(query, *parameters)

    def _fact_rows(self, column: str, values: Iterable[object]) -> list[list[Values]]:
        """What belongs to the facts in one round trip."""
        facts = list(self._where(queries.FACT, column, values))
        if not facts:
            return [[] for _ in (queries.FACT, *queries.FACT_LISTS)]
        condition, parameters = self._any("fact", [row[0] for row in facts])
        asked = [(f"{query} AND {condition}", (self.bank_no, *parameters)) for query in queries.FACT_LISTS]
        with self._connections.errors:
            return [facts, *self._connections.select_all(asked)]
