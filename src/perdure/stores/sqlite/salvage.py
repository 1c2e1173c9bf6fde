"""What can still be read of a file with pages that SQLite cannot read, in a new file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from perdure.stores.sql.columns import Values
from perdure.stores.sqlite.damage import is_damage
from perdure.stores.sqlite.schema import check_readable, create

_MADE_ANEW = frozenset({"index_cache", "change", "erasure"})
"""Tables that are not content: they follow from the others, or begin anew."""
_LARGEST_GAP = 1_000_000
"""Row numbers between two readable parts of a table that are tried one by one."""
_TABLES = (
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
)


def salvage(path: str, target: str) -> dict[str, int]:
    """Copy every readable row to a new file. Return incomplete table -> rows copied.

    A table is read from its beginning up to the damage, then from its end back to the damage, and between
    them by each row number, where rows have one. Rows come as they are stored, damaged ones too.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    incomplete: dict[str, int] = {}
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as source,
        closing(sqlite3.connect(target, isolation_level=None)) as db,
    ):
        check_readable(source, path)
        source.text_factory = bytes
        db.execute("BEGIN")
        create(db)
        for table, statement in db.execute(_TABLES).fetchall():
            if table in _MADE_ANEW:
                continue
            reading = _TableReading(source, table, "rowid" if "WITHOUT ROWID" not in statement else "")
            # Texts come as bytes: they may be no UTF-8 any more.
            types = [kind for _, _, kind, *_ in db.execute(f"PRAGMA table_info({table})")]
            values = ", ".join("cast(? AS TEXT)" if kind == "TEXT" else "?" for kind in types)
            copied = 0
            for row in reading.rows():
                copied += db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({values})", row).rowcount
            if reading.damaged:
                incomplete[table] = copied
        db.execute("UPDATE bank SET changes_dropped = last_change")
        db.execute("COMMIT")
    return incomplete


class _TableReading:
    """The rows of a table that can be read; some may come twice."""

    def __init__(self, source: sqlite3.Connection, table: str, number: str) -> None:
        self._source, self._table = source, table
        self._number = number
        """The name of the row number, empty for tables without."""
        self.damaged = False

    def rows(self) -> Iterator[Values]:
        first: int | None = None
        for number, row in self._until_damage(""):
            first = number
            yield row
        if not self.damaged:
            return
        last: int | None = None
        for number, row in self._until_damage(" DESC"):
            last = number
            yield row
        if self._number and first is not None and last is not None:
            for number in range(first + 1, min(last, first + _LARGEST_GAP)):
                for _, row in self._select(f"WHERE rowid = {number}"):
                    yield row

    def _until_damage(self, direction: str) -> Iterator[tuple[int, Values]]:
        key = "rowid" if self._number else self._key()
        order = ", ".join(f"{name}{direction}" for name in key.split(", "))
        return self._select(f"ORDER BY {order}")

    def _select(self, condition: str) -> Iterator[tuple[int, Values]]:
        """Return (number, or 0 for tables without; row) up to the first that cannot be read."""
        query = f"SELECT {self._number or 0}, * FROM {self._table} NOT INDEXED {condition}"
        try:
            for number, *row in self._source.execute(query):
                yield number, tuple(row)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self.damaged = True

    def _key(self) -> str:
        info = self._source.execute(f"PRAGMA table_info({self._table})").fetchall()
        columns = sorted((place, name.decode()) for _, name, *_, place in info if place)
        return ", ".join(f'"{name}"' for _, name in columns)
