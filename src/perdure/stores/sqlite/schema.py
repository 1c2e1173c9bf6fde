"""The schema of a file: creating it, and refusing files of any other."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from perdure.errors import StoreCorrupt, StoreReadOnly
from perdure.stores.sql.feed import PACKED_FORMAT
from perdure.stores.sql.schema import check_version
from perdure.stores.sqlite.damage import is_damage, primary_code
from perdure.stores.sqlite.rows import fill_cache

APPLICATION_ID = 0x50455244
"""Marks a SQLite file as Perdure's ("PERD")."""
SCHEMA = 8
"""The schema of 0.1.0. Lower numbers belong to files that were written before it."""
_UPGRADES = {
    6: (
        "ALTER TABLE fact ADD COLUMN listener TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE fact ADD COLUMN asked TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE fact ADD COLUMN dates TEXT NOT NULL DEFAULT '[]'",
    ),
    7: (
        "ALTER TABLE fact_features DROP COLUMN tokens",
        "ALTER TABLE staged DROP COLUMN tokens",
        f"PRAGMA user_version = {SCHEMA}",
    ),
}
"""Schema -> the statements that make the next one of it."""


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Create or upgrade the tables and fill a missing index cache, in one transaction.

    Raise StoreVersion or StoreCorrupt for any other file and leave it as it is.
    """
    with _transaction(connection, "BEGIN"):
        if _version(connection, path, upgrading=True) == SCHEMA and not _lacks_cache(connection):
            return
    with _transaction(connection, "BEGIN IMMEDIATE"):
        version = _version(connection, path, upgrading=True)
        if not version:
            create(connection)
        for before in range(version or SCHEMA, SCHEMA):
            for statement in _UPGRADES[before]:
                connection.execute(statement)
        if _lacks_cache(connection):
            fill_cache(connection)


def use_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch the file to write-ahead logging; SQLite itself does not wait for another process that does so now."""
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Let several statements see one state of the file."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def create(connection: sqlite3.Connection) -> None:
    """Create the tables within the caller's transaction, which `executescript` would commit."""
    statement = ""
    for line in schema().splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def check_readable(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless a file that is only read has the tables."""
    with _transaction(connection, "BEGIN"):
        version = _version(connection, path)
    if not version:
        raise StoreReadOnly(f"{path} is empty and cannot be written")


def schema() -> str:
    """Return the schema as SQL."""
    return files("perdure.stores.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def _lacks_cache(connection: sqlite3.Connection) -> bool:
    """Return whether the index cache of a file with facts is empty or was packed in another format."""
    try:
        (facts,) = connection.execute("SELECT EXISTS (SELECT 1 FROM fact)").fetchone()
        first = connection.execute("SELECT substr(body, 1, 1) FROM index_cache LIMIT 1").fetchone()
    except sqlite3.Error as error:
        if is_damage(error):
            return False  # what cannot be read is packed from rows when it is asked for
        raise
    return bool(facts) and (first is None or first[0] != PACKED_FORMAT)


def _version(connection: sqlite3.Connection, path: str, *, upgrading: bool = False) -> int:
    """Return SCHEMA, an older one that is upgraded, or 0 for an empty file. Raise for other files."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise StoreCorrupt(f"{path} is a SQLite database of another application, not a Perdure file")
        return 0
    if version < 1:
        raise StoreCorrupt(f"{path} has schema {version}, which there never was; restore it from a copy")
    if upgrading and version in _UPGRADES:
        return int(version)
    check_version(path, version, SCHEMA)
    return SCHEMA
