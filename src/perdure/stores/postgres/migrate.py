"""Brings a database to the schema of this version, or says why it cannot be used."""

from __future__ import annotations

from perdure.errors import StoreCorrupt, StoreError, StoreTooNew
from perdure.stores.postgres.connections import SCHEMA_NAME, Connections, Db
from perdure.stores.postgres.rows import ADVISORY_CLASS, schema, schema_file, select

SCHEMA = 2
STEPS: dict[int, str] = {1: schema_file("schema_2.sql")}
"""Version -> the statements that lead from it to the next one."""


def migrate(connections: Connections) -> None:
    """Create or upgrade the schema in one transaction, one process at a time; newer ones are left as they are."""
    with connections.errors:
        with connections.reading() as db:
            if _version(db, connections) == SCHEMA:
                return
        with connections.writing() as db:
            select(db, "SELECT pg_advisory_xact_lock(?::integer, 0)", ADVISORY_CLASS)
            version = _version(db, connections)
            if version is None:
                db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA_NAME}".encode())
                db.execute(schema().encode())
                db.execute(f"UPDATE schema_version SET version = {SCHEMA}".encode())
                return
            for step in range(version, SCHEMA):
                db.execute(STEPS[step].encode())
                db.execute(f"UPDATE schema_version SET version = {step + 1}".encode())


def _version(db: Db, connections: Connections) -> int | None:
    """The database's schema, None where there is none yet."""
    where = connections.address.shown
    query = (
        "SELECT current_setting('server_encoding'), to_regclass(?), EXISTS ("
        "SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(?)::oid AND relkind = 'r')"
    )
    ((encoding, table, has_tables),) = select(db, query, f"{SCHEMA_NAME}.schema_version", SCHEMA_NAME)
    if encoding != "UTF8":
        raise StoreError(f"{where}: the database's encoding is {encoding}; Perdure needs UTF8")
    if table is None:
        if has_tables:
            raise StoreCorrupt(f"{where}: the schema {SCHEMA_NAME} holds tables that are not Perdure's")
        return None
    rows = select(db, f"SELECT version FROM {SCHEMA_NAME}.schema_version")
    if len(rows) != 1 or rows[0][0] < 1:
        raise StoreCorrupt(f"{where}: the schema {SCHEMA_NAME} has no version; restore it from a copy")
    version = int(rows[0][0])
    if version > SCHEMA:
        raise StoreTooNew(
            f"{where} has schema {version}, this version of Perdure reads up to {SCHEMA}; upgrade Perdure"
        )
    return version
