"""Brings a file to the schema of this version, or says why it cannot be used."""

from __future__ import annotations

import sqlite3
from importlib.resources import files

from perdure.errors import StoreCorrupt, StoreTooNew

APPLICATION_ID = 0x50455244
"""Marks a SQLite file as Perdure's ("PERD")."""
SCHEMA = 3

STEPS: dict[int, str] = {
    2: "ALTER TABLE chunk ADD COLUMN spans TEXT;",
    3: """
DROP TABLE vector_code;
CREATE TABLE segment (
  no INTEGER PRIMARY KEY,
  bank INTEGER NOT NULL,
  part TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  change INTEGER NOT NULL,
  body BLOB NOT NULL
);
CREATE UNIQUE INDEX segment_range ON segment (bank, part, last, first);
""",
}
"""Script that brings a file from the version before to the given one."""


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Create or upgrade the schema in one transaction; foreign and newer files are left as they are."""
    if _version(connection, path) == SCHEMA:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)
        for script in _scripts(version):
            for statement in split_statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: str) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application == APPLICATION_ID and version > SCHEMA:
        raise StoreTooNew(
            f"{path} has schema {version}, this version of Perdure reads up to {SCHEMA}; upgrade Perdure"
        )
    if application == APPLICATION_ID and version < 1:
        raise StoreCorrupt(f"{path} has schema {version}, which there never was; restore it from a copy")
    if (
        application != APPLICATION_ID
        and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    ):
        raise StoreCorrupt(f"{path} is a SQLite database of another application, not a Perdure file")
    return version if application == APPLICATION_ID else 0


def _scripts(version: int) -> list[str]:
    if version == 0:
        return [files("perdure.stores.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")]
    return [STEPS[step] for step in range(version + 1, SCHEMA + 1)]


def split_statements(script: str) -> list[str]:
    """The statements of a script; `executescript` would commit the transaction it runs in."""
    statements, pending = [], ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
