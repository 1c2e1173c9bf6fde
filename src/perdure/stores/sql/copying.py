"""Copies banks from one SQL database to another, row by row: nothing is read that could be lost on the way.

Rows arrive under a number that no bank has yet, block by block, each block in a transaction of its own; the
bank's own row comes last and makes all of them visible at once, when both sides were counted and hashed,
table by table. What a copy that was interrupted has left is deleted when the bank is copied again. What is
read, compared and handed over is the readable content: whether a database encrypts it where it lies is its
own affair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Protocol

from perdure.errors import Conflict, NotFound, StoreCorrupt, StoreError
from perdure.stores.sql.columns import Values, names
from perdure.stores.sql.transaction import BANK_TABLES

KEYS: Mapping[str, Sequence[str]] = {
    "document": ("id",),
    "document_tag": ("document_id", "tag"),
    "chunk": ("id",),
    "chunk_turn": ("chunk_id", "ordinal"),
    "entity": ("id",),
    "entity_key": ("key", "entity_id"),
    "fact": ("no",),
    "fact_entity": ("fact", "ordinal"),
    "fact_tag": ("fact", "tag"),
    "fact_source": ("fact", "ordinal"),
    "proof": ("fact", "ordinal"),
    "link": ("source", "target", "kind"),
    "fact_features": ("fact",),
    "vector": ("view", "fact"),
    "staged": ("fact", "model", "dimensions"),
    "staged_vector": ("fact", "model", "dimensions", "view"),
    "record": ("kind", "id"),
    "change": ("no",),
    "index_cache": ("fact",),
}
"""Table -> what tells its rows apart within a bank."""
INCOMING = "incoming_bank"
"""Kind of the shared record that says under which number a bank arrives."""
BLOCK = 2000
"""Rows per transaction."""
Progress = Callable[[str, str, int], None]
"""Told the bank, the table and how many of its rows have arrived."""


class Tables(Protocol):
    """Tables within one transaction, which sees one state of the database."""

    def select(self, query: str, *parameters: object) -> list[Values]:
        """Return all rows of a query."""

    def stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        """Return the rows of a query in blocks."""

    def execute(self, statement: str, *parameters: object) -> None:
        """Run a statement."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        """Insert new rows, the bank's number first; encrypted where the bank is."""

    def is_encrypted(self, bank_no: int) -> bool:
        """Return whether the content of a bank is stored encrypted."""

    def encrypt_arriving(self, bank_no: int) -> None:
        """Have what is inserted for a bank without rows encrypted from now on."""

    def delete_arrived(self, bank_no: int) -> None:
        """Delete what arrived of a bank, as an erasure."""


class TableStore(Protocol):
    """A database whose tables can be read and written as they are."""

    def table_columns(self) -> Mapping[str, Sequence[str]]:
        """Return table -> its columns."""

    def tables(self, *, writing: bool) -> AbstractContextManager[Tables]:
        """Open a transaction; one that writes is committed at the end and rolled back on any error."""

    @property
    def encrypts_new_banks(self) -> bool:
        """Return whether the content of banks that come is stored encrypted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BankCopy:
    """What became of a bank."""

    bank: str
    rows: Mapping[str, int]
    """Table -> rows, the same on both sides."""
    digest: str
    """BLAKE2b of all rows in the order of their keys, the same on both sides."""
    was_there: bool
    """Whether the target had all of it before."""
    source_encrypted: bool
    """Whether its content is stored encrypted where it comes from."""
    encrypted: bool
    """Whether the target stores its content encrypted."""
    changed_meanwhile: bool
    """Whether the source was written to after it was read: copy again when nothing writes."""

    @property
    def facts(self) -> int:
        return self.rows["fact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BankEncryption:
    """What became of a bank that was to be encrypted where it is."""

    bank: str
    rows: Mapping[str, int]
    """Table -> rows that were encrypted now; those of an interrupted attempt do not count again."""
    was_encrypted: bool
    """Whether all of it had been before."""
    pending: tuple[str, ...]
    """What the database may still hold of the content as it was, and until when."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Count and hash of the rows of a table."""

    rows: int
    hash: str


def copy_bank(
    source: TableStore, target: TableStore, bank: str, progress: Progress = lambda *_: None
) -> BankCopy:
    """Copy a bank under its own id; the source stays as it is.

    Raises NotFound without such a bank, Conflict when the target has another one of that id.
    """
    columns = _common_columns(source, target)
    with source.tables(writing=False) as rows:
        own = _bank_row(rows, bank, columns["bank"])
        if own is None:
            raise NotFound("bank", bank)
        source_no, described = own
        source_encrypted = rows.is_encrypted(source_no)
        with target.tables(writing=False) as there:
            existing = _bank_row(there, bank, columns["bank"])
        if existing is not None:
            digests = _digests(rows, source_no, columns)
            with target.tables(writing=False) as there:
                same = existing[1] == described and _digests(there, existing[0], columns) == digests
            if not same:
                raise Conflict(f"the target has another bank {bank!r}; erase or rename one of them first")
        else:
            number, digests = _bring_over(rows, source_no, target, bank, columns, progress)
            _make_visible(target, bank, number, described, columns["bank"])
    with target.tables(writing=False) as there:
        arrived = _bank_row(there, bank, columns["bank"])
        encrypted = arrived is not None and there.is_encrypted(arrived[0])
    with source.tables(writing=False) as later:
        now = _bank_row(later, bank, columns["bank"])
        changed = now is None or now[1] != described or _records_differ(later, source_no, columns, digests)
    total = blake2b(digest_size=16)
    for table in KEYS:
        total.update(f"{table} {digests[table].hash}\n".encode())
    return BankCopy(
        bank=bank,
        rows={table: digest.rows for table, digest in digests.items()},
        digest=total.hexdigest(),
        was_there=existing is not None,
        source_encrypted=source_encrypted,
        encrypted=encrypted,
        changed_meanwhile=changed,
    )


def copy_shared_records(
    source: TableStore, target: TableStore, copies_kind: Callable[[str], bool] = lambda kind: True
) -> int:
    """Copy records of these kinds that belong to no bank, unless they exist. Return their number."""
    columns = _common_columns(source, target)["shared_record"]
    with source.tables(writing=False) as tables:
        rows = tables.select(f"SELECT {names(columns)} FROM shared_record ORDER BY kind, id")
    kind, record_id = columns.index("kind"), columns.index("id")
    with target.tables(writing=True) as tables:
        present = set(tables.select("SELECT kind, id FROM shared_record"))
        fresh = [
            row
            for row in rows
            if row[kind] != INCOMING and copies_kind(row[kind]) and (row[kind], row[record_id]) not in present
        ]
        tables.insert("shared_record", columns, fresh)
    return len(fresh)


def abandon(target: TableStore, bank: str) -> bool:
    """Delete what an interrupted copy of a bank left in the target; False when there is nothing."""
    with target.tables(writing=True) as tables:
        number = _incoming(tables, bank)
        if number is None:
            return False
        tables.delete_arrived(number)
        tables.execute("DELETE FROM shared_record WHERE kind = ? AND id = ?", INCOMING, bank)
    return True


def _common_columns(source: TableStore, target: TableStore) -> dict[str, list[str]]:
    """Return table -> columns but the bank's number, which differs."""
    ours, theirs = source.table_columns(), target.table_columns()
    for table in (*KEYS, "bank", "shared_record"):
        if set(ours[table]) != set(theirs[table]):
            raise StoreError(
                f"the two databases have different columns in {table}; use one version of Perdure"
            )
    assert set(KEYS) == set(BANK_TABLES)
    return {
        table: [column for column in ours[table] if column != ("no" if table == "bank" else "bank")]
        for table in (*KEYS, "bank", "shared_record")
    }


def _bank_row(tables: Tables, bank: str, columns: Sequence[str]) -> tuple[int, Values] | None:
    """Return (number, values of the columns) of a bank."""
    rows = tables.select(f"SELECT no, {names(columns)} FROM bank WHERE id = ?", bank)
    return (rows[0][0], rows[0][1:]) if rows else None


def _bring_over(
    rows: Tables,
    source_no: int,
    target: TableStore,
    bank: str,
    columns: Mapping[str, Sequence[str]],
    progress: Progress,
) -> tuple[int, dict[str, Digest]]:
    """Copy a bank's rows; return its number in the target and the digests of what both have."""
    abandon(target, bank)
    number = _new_number(target, bank)
    for table in KEYS:
        arrived = 0
        query = f"SELECT {names(columns[table])} FROM {table} WHERE bank = ? ORDER BY {names(KEYS[table])}"
        for block in _joined(rows.stream(query, source_no)):
            with target.tables(writing=True) as there:
                there.insert(table, ("bank", *columns[table]), [(number, *row) for row in block])
            arrived += len(block)
            progress(bank, table, arrived)
    digests = _digests(rows, source_no, columns)
    with target.tables(writing=False) as there:
        theirs = _digests(there, number, columns)
    if differing := [table for table in KEYS if theirs[table] != digests[table]]:
        tables = ", ".join(differing)
        raise StoreCorrupt(f"bank {bank!r}: the rows of {tables} arrived otherwise than they were sent")
    return number, digests


def _incoming(tables: Tables, bank: str) -> int | None:
    """Return the number under which a bank arrives."""
    rows = tables.select("SELECT body FROM shared_record WHERE kind = ? AND id = ?", INCOMING, bank)
    return int(json.loads(rows[0][0])["no"]) if rows else None


def _new_number(target: TableStore, bank: str) -> int:
    """Return a number that no bank has, and note that the bank arrives under it."""
    with target.tables(writing=True) as tables:
        tables.execute(
            "INSERT INTO bank (id, name, mission, skepticism, literalism, empathy, bias_strength, settings)"
            " VALUES (?, '', '', 3, 3, 3, 0, '{}')",
            bank,
        )
        ((number,),) = tables.select("SELECT no FROM bank WHERE id = ?", bank)
        tables.execute("DELETE FROM bank WHERE no = ?", number)
        now = datetime.now(UTC).isoformat()
        row = (INCOMING, bank, json.dumps({"no": number}), now, now)
        tables.insert("shared_record", ("kind", "id", "body", "created_at", "updated_at"), [row])
        if target.encrypts_new_banks:
            tables.encrypt_arriving(number)
    return int(number)


def _joined(blocks: Iterator[list[Values]]) -> Iterator[list[Values]]:
    """Return blocks of at least BLOCK rows, but for the last."""
    rows: list[Values] = []
    for block in blocks:
        rows += block
        if len(rows) >= BLOCK:
            yield rows
            rows = []
    if rows:
        yield rows


def _digests(tables: Tables, bank_no: int, columns: Mapping[str, Sequence[str]]) -> dict[str, Digest]:
    return {table: _digest(tables, bank_no, table, columns[table]) for table in KEYS}


def _digest(tables: Tables, bank_no: int, table: str, columns: Sequence[str]) -> Digest:
    """Count and hash of a bank's rows in a table, the same in every database."""
    ordered = sorted(columns)
    total, count = blake2b(digest_size=16), 0
    query = f"SELECT {names(ordered)} FROM {table} WHERE bank = ? ORDER BY {names(KEYS[table])}"
    for block in tables.stream(query, bank_no):
        for row in block:
            total.update(repr(row).encode())
        count += len(block)
    return Digest(count, total.hexdigest())


def _records_differ(
    tables: Tables, bank_no: int, columns: Mapping[str, Sequence[str]], digests: Mapping[str, Digest]
) -> bool:
    """Return whether records were written, which leave a bank's version as it is."""
    return _digest(tables, bank_no, "record", columns["record"]) != digests["record"]


def _make_visible(
    target: TableStore, bank: str, number: int, described: Values, columns: Sequence[str]
) -> None:
    """Insert the bank's own row and end the copy."""
    with target.tables(writing=True) as tables:
        if _incoming(tables, bank) != number or tables.select("SELECT 1 FROM bank WHERE id = ?", bank):
            raise Conflict(f"bank {bank!r} was made in the target meanwhile")
        tables.insert("bank", ("no", *columns), [(number, *described)])
        tables.execute("DELETE FROM shared_record WHERE kind = ? AND id = ?", INCOMING, bank)
