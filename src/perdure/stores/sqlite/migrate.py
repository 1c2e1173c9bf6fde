"""Brings a file to the schema of this version, or says why it cannot be used."""

from __future__ import annotations

import re
import sqlite3
from importlib.resources import files

from perdure.errors import StoreCorrupt, StoreTooNew
from perdure.stores.sql.feed import PACKED_FORMAT
from perdure.stores.sqlite.old_schemas import copy_facts, copy_old_rows, set_facts_aside, set_old_tables_aside
from perdure.stores.sqlite.rows import fill_cache

APPLICATION_ID = 0x50455244
"""Marks a SQLite file as Perdure's ("PERD")."""
SCHEMA = 5
_FACTS = re.compile(r"CREATE (TABLE fact |INDEX \w+ ON fact )")
"""Statements of the schema that define the table of facts."""


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


def _upgrade(connection: sqlite3.Connection, version: int) -> None:
    statements = split_statements(schema())
    if version == 4:
        set_facts_aside(connection)
        for statement in statements:
            if _FACTS.search(statement):
                connection.execute(statement)
        copy_facts(connection)
        return
    highest = set_old_tables_aside(connection) if version else {}
    for statement in statements:
        connection.execute(statement)
    if version:
        copy_old_rows(connection, highest)


def schema() -> str:
    """The schema as SQL."""
    return files("perdure.stores.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")


def _lacks_cache(connection: sqlite3.Connection) -> bool:
    """Whether there are facts and the index cache was emptied, or filled by a version that packed them otherwise."""
    (facts,) = connection.execute("SELECT EXISTS (SELECT 1 FROM fact)").fetchone()
    first = connection.execute("SELECT substr(body, 1, 1) FROM index_cache LIMIT 1").fetchone()
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
