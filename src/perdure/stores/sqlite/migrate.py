"""Brings a file to the schema of this version, or says why it cannot be used."""

from __future__ import annotations

import re
import sqlite3
from importlib.resources import files

from perdure.errors import StoreCorrupt, StoreReadOnly, StoreTooNew
from perdure.stores.sqlite.checksums import write_checksums
from perdure.stores.sqlite.damage import is_damage
from perdure.stores.sqlite.feed import PACKED_FORMAT, fill_cache
from perdure.stores.sqlite.old_schemas import (
    WITHOUT_CHECKSUM,
    copy_old_rows,
    copy_rows,
    set_aside,
    set_old_tables_aside,
)

APPLICATION_ID = 0x50455244
"""Marks a SQLite file as Perdure's ("PERD")."""
SCHEMA = 6
_CHECKSUMMED = re.compile(rf"CREATE (TABLE|INDEX \w+ ON) ({'|'.join(WITHOUT_CHECKSUM)}) ")
"""Statements of the schema that define the tables with checksums."""


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Create or upgrade the schema in one transaction; foreign and newer files are left as they are."""
    if _version(connection, path) == SCHEMA and not _lacks_cache(connection):
        return
    # The rows of an old schema need not be zeroed: an erasure is marked, which writes the whole file anew.
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)
        if version < SCHEMA:
            _upgrade(connection, version)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
        if _lacks_cache(connection):
            fill_cache(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute("PRAGMA secure_delete = ON")


def check_readable(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless a file that cannot be written is of this schema."""
    version = _version(connection, path)
    if version != SCHEMA:
        raise StoreReadOnly(
            f"{path} has schema {version} and cannot be written, so it cannot be brought to {SCHEMA}"
        )


def _upgrade(connection: sqlite3.Connection, version: int) -> None:
    statements = split_statements(schema())
    if version in (4, 5):
        set_aside(connection)
        for statement in statements:
            if _CHECKSUMMED.search(statement):
                connection.execute(statement)
        copy_rows(connection, version)
        write_checksums(connection)
        return
    highest = set_old_tables_aside(connection) if version else {}
    for statement in statements:
        connection.execute(statement)
    if version:
        copy_old_rows(connection, highest)
        write_checksums(connection)


def schema() -> str:
    """The schema as SQL."""
    return files("perdure.stores.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def _lacks_cache(connection: sqlite3.Connection) -> bool:
    """Whether there are facts and the index cache was emptied, or filled by a version that packed them otherwise."""
    try:
        (facts,) = connection.execute("SELECT EXISTS (SELECT 1 FROM fact)").fetchone()
        first = connection.execute("SELECT substr(body, 1, 1) FROM index_cache LIMIT 1").fetchone()
    except sqlite3.Error as error:
        if is_damage(error):
            return False  # what cannot be read is packed from rows when it is asked for
        raise
    return bool(facts) and (first is None or first[0] != PACKED_FORMAT)


def _version(connection: sqlite3.Connection, path: str) -> int:
    """The file's schema, 0 for an empty file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID and version > SCHEMA:
        raise StoreTooNew(
            f"{path} has schema {version}, this version of Perdure reads up to {SCHEMA}; upgrade Perdure"
        )
    if application == APPLICATION_ID and version < 1:
        raise StoreCorrupt(f"{path} has schema {version}, which there never was; restore it from a copy")
    if application == APPLICATION_ID:
        return int(version)
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise StoreCorrupt(f"{path} is a SQLite database of another application, not a Perdure file")
    return 0


def split_statements(script: str) -> list[str]:
    """The statements of a script; `executescript` would commit the transaction it runs in."""
    statements, pending = [], ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
