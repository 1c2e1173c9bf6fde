"""The schema of a database: creating it, and refusing databases of any other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from perdure.errors import StoreCorrupt, StoreError
from perdure.stores.postgres.connections import SCHEMA_NAME, Connections, Db, select
from perdure.stores.sql.schema import check_version, parse_tables

SCHEMA = 4
"""The schema of 0.1.0."""
_UPGRADES = {2: "upgrade_2.sql", 3: "upgrade_3.sql"}
"""Schema -> the file that makes the next one of it."""
ADVISORY_CLASS = 0x50455244
"""The first key of our advisory locks ("PERD")."""
_DRIVER_TYPES = {
    "BIGINT": "int8",
    "TEXT": "text",
    "BYTEA": "bytea",
    "DOUBLE PRECISION": "float8",
    "BIGINT[]": "int8[]",
    "TEXT[]": "text[]",
}


def schema(name: str = "schema.sql") -> str:
    """Return the schema as SQL, or the upgrade to it."""
    return files("perdure.stores.postgres").joinpath(name).read_text(encoding="utf-8")


@cache
def column_types() -> Mapping[str, Mapping[str, str]]:
    """Return table -> column -> type, as binary COPY must be told."""
    return {
        table: {column: _DRIVER_TYPES[kind] for column, kind in columns.items()}
        for table, columns in parse_tables(schema()).items()
    }


def prepare(connections: Connections) -> None:
    """Create the tables where there are none, in one transaction, one process at a time."""
    with connections.errors:
        with connections.reading() as db:
            if _version(db, connections.address.shown) == SCHEMA:
                return
        with connections.writing() as db:
            select(db, "SELECT pg_advisory_xact_lock(?::integer, 0)", ADVISORY_CLASS)
            version = _version(db, connections.address.shown)
            if not version:
                db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA_NAME}".encode())
                db.execute(schema().encode())
            for before in range(version or SCHEMA, SCHEMA):
                db.execute(schema(_UPGRADES[before]).encode())


def _version(db: Db, where: str) -> int:
    """Return SCHEMA, 0 where there are no tables, or a schema that is upgraded; raise for every other."""
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
        return 0
    rows = select(db, f"SELECT version FROM {SCHEMA_NAME}.schema_version")
    if len(rows) != 1 or rows[0][0] < 1:
        raise StoreCorrupt(f"{where}: the schema {SCHEMA_NAME} has no version; restore it from a copy")
    version = int(rows[0][0])
    if version not in _UPGRADES:
        check_version(where, version, SCHEMA)
    return version
