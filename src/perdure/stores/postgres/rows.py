"""Rows of a bank by PostgreSQL's connections: reads, writes and the feed of one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from uuid import uuid4
from zlib import crc32

from perdure.domain.bank import EmbeddingModel
from perdure.stores.index.feed import BankState, PackedFact
from perdure.stores.postgres.connections import Db, copying, select, translated
from perdure.stores.postgres.content import (
    COLUMNS,
    Decrypting,
    Key,
    Scope,
    encrypted,
    scope_of_fact,
    scopes_of,
)
from perdure.stores.postgres.large_rows import LARGE_BANK, TABLES, VECTORS, LargeRows, read_large_bank
from perdure.stores.postgres.schema import ADVISORY_CLASS, column_types
from perdure.stores.postgres.sealed import ENCRYPTED, IS_ENCRYPTED, SealedTransaction
from perdure.stores.postgres.traces import note_erasure
from perdure.stores.sql.columns import Values, batches, names, placeholders
from perdure.stores.sql.feed import STATE, BankFeed, packed_facts
from perdure.stores.sql.queries import BankRows
from perdure.stores.sql.transaction import BANK_TABLES

log = logging.getLogger("perdure.postgres")

KEY_COLUMNS = ("no", "scope", "key")
"""Of `content_key`, but for the bank."""
_COPIED = 64
"""Rows from which on they are inserted by COPY."""
_STREAMED = 2048
"""Rows fetched at once from a cursor of the server."""
_PROGRESS = 20_000
"""Facts of a cold load after which it says how far it is."""


def insert_rows(db: Db, table: str, columns: Sequence[str], rows: Iterable[Values]) -> None:
    """Insert new rows by binary COPY."""
    types = column_types()[table]
    with copying(db, f"COPY {table} ({names(columns)}) FROM STDIN (FORMAT BINARY)".encode()) as copy:
        copy.set_types([types[column] for column in columns])
        for row in rows:
            copy.write_row(row)


def stream(db: Db, query: str, *parameters: object) -> Iterator[list[Values]]:
    """Return the rows of a query in blocks, by a cursor of the server that ends with the transaction."""
    with db.cursor(f"perdure_{uuid4().hex}", binary=True) as cursor:
        cursor.execute(translated(query), parameters)
        while rows := cursor.fetchmany(_STREAMED):
            yield rows


class PostgresTables:
    """The Tables protocol of copies: readable content outside, encrypted where the bank is."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._sealing: dict[int, bool] = {}
        """Number of a bank -> whether it is encrypted."""
        self._decrypting = Decrypting(
            lambda numbers: [
                (no, key)
                for no, key in select(
                    db, "SELECT no, key FROM content_key WHERE no = ANY(?::int8[])", list(numbers)
                )
            ]
        )

    def select(self, query: str, *parameters: object) -> list[Values]:
        return self._decrypting.rows(select(self._db, query, *parameters))

    def stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        return map(self._decrypting.rows, stream(self._db, query, *parameters))

    def execute(self, statement: str, *parameters: object) -> None:
        self._db.execute(translated(statement), parameters)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        if rows and table in COLUMNS and self.is_encrypted(rows[0][0]):
            rows = self._sealed(rows[0][0], table, columns, rows)
        if rows:
            insert_rows(self._db, table, columns, rows)

    def is_encrypted(self, bank_no: int) -> bool:
        if bank_no not in self._sealing:
            self._sealing[bank_no] = bool(select(self._db, IS_ENCRYPTED, bank_no))
        return self._sealing[bank_no]

    def encrypt_arriving(self, bank_no: int) -> None:
        key = Key.new()
        insert_rows(
            self._db, "content_key", ("bank", *KEY_COLUMNS), [(bank_no, key.no, ENCRYPTED, key.secret)]
        )
        self._sealing[bank_no] = True

    def delete_arrived(self, bank_no: int) -> None:
        encrypted = self.is_encrypted(bank_no)
        for table in (*BANK_TABLES, "content_key"):
            self.execute(f"DELETE FROM {table} WHERE bank = ?", bank_no)
        self._sealing.pop(bank_no)
        note_erasure(self._db, datetime.now(UTC).isoformat(), keys_destroyed=encrypted)

    def _sealed(
        self, bank_no: int, table: str, columns: Sequence[str], rows: Sequence[Values]
    ) -> list[Values]:
        """Encrypt the content of rows; keys that are missing are made."""

        def of_facts(numbers: Sequence[object]) -> dict[object, Scope]:
            query = "SELECT no, id, document_id FROM fact WHERE bank = ? AND no = ANY(?::int8[])"
            facts = select(self._db, query, bank_no, list(numbers))
            return {no: scope_of_fact(*fact) for no, *fact in facts}

        scopes = scopes_of(table, columns, rows, of_facts)
        by_hash = {scope.stored: scope for scope in scopes}
        query = "SELECT scope, no, key FROM content_key WHERE bank = ? AND scope = ANY(?::text[])"
        stored = select(self._db, query, bank_no, list(by_hash))
        keys = {by_hash[scope]: Key(no, secret) for scope, no, secret in stored}
        new_keys = {scope: Key.new() for scope in by_hash.values() if scope not in keys}
        insert_rows(
            self._db,
            "content_key",
            ("bank", *KEY_COLUMNS),
            [(bank_no, key.no, scope.stored, key.secret) for scope, key in new_keys.items()],
        )
        return encrypted(table, columns, rows, scopes, keys | new_keys)


class PostgresRows(BankRows):
    """What PostgreSQL says in its own words."""

    @cached_property
    def _decrypting(self) -> Decrypting:
        """Return what decrypts stored rows."""
        query = "SELECT no, key FROM content_key WHERE bank = ? AND no = ANY(?::int8[])"
        return Decrypting(lambda numbers: self._raw_rows(query, self.bank_no, list(numbers)))

    def _raw_rows(self, query: str, *parameters: object) -> list[Any]:
        """Return rows as they are stored."""
        raise NotImplementedError

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._readable(self._raw_rows(query, *parameters))

    def _readable(self, rows: list[Values]) -> list[Values]:
        """Return rows as they are stored, with encrypted texts made readable."""
        return self._decrypting.rows(rows)

    def containing(self, text: str) -> list[int]:
        """Find facts by text. The server folds ASCII, where it means the same; Python folds other texts.

        Of an encrypted bank all texts are read.
        """
        folded = text.casefold()
        if self._of_bank(IS_ENCRYPTED):
            texts = self._of_bank("SELECT no, text FROM fact WHERE bank = ? ORDER BY no")
            return [no for no, own in texts if folded in own.casefold()]
        plain = "octet_length(text) = length(text)"
        query = (
            f"SELECT no, CASE WHEN {plain} THEN NULL ELSE text END FROM fact WHERE bank = ?"
            f' AND (NOT {plain} OR strpos(lower(text COLLATE "C"), ?) > 0) ORDER BY no'
        )
        return [
            no for no, other in self._of_bank(query, folded) if other is None or folded in other.casefold()
        ]

    def _any(self, column: str, values: Sequence[object]) -> tuple[str, Sequence[object]]:
        """Join with the values: a prepared `= ANY(...)` may compare every row of the bank with every value.

        Numbers are written out once: psycopg would translate the same list for every statement that is given it.
        """
        if isinstance(values[0], int):
            return f"{column} IN (SELECT unnest(?::int8[]))", [f"{{{','.join(map(str, values))}}}"]
        return f"{column} IN (SELECT unnest(?::text[]))", [list(values)]

    def _bytes_on_disk(self) -> int:
        ((size,),) = self._select("SELECT pg_database_size(current_database())")
        return int(size)


class TransactionRows(PostgresRows):
    """Rows of a bank as one transaction sees them."""

    _db: Db

    def _raw_rows(self, query: str, *parameters: object) -> list[Any]:
        return select(self._db, query, *parameters)


SERVER_STARTED = "extract(epoch FROM pg_postmaster_start_time())::double precision"
"""The last field of a bank's state."""


class PostgresFeed(TransactionRows, BankFeed):
    """The Feed protocol; the transaction is REPEATABLE READ."""

    state_query = STATE.replace("dimensions", f"dimensions, {SERVER_STARTED}")

    def __init__(self, db: Db, bank_id: str) -> None:
        self._db = db
        BankFeed.__init__(self, bank_id)

    def _stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        return map(self._decrypting.rows, stream(self._db, query, *parameters))

    def _packed(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        loaded = 0
        for block in super()._packed(numbers):
            yield block
            before, loaded = loaded, loaded + len(block)
            if before // _PROGRESS < loaded // _PROGRESS:
                log.info("bank %s: %d of %d facts loaded into the index", self.bank_id, loaded, len(numbers))


class PostgresTransaction(TransactionRows, SealedTransaction):
    """The Transaction protocol; holds the lock of the bank's row, or of its id while there is no such bank.

    Statements that return nothing are sent without waiting for the server's answer (`send_ahead`), which
    comes with the rows of the next one that does; an error of theirs is raised then, or at the end.
    """

    def __init__(
        self, db: Db, bank_id: str, now: datetime, *, by_copy: bool = True, encrypt_new: bool = False
    ) -> None:
        """Encrypt a bank that this transaction creates, with `encrypt_new`."""
        self._db = db
        self._encrypt_new = encrypt_new
        self._by_copy = by_copy
        self._pipeline = ExitStack()
        SealedTransaction.__init__(self, bank_id, self._locked_state(bank_id), now)

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
        """Insert many rows by COPY, which row-level security refuses."""
        if len(rows) < _COPIED or not self._by_copy:
            values = placeholders(names_of_row)
            self._execute_many(f"INSERT INTO {table} ({names(names_of_row)}) VALUES ({values})", rows)
            return
        self._pipeline.close()
        insert_rows(self._db, table, names_of_row, rows)
        self._pipeline.enter_context(self._db.pipeline())

    def _replace(
        self, table: str, key: Sequence[str], names_of_row: Sequence[str], rows: Sequence[Values]
    ) -> None:
        """Replace all rows in one statement, a list per column; of rows with one key the last counts."""
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

    def copy_bytes(self, statement: str, parts: Iterable[bytes]) -> None:
        """Run a COPY with these bytes; it waits for what was sent before."""
        self._pipeline.close()
        with copying(self._db, statement.encode()) as copy:
            for part in parts:
                copy.write(part)
        self._pipeline.enter_context(self._db.pipeline())

    def _note_plain_erasure(self) -> int:
        note_erasure(self._db, self._now)
        ((number,),) = select(self._db, "SELECT currval(pg_get_serial_sequence('erasure', 'no'))")
        return int(number)

    def _is_pending(self, erasure: int) -> bool:
        return bool(select(self._db, "SELECT 1 FROM erasure WHERE no = ?", erasure))

    def erased_content(self) -> bool:
        keys_destroyed = self.destroy_keys()
        note_erasure(self._db, self._now, keys_destroyed=keys_destroyed)
        return keys_destroyed

    # Search tables of a large bank

    def finish(self) -> None:
        super().finish()
        rows = self._large_rows() if self._touched else None
        if rows is None:
            return
        kept = {no for no in self._inserted | self._repack if rows.covers(no)}
        for block in batches(sorted(kept)):
            rows.put(packed_facts(self, block))
        rows.set_degrees(kept | self._linked_with(kept) | self._unlinked)
        if kept & self._inserted:
            statement = "UPDATE large_bank SET filled = greatest(filled, ?) WHERE bank = ?"
            self._execute(statement, max(kept & self._inserted), self.bank_no)

    def delete_numbers(self, numbers: Sequence[int]) -> None:
        if rows := self._large_rows():
            self._unlinked |= self._linked_with(numbers)
            rows.remove(numbers)
        super().delete_numbers(numbers)
        self._inserted -= set(numbers)

    def delete_bank(self) -> None:
        self.leave_search_tables()
        super().delete_bank()

    def switch_model(self, model: EmbeddingModel) -> None:
        super().switch_model(model)
        self.leave_search_tables()

    _large: LargeRows | None

    def leave_search_tables(self) -> None:
        """Delete the rows of the bank from all search tables: from then on it is searched in memory."""
        if self._large_rows() is not None:
            for table in ("large_bank", *TABLES, VECTORS):
                self._execute(f"DELETE FROM {table} WHERE bank = ?", self.bank_no)
            self._large = None

    def _begin(self) -> None:
        super()._begin()
        self._inserted: set[int] = set()
        """Numbers of the facts that this transaction inserted."""
        self._unlinked: set[int] = set()
        """Facts that were linked with deleted ones."""
        self._large = None
        self._large_is_read = False

    def _next_numbers(self, count: int) -> range:
        numbers = super()._next_numbers(count)
        self._inserted.update(numbers)
        return numbers

    def _large_rows(self) -> LargeRows | None:
        """Return the search tables, None for a bank that is searched in memory."""
        if not self._large_is_read:
            state = read_large_bank(self._select(LARGE_BANK, self.bank_no))
            self._large = None if state is None else LargeRows(self, state)
            self._large_is_read = True
        return self._large

    def _linked_with(self, numbers: Iterable[int]) -> set[int]:
        """Return the facts that are linked with one of these."""
        query = "SELECT source, target FROM link WHERE bank = ?"
        ends = [list(self._where(query, end, numbers)) for end in ("source", "target")]
        return {end for link in (*ends[0], *ends[1]) for end in link}
