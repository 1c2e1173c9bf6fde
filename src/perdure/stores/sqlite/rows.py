"""Rows of a bank by SQLite's connections: reads, writes and the feed of one connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from perdure.errors import Unavailable
from perdure.stores.index.feed import PackedFact
from perdure.stores.sql.columns import Values, batches, names, placeholders
from perdure.stores.sql.feed import BLOCK, BankFeed, pack_facts, read_state
from perdure.stores.sql.queries import BankRows
from perdure.stores.sql.transaction import BANK_TABLES, BankTransaction
from perdure.stores.sqlite.damage import is_damage


class SqliteTables:
    """The Tables protocol of copies."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def select(self, query: str, *parameters: object) -> list[Values]:
        return self._db.execute(query, parameters).fetchall()

    def stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        return stream(self._db, query, *parameters)

    def execute(self, statement: str, *parameters: object) -> None:
        self._db.execute(statement, parameters)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        insert_rows(self._db, table, columns, rows)

    def is_encrypted(self, bank_no: int) -> bool:
        """Return False: a file holds content as it is."""
        return False

    def encrypt_arriving(self, bank_no: int) -> None:
        raise Unavailable("encrypt_content: a file holds content as it is")

    def delete_arrived(self, bank_no: int) -> None:
        for table in BANK_TABLES:
            self.execute(f"DELETE FROM {table} WHERE bank = ?", bank_no)
        self.execute("INSERT INTO erasure (erased_at) VALUES (?)", datetime.now(UTC).isoformat())


def stream(db: sqlite3.Connection, query: str, *parameters: object) -> Iterator[list[Values]]:
    """Return the rows of a query in blocks."""
    cursor = db.execute(query, parameters)
    while rows := cursor.fetchmany(BLOCK):
        yield rows


def insert_rows(db: sqlite3.Connection, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
    """Insert new rows."""
    values = placeholders(columns)
    db.executemany(f"INSERT INTO {table} ({names(columns)}) VALUES ({values})", rows)


class SqliteRows(BankRows):
    """What SQLite says in its own words."""

    def containing(self, text: str) -> list[int]:
        query = "SELECT no FROM fact WHERE bank = ? AND instr(casefold(text), ?)"
        return [no for (no,) in self._of_bank(query, text.casefold())]

    def _is_damage(self, error: Exception) -> bool:
        return is_damage(error)

    def _bytes_on_disk(self) -> int:
        ((pages,),), ((page_size,),) = self._select("PRAGMA page_count"), self._select("PRAGMA page_size")
        return int(pages * page_size)


class ConnectionRows(SqliteRows):
    """Rows of a bank as one connection sees them."""

    def __init__(self, db: sqlite3.Connection, bank_id: str, bank_no: int) -> None:
        super().__init__(bank_id, bank_no)
        self._db = db

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._db.execute(query, parameters).fetchall()


class SqliteFeed(ConnectionRows, BankFeed):
    """The Feed protocol; the connection is in a transaction."""

    def __init__(self, db: sqlite3.Connection, bank_id: str) -> None:
        self._db = db
        BankFeed.__init__(self, bank_id)

    def _stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        return stream(self._db, query, *parameters)


class SqliteTransaction(ConnectionRows, BankTransaction):
    """The Transaction protocol; the connection holds the write lock."""

    def __init__(self, db: sqlite3.Connection, bank_id: str, now: datetime) -> None:
        self._db = db
        BankTransaction.__init__(self, bank_id, read_state(self._select, bank_id), now)

    def execute(self, statement: str, *parameters: object) -> None:
        """Run a statement that repairs the file, next to the protocol."""
        self._db.execute(statement, parameters)

    def _execute(self, statement: str, *parameters: object) -> None:
        self._db.execute(statement, parameters)

    def _execute_many(self, statement: str, rows: Sequence[Values]) -> None:
        self._db.executemany(statement, rows)

    def _insert_rows(self, table: str, names_of_row: Sequence[str], rows: Sequence[Values]) -> None:
        insert_rows(self._db, table, names_of_row, rows)


def write_cache(db: sqlite3.Connection, bank_no: int, packed: Sequence[PackedFact]) -> None:
    """Keep packed facts for the indexes to come."""
    db.executemany(
        "INSERT OR REPLACE INTO index_cache (bank, fact, id, body) VALUES (?,?,?,?)",
        [(bank_no, fact.no, fact.id, fact.body) for fact in packed],
    )


def fill_cache(db: sqlite3.Connection) -> None:
    """Pack all facts of all banks; the caller holds a transaction."""
    for bank_no, bank_id in db.execute("SELECT no, id FROM bank").fetchall():
        rows = ConnectionRows(db, bank_id, bank_no)
        numbers = [no for (no,) in db.execute("SELECT no FROM fact WHERE bank = ? ORDER BY no", (bank_no,))]
        for block in batches(numbers):
            write_cache(db, bank_no, pack_facts(rows, block))
