"""The store on PostgreSQL; every process caches the indexes of the banks that it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from perdure.domain.bank import check_bank_id
from perdure.domain.damage import Verification
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.errors import Unavailable
from perdure.ports.probe import Probe, RelationProbe
from perdure.ports.store import Reading, Selection, Traces
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.feed import BankState, Feed
from perdure.stores.postgres import large_build, secure, traces
from perdure.stores.postgres.connections import SHARED, Connections, SnapshotReads
from perdure.stores.postgres.large_rows import LargeBank, read_large_bank
from perdure.stores.postgres.large_search import LargeSearch
from perdure.stores.postgres.rows import (
    SERVER_STARTED,
    PostgresFeed,
    PostgresRows,
    PostgresTables,
    PostgresTransaction,
)
from perdure.stores.postgres.schema import column_types, prepare
from perdure.stores.postgres.verify import verify
from perdure.stores.sql import queries
from perdure.stores.sql.columns import T, Values, batches
from perdure.stores.sql.copying import Tables
from perdure.stores.sql.reading import BankReading
from perdure.stores.sql.store import SqlStore

_STATE = (
    f"SELECT no, version, vectors_version, changes_dropped, model, dimensions, {SERVER_STARTED}, filled, ready, open_facts, open_length,"
    " EXISTS (SELECT 1 FROM content_key WHERE content_key.bank = one.no AND scope IN ('', 'encrypting'))"
    " FROM (SELECT * FROM bank WHERE id = ?) AS one LEFT JOIN large_bank ON large_bank.bank = one.no"
)


class PostgresState(NamedTuple):
    """What the database says of a bank, and how it is searched."""

    bank: BankState
    large: LargeBank | None
    """None while it is searched in memory."""
    is_encrypted: bool


def read_state(connections: Connections, bank: str) -> PostgresState | None:
    """Return the state of a bank, None when there is no such bank."""
    for *state, filled, ready, open_facts, open_length, is_encrypted in connections.select(
        _STATE, bank, bank=bank
    ):
        large = read_large_bank([(filled, ready, open_facts, open_length)]) if ready else None
        return PostgresState(BankState(*state), large, is_encrypted)
    return None


LARGE_BANK_FACTS = 300_000
"""Facts above which a bank is searched in SQL; an index takes about 2 KB of memory per fact."""


class PostgresStore(SqlStore):
    """The Store protocol on one database, shared by any number of processes and machines."""

    def __init__(
        self,
        connections: Connections,
        indexes: IndexCache,
        clock: Callable[[], datetime],
        large_bank_facts: int = LARGE_BANK_FACTS,
        encrypt_content: bool = False,
    ) -> None:
        super().__init__(connections.errors, indexes, clock)
        self._encrypt_content = encrypt_content
        self._connections = connections
        self._large_bank_facts = large_bank_facts
        self._search_tables = large_build.SearchTables(connections, large_bank_facts)
        self._vector_schema = ""

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
        index_memory_mb: int = 1024,
        large_bank_facts: int = LARGE_BANK_FACTS,
        encrypt_content: bool = False,
        clock: Callable[[], datetime] | None = None,
    ) -> PostgresStore:
        """Connect, and create the tables in the schema `perdure` when there are none."""
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
            prepare(opened)
            with opened.errors:
                opened.is_secured = secure.holds(opened)
        except BaseException:
            opened.close()
            raise
        return cls(
            opened,
            IndexCache(index_memory_mb << 20),
            clock or (lambda: datetime.now(UTC)),
            large_bank_facts,
            encrypt_content,
        )

    @property
    def shown(self) -> str:
        """Return the address without user and password."""
        return self._connections.address.shown

    @property
    def errors(self) -> AbstractContextManager[None]:
        """Translate the driver's errors within a block."""
        return self._connections.errors

    @contextmanager
    def reading(self, bank: str) -> Iterator[Reading]:
        check_bank_id(bank)
        with self._connections.errors:
            state = read_state(self._connections, bank)
        if state is None or state.large is not None:
            self._indexes.drop(bank)
        snapshot = SnapshotReads(self._connections, bank)
        try:
            large = self._large_search(state, snapshot)
            yield PostgresReading(
                self._connections,
                self._indexes,
                bank,
                None if state is None else state.bank,
                large,
                is_encrypted=state is not None and state.is_encrypted,
            )
        finally:
            snapshot.close()

    def traces(self) -> Traces:
        with self._connections.errors:
            return traces.traces(self._connections)

    def pending_traces(self) -> tuple[str, ...]:
        with self._connections.errors:
            return traces.pending(self._connections)

    def clears_traces_at_once(self) -> bool:
        """Return False: it takes locks that other machines wait for."""
        return False

    def clear_traces(self) -> Traces:
        with self._connections.errors:
            return traces.clear(self._connections)

    @property
    def read_only(self) -> bool:
        return False

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Check what is stored; pages and indexes are the server's own concern (`pg_amcheck`)."""
        with self._connections.errors:
            return verify(self._connections, self._writing, quick=quick, repair=repair, drop=drop)

    def backup(self, file: str) -> None:
        raise Unavailable(
            "backup: PostgreSQL is backed up by pg_dump or pg_basebackup;"
            " `perdure database copy FILE` writes a SQLite file of all banks"
        )

    def table_columns(self) -> Mapping[str, Sequence[str]]:
        return {table: tuple(columns) for table, columns in column_types().items()}

    @contextmanager
    def tables(self, *, writing: bool) -> Iterator[Tables]:
        opened = self._connections.writing if writing else self._connections.reading
        with self._connections.errors, opened() as db:
            yield PostgresTables(db)

    @property
    def encrypts_new_banks(self) -> bool:
        return self._encrypt_content

    def close(self) -> None:
        self._indexes.clear()
        self._connections.close()

    def secure(self, role: str, *, off: bool = False) -> None:
        """Let a role read and write, each transaction one bank (`perdure.stores.postgres.secure`)."""
        with self._connections.errors:
            (secure.disable if off else secure.enable)(self._connections, role)

    def search_tables_due(self, bank: str) -> bool:
        with self._connections.errors:
            return large_build.is_due(self._connections, check_bank_id(bank), self._large_bank_facts)

    def build_search_tables(
        self, bank: str, progress: Callable[[float], None] = lambda share: None, *, wait: bool = True
    ) -> bool:
        check_bank_id(bank)
        with self._connections.errors:
            return self._search_tables.build(bank, lambda: self._writing(bank), progress, wait=wait)

    def _large_search(self, state: PostgresState | None, snapshot: SnapshotReads) -> LargeSearch | None:
        """Return what searches a large bank, None for one that is searched in memory."""
        if state is None or state.large is None:
            return None
        if not self._vector_schema:
            with self._connections.errors:
                self._vector_schema = large_build.extension_schema(self._connections) or "public"
        return LargeSearch(snapshot.select_all, state.bank.key, state.large, self._vector_schema)

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._connections.select(query, *parameters)

    def _select_shared(self, query: str, *parameters: object) -> list[Values]:
        return self._connections.select(query, *parameters, bank=SHARED)

    @contextmanager
    def _writing_shared(self) -> Iterator[Tables]:
        with self._connections.errors, self._connections.writing(SHARED) as db:
            yield PostgresTables(db)

    @contextmanager
    def _writing(self, bank: str) -> Iterator[PostgresTransaction]:
        check_bank_id(bank)
        with self._connections.errors, self._connections.writing(bank) as db:
            transaction = PostgresTransaction(
                db,
                bank,
                self._clock(),
                by_copy=not self._connections.is_secured,
                encrypt_new=self._encrypt_content,
            )
            with transaction.send_ahead():
                yield transaction
                transaction.finish()


class PostgresReading(PostgresRows, BankReading):
    """The Reading protocol: a transaction per read of rows, one snapshot for all searches."""

    def __init__(
        self,
        connections: Connections,
        indexes: IndexCache,
        bank: str,
        state: BankState | None,
        large: LargeSearch | None,
        *,
        is_encrypted: bool,
    ) -> None:
        self._connections = connections
        self._losses = connections.losses
        self._is_encrypted = is_encrypted
        self._large = large
        BankReading.__init__(self, connections.errors, indexes, bank, state)

    def check_reached(self) -> None:
        self._connections.check_reached(self._losses)

    def search(self, probe: Probe, where: Filter, limit: int) -> list[Hit]:
        if self._large is None or self._state is None or limit < 1:
            return super().search(probe, where, limit)
        self._check_dimensions(probe, self._state)
        with self._errors:
            names: Mapping[str, Sequence[str]] = {}
            if isinstance(probe, RelationProbe):
                entities = [keyed.entity for keyed in self.entities(ids=list(probe.entities))]
                names = {entity.id: (entity.name, *entity.aliases) for entity in entities}
            return self._large.search(probe, where, limit, names)

    def _listing(self, selection: Selection, among: Collection[int] | None) -> tuple[list[int], int]:
        if self._large is None:
            return super()._listing(selection, among)
        return self._large.listing(selection, among)

    @contextmanager
    def _feed(self) -> Iterator[Feed]:
        with self._connections.reading(self.bank_id) as db:
            yield PostgresFeed(db, self.bank_id)

    def _until_read(self, read: Callable[[], T]) -> T:
        return self._connections.until_reached(read)

    def _readable(self, rows: list[Values]) -> list[Values]:
        return super()._readable(rows) if self._is_encrypted else rows

    def _raw_rows(self, query: str, *parameters: object) -> list[Any]:
        with self._connections.errors:
            return self._connections.select(query, *parameters, bank=self.bank_id)

    def _fact_rows(self, column: str, values: Iterable[object]) -> list[list[Values]]:
        """Return whole facts in one round trip, row by row if one of them cannot be read."""
        rows: list[list[Values]] = [[] for _ in (queries.FACT, *queries.FACT_LISTS)]
        for batch in batches(values):
            condition, parameters = self._any(column, batch)
            numbers = f"fact IN (SELECT no FROM fact WHERE bank = ? AND {condition})"
            asked = [(f"{queries.FACT} AND {condition}", (self.bank_no, *parameters))]
            for query in queries.FACT_LISTS:
                asked.append((f"{query} AND {numbers}", (self.bank_no, self.bank_no, *parameters)))
            try:
                with self._connections.errors:
                    stored = self._connections.select_all(asked, self.bank_id)
                readable = [self._readable(part) for part in stored]
            except Exception as error:
                if not self._is_damage(error):
                    raise
                readable = super()._fact_rows(column, batch)
            for part, more in zip(rows, readable, strict=True):
                part += more
        return rows
