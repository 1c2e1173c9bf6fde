"""Rows of a bank by PostgreSQL's connections: reads, writes and the feed of one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import cache
from importlib.resources import files
from uuid import uuid4
from zlib import crc32

from perdure.stores.index.feed import BankState, PackedFact
from perdure.stores.postgres.connections import Db, translated
from perdure.stores.postgres.traces import note_erasure
from perdure.stores.sql.columns import Values, names, placeholders
from perdure.stores.sql.feed import STATE, BankFeed
from perdure.stores.sql.queries import BankRows
from perdure.stores.sql.schema import parse_tables
from perdure.stores.sql.transaction import BankTransaction

log = logging.getLogger("perdure.postgres")

ADVISORY_CLASS = 0x50455244
"""The first key of our advisory locks ("PERD")."""
_COPIED = 64
"""Rows from which on they are inserted by COPY."""
_STREAMED = 2048
"""Rows fetched at once from a cursor of the server."""
_PROGRESS = 20_000
"""Facts of a cold load after which it says how far it is."""
_DRIVER_TYPES = {"BIGINT": "int8", "TEXT": "text", "BYTEA": "bytea", "DOUBLE PRECISION": "float8"}


def schema() -> str:
    """The schema as SQL."""
    return files("perdure.stores.postgres").joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def column_types() -> Mapping[str, Mapping[str, str]]:
    """Table -> column -> type, as binary COPY must be told."""
    return {
        table: {column: _DRIVER_TYPES[kind] for column, kind in columns.items()}
        for table, columns in parse_tables(schema()).items()
    }


def insert_rows(db: Db, table: str, columns: Sequence[str], rows: Iterable[Values]) -> None:
    """Insert new rows by binary COPY."""
    types = column_types()[table]
    with db.cursor().copy(f"COPY {table} ({names(columns)}) FROM STDIN (FORMAT BINARY)".encode()) as copy:
        copy.set_types([types[column] for column in columns])
        for row in rows:
            copy.write_row(row)


def select(db: Db, query: str, *parameters: object) -> list[Values]:
    """All rows of a query within a transaction."""
    return db.cursor(binary=True).execute(translated(query), parameters).fetchall()


def stream(db: Db, query: str, *parameters: object) -> Iterator[list[Values]]:
    """The rows of a query in blocks, by a cursor of the server that ends with the transaction."""
    with db.cursor(f"perdure_{uuid4().hex}", binary=True) as cursor:
        cursor.execute(translated(query), parameters)
        while rows := cursor.fetchmany(_STREAMED):
            yield rows


class PostgresTables:
    """The Tables protocol of copies."""

    def __init__(self, db: Db) -> None:
        self._db = db

    def select(self, query: str, *parameters: object) -> list[Values]:
        return select(self._db, query, *parameters)

    def stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        return stream(self._db, query, *parameters)

    def execute(self, statement: str, *parameters: object) -> None:
        self._db.execute(translated(statement), parameters)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        if rows:
            insert_rows(self._db, table, columns, rows)


class PostgresRows(BankRows):
    """What PostgreSQL says in its own words."""

    def containing(self, text: str) -> list[int]:
        """ASCII is folded by the server, where it means the same; other texts by Python, as SQLite's adapter does."""
        folded = text.casefold()
        plain = "octet_length(text) = length(text)"
        query = (
            f"SELECT no, CASE WHEN {plain} THEN NULL ELSE text END FROM fact WHERE bank = ?"
            f' AND (NOT {plain} OR strpos(lower(text COLLATE "C"), ?) > 0) ORDER BY no'
        )
        return [
            no for no, other in self._of_bank(query, folded) if other is None or folded in other.casefold()
        ]

    def _any(self, column: str, values: Sequence[object]) -> tuple[str, Sequence[object]]:
        """By a join: a prepared `= ANY(...)` may compare every row of the bank with every value."""
        kind = "int8" if isinstance(values[0], int) else "text"
        return f"{column} IN (SELECT unnest(?::{kind}[]))", [list(values)]

    def _bytes_on_disk(self) -> int:
        ((size,),) = self._select("SELECT pg_database_size(current_database())")
        return int(size)


class TransactionRows(PostgresRows):
    """Rows of a bank as one transaction sees them."""

    _db: Db

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return select(self._db, query, *parameters)


class PostgresFeed(TransactionRows, BankFeed):
    """The Feed protocol; the transaction is REPEATABLE READ."""

    def __init__(self, db: Db, bank_id: str) -> None:
        self._db = db
        BankFeed.__init__(self, bank_id)

    def _stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        return stream(self._db, query, *parameters)

    def _packed(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        loaded = 0
        for block in super()._packed(numbers):
            yield block
            before, loaded = loaded, loaded + len(block)
            if before // _PROGRESS < loaded // _PROGRESS:
                log.info("bank %s: %d of %d facts loaded into the index", self.bank_id, loaded, len(numbers))


class PostgresTransaction(TransactionRows, BankTransaction):
    """The Transaction protocol; holds the lock of the bank's row, or of its id while there is no such bank.

    Statements that return nothing are sent without waiting for the server's answer (`send_ahead`), which comes with the
    rows of the next one that does; an error of theirs is raised then, or at the end.
    """

    def __init__(self, db: Db, bank_id: str, now: datetime) -> None:
        self._db = db
        self._pipeline = ExitStack()
        BankTransaction.__init__(self, bank_id, self._locked_state(bank_id), now)

    @contextmanager
    def send_ahead(self) -> Iterator[None]:
        """Let statements wait for each other's answers only where they must."""
        self._pipeline.enter_context(self._db.pipeline())
        try:
            yield
        except BaseException:
            # What was sent is rolled back: its errors say nothing that this one does not.
            with suppress(Exception):
                self._pipeline.close()
            raise
        self._pipeline.close()

    def _locked_state(self, bank_id: str) -> BankState | None:
        rows = self._select(f"{STATE} FOR UPDATE", bank_id)
        if not rows:
            # Nobody else may create it, and who did so meanwhile is seen.
            key = crc32(bank_id.encode()) - 2**31
            self._select("SELECT pg_advisory_xact_lock(?::integer, ?::integer)", ADVISORY_CLASS, key)
            rows = self._select(f"{STATE} FOR UPDATE", bank_id)
        return BankState(*rows[0]) if rows else None

    def _execute(self, statement: str, *parameters: object) -> None:
        self._db.execute(translated(statement), parameters)

    def _execute_many(self, statement: str, rows: Sequence[Values]) -> None:
        if rows:
            self._db.cursor().executemany(translated(statement), rows)

    def _insert_rows(self, table: str, names_of_row: Sequence[str], rows: Sequence[Values]) -> None:
        """COPY waits for what was sent before, so that it pays for many rows."""
        if len(rows) < _COPIED:
            values = placeholders(names_of_row)
            self._execute_many(f"INSERT INTO {table} ({names(names_of_row)}) VALUES ({values})", rows)
            return
        self._pipeline.close()
        insert_rows(self._db, table, names_of_row, rows)
        self._pipeline.enter_context(self._db.pipeline())

    def _replace(
        self, table: str, key: Sequence[str], names_of_row: Sequence[str], rows: Sequence[Values]
    ) -> None:
        """All rows in one statement, a list per column; of rows with one key the last counts."""
        last = list({row[: len(key)]: row for row in rows}.values())
        if not last:
            return
        columns = (*key, *names_of_row)
        types = column_types()[table]
        lists = [
            list(map(float, values)) if types[column] == "float8" else list(values)
            for column, values in zip(columns, zip(*last, strict=True), strict=True)
        ]
        arrays = ", ".join(f"?::{types[column]}[]" for column in columns)
        changes = ", ".join(f"{name} = excluded.{name}" for name in names_of_row)
        self._execute(
            f"INSERT INTO {table} (bank, {names(columns)}) SELECT ?::int8, row.* FROM unnest({arrays}) AS row"
            f" ON CONFLICT (bank, {names(key)}) DO UPDATE SET {changes}",
            self.bank_no,
            *lists,
        )

    def erased_content(self) -> None:
        note_erasure(self._db, self._now)
