"""Fills the search tables of a bank that outgrew memory, and empties them when it has shrunk.

Facts are taken block by block, each block under the bank's lock, so that writers wait for a block at most;
from then on they keep its rows up to date themselves. Then the HNSW indexes are built beside the writers
(CREATE INDEX CONCURRENTLY), and only then searches use the tables. What was interrupted goes on behind the
last block.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from threading import Lock, Thread

import psycopg

from perdure.errors import Busy, PerdureError, Unavailable
from perdure.stores.postgres.connections import SCHEMA_NAME, Connections, Db, select
from perdure.stores.postgres.large_rows import (
    LARGE_BANK,
    TABLES,
    VECTORS,
    LargeBank,
    LargeRows,
    read_large_bank,
)
from perdure.stores.postgres.large_search import vector_index
from perdure.stores.postgres.rows import PostgresTransaction
from perdure.stores.postgres.schema import ADVISORY_CLASS
from perdure.stores.sql.columns import batches
from perdure.stores.sql.feed import packed_facts

log = logging.getLogger("perdure.postgres")

FILLED_AT_ONCE = 4000
"""Facts per transaction."""
SHRUNK = 0.8
"""A bank leaves the tables below this share of the facts that brought it there."""
CONNECTIONS_PER_VECTOR, CANDIDATES_AT_BUILD = 16, 64
"""HNSW's m and ef_construction: pgvector's defaults."""
BUILD_MEMORY = "2GB"
"""`maintenance_work_mem` of the build: a graph that does not fit is built many times slower."""
_MOMENT = 1.0
"""Seconds that a step of the background waits for indexes before it lets others have their turn."""
_FILL_SHARE = 0.5
"""Of the progress, what filling takes; the rest is the indexes."""
_EXTENSION = (
    "SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace"
    " WHERE e.extname = 'vector'"
)
Transaction = Callable[[], AbstractContextManager[PostgresTransaction]]
"""Opens a transaction of the bank."""


def extension_schema(connections: Connections) -> str | None:
    """Return where the extension `vector` is, None where the database does not have it."""
    rows = connections.select(_EXTENSION)
    return str(rows[0][0]) if rows else None


def is_due(connections: Connections, bank_id: str, limit: int) -> bool:
    """Return whether the bank has more facts than `limit` and no tables, or tables without need.

    Never where the server does not offer pgvector: the bank stays in memory then.
    """
    query = (
        "SELECT bank.no, bank.last_fact, large_bank.ready, large_bank.open_facts FROM bank"
        " LEFT JOIN large_bank ON large_bank.bank = bank.no WHERE bank.id = ?"
    )
    offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    for no, last_fact, ready, open_facts in connections.select(query, bank_id, bank=bank_id):
        if ready:
            # The open facts alone mostly tell that it has not shrunk; to count all would take long.
            return open_facts < SHRUNK * limit and _count(connections, bank_id, no) < SHRUNK * limit
        if last_fact <= limit or not connections.select(offered):
            return False
        return ready is not None or _count(connections, bank_id, no) > limit
    return False


class SearchTables:
    """Builds the search tables of banks, for one store."""

    def __init__(self, connections: Connections, limit: int) -> None:
        self._connections = connections
        self._limit = limit
        self._lock = Lock()
        self._threads: dict[str, _IndexBuild] = {}
        """Bank -> the thread that builds its indexes of vectors."""

    def build(
        self, bank_id: str, transaction: Transaction, progress: Callable[[float], None], *, wait: bool
    ) -> bool:
        """Fill or empty the tables of a bank, as its size asks for; True when nothing is left to do.

        Without `wait` only the next block is taken in, or the building of the indexes begun, which raises
        Busy until they are there.
        """
        connections = self._connections
        _drop_unused_indexes(connections)
        for (bank,) in connections.select("SELECT no FROM bank WHERE id = ?", bank_id):
            if _count(connections, bank_id, bank) < SHRUNK * self._limit:
                drop(transaction, connections)
                return True
            _ensure_vectors(connections)
            while not _fill_block(transaction, progress):
                if not wait:
                    return False
            self._build_indexes(bank_id, bank, progress, wait=wait)
            # Facts that came meanwhile are few; searches may use the tables when there are none.
            while not _fill_block(transaction, progress, make_ready=True):
                pass
            _analyze(connections)
            progress(1.0)
            log.info("bank %s: searched in SQL from now on", bank_id)
        return True

    def _build_indexes(
        self, bank_id: str, bank: int, progress: Callable[[float], None], *, wait: bool
    ) -> None:
        missing = [
            view for view in _views(self._connections, bank) if not _is_valid(self._connections, bank, view)
        ]
        with self._lock:
            running = self._threads.get(bank_id)
            if running is None and missing:
                running = self._threads[bank_id] = _IndexBuild(self._connections, bank, missing)
                running.start()
        if running is None:
            return
        progress(_FILL_SHARE)
        running.join(None if wait else _MOMENT)
        if running.is_alive():
            raise Busy("the indexes of vectors are being built")
        with self._lock:
            self._threads.pop(bank_id, None)
        if running.error is not None:
            raise running.error


class _IndexBuild(Thread):
    """Builds indexes of a bank's vectors; a build ends with its process."""

    def __init__(self, connections: Connections, bank: int, views: Sequence[str]) -> None:
        super().__init__(name=f"perdure-hnsw-{bank}", daemon=True)
        self._connections, self._bank, self._views = connections, bank, views
        self.error: PerdureError | None = None

    def run(self) -> None:
        try:
            with self._connections.errors:
                for view in self._views:
                    _build_index(self._connections, self._bank, view)
        except PerdureError as error:
            self.error = error


def drop(transaction: Transaction, connections: Connections) -> None:
    """Empty the tables of a bank: from then on it is searched in memory."""
    with transaction() as tx:
        tx.leave_search_tables()
    _drop_unused_indexes(connections)


def _count(connections: Connections, bank_id: str, bank: int) -> int:
    ((count,),) = connections.select("SELECT count(*) FROM fact WHERE bank = ?", bank, bank=bank_id)
    return int(count)


def _views(connections: Connections, bank: int) -> list[str]:
    query = f"SELECT DISTINCT view FROM {VECTORS} WHERE bank = ? ORDER BY view"
    return [view for (view,) in connections.select(query, bank)]


def _ensure_vectors(connections: Connections) -> None:
    """Create the extension, which needs a superuser, and the table of vectors."""
    with connections.writing() as db:
        select(db, "SELECT pg_advisory_xact_lock(?::integer, 1)", ADVISORY_CLASS)
        if not select(db, _EXTENSION):
            _create_extension(db)
        ((schema,),) = select(db, _EXTENSION)
        db.execute(
            f'CREATE TABLE IF NOT EXISTS {VECTORS} (bank BIGINT NOT NULL, view TEXT COLLATE "C" NOT NULL,'
            f" fact BIGINT NOT NULL, value {schema}.halfvec NOT NULL, PRIMARY KEY (bank, view, fact))".encode()
        )


def _create_extension(db: Db) -> None:
    try:
        db.execute(b"CREATE EXTENSION vector WITH SCHEMA public")
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported) as error:
        raise Unavailable(
            "banks that are searched in SQL need pgvector: let a superuser run CREATE EXTENSION vector in the database"
        ) from error


def _fill_block(
    transaction: Transaction, progress: Callable[[float], None], *, make_ready: bool = False
) -> bool:
    """Add the next facts. Return True when none is left and the tables are ready."""
    with transaction() as tx:
        state = read_large_bank(tx._select(LARGE_BANK, tx.bank_no))
        if state is None:
            state = LargeBank(0, False, 0, 0.0)
            tx._execute(
                "INSERT INTO large_bank (bank, filled, ready, open_facts, open_length) VALUES (?, 0, 0, 0, 0)",
                tx.bank_no,
            )
        query = "SELECT no FROM fact WHERE bank = ? AND no > ? ORDER BY no LIMIT ?"
        numbers = [no for (no,) in tx._of_bank(query, state.filled, FILLED_AT_ONCE)]
        if not numbers:
            if make_ready:
                tx._execute("UPDATE large_bank SET ready = 1 WHERE bank = ?", tx.bank_no)
            return True
        rows = LargeRows(tx, state)
        rows.put([fact for block in batches(numbers) for fact in packed_facts(tx, block)])
        rows.set_degrees(numbers)
        tx._execute("UPDATE large_bank SET filled = ? WHERE bank = ?", numbers[-1], tx.bank_no)
        ((last,),) = tx._of_bank("SELECT last_fact FROM bank WHERE no = ?")
        progress(_FILL_SHARE * numbers[-1] / max(last, 1))
    return False


def _build_index(connections: Connections, bank: int, view: str) -> None:
    """Build the HNSW index of a view; one that was interrupted is built anew."""
    name = vector_index(bank, view)
    ((dimensions,),) = connections.select("SELECT dimensions FROM bank WHERE no = ?", bank)
    schema = extension_schema(connections)
    where = f"bank = {bank} AND view = '{view.replace(chr(39), chr(39) * 2)}'"
    with closing(_own_connection(connections)) as db:
        db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA_NAME}.{name}".encode())
        db.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON {SCHEMA_NAME}.{VECTORS}"
            f" USING hnsw ((value::{schema}.halfvec({dimensions})) {schema}.halfvec_ip_ops)"
            f" WITH (m = {CONNECTIONS_PER_VECTOR}, ef_construction = {CANDIDATES_AT_BUILD})"
            f" WHERE {where}".encode()
        )


def _is_valid(connections: Connections, bank: int, view: str) -> bool:
    """Return whether the index of a view is there and whole."""
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)"
    rows = connections.select(query, f"{SCHEMA_NAME}.{vector_index(bank, view)}")
    return bool(rows and rows[0][0])


def _own_connection(connections: Connections) -> Db:
    """Connect outside of the pool and of transactions, with more memory if a pooler allows it."""
    options = f"-c maintenance_work_mem={BUILD_MEMORY} -c max_parallel_maintenance_workers=4"
    with suppress(psycopg.OperationalError):
        return psycopg.connect(connections.address.conninfo, autocommit=True, options=options)
    return psycopg.connect(connections.address.conninfo, autocommit=True)


def _analyze(connections: Connections) -> None:
    with connections.writing() as db:
        for table in (*TABLES, VECTORS):
            db.execute(f"ANALYZE {table}".encode())


def _drop_unused_indexes(connections: Connections) -> None:
    """Drop HNSW indexes of banks that are not in the tables (any more)."""
    query = (
        "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = to_regnamespace(?) AND c.relkind = 'i'"
        " AND starts_with(c.relname, 'large_vector_') AND c.relname ~ '^large_vector_[0-9]+_'"
        " AND NOT EXISTS (SELECT 1 FROM large_bank WHERE bank = split_part(c.relname, '_', 3)::int8)"
    )
    for (name,) in connections.select(query, SCHEMA_NAME):
        with connections.writing() as db:
            db.execute(f"DROP INDEX IF EXISTS {name}".encode())
