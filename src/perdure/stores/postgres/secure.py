"""Row-level security: in a transaction, other roles see the rows of the one bank that it names.

Perdure names the bank of every transaction in the setting `perdure.bank` (SET LOCAL, so that poolers do no
harm). The policies compare it with the rows: a statement that forgets its bank, or names a wrong one, finds
nothing. Records that belong to no bank, API keys among them, have a name of their own there. The policies do
not protect against somebody who has the role's password and sets the setting himself.
"""

from __future__ import annotations

from psycopg.sql import SQL, Identifier

from perdure.stores.postgres.connections import (
    ANY_BANK,
    BANK_SETTING,
    SCHEMA_NAME,
    SHARED,
    Connections,
    Db,
    select,
)
from perdure.stores.postgres.large_rows import VECTORS
from perdure.stores.postgres.schema import column_types

_NAMED = f"current_setting('{BANK_SETTING}', true)"
_OWN_BANK = f"bank = (SELECT own.no FROM {SCHEMA_NAME}.bank AS own WHERE own.id = {_NAMED})"
_NO_BANK = f"{_NAMED} = '{ANY_BANK}'"
_OWN_ROWS = {"bank": f"id = {_NAMED}", "shared_record": f"{_NAMED} = '{SHARED}'"}
"""Table -> which of its rows a transaction sees, where they do not name a bank by its number."""
_LISTED = ("bank", "record")
"""Tables that are read for all banks too: to list banks, and those with some kind of record."""
_OWN, _ALL = "one_bank", "list_banks"
"""Names of the policies."""


def holds(connections: Connections) -> bool:
    """Return whether policies hold for the role that is connected."""
    ((active,),) = connections.select("SELECT row_security_active(?)", f"{SCHEMA_NAME}.fact")
    return bool(active)


def enable(connections: Connections, role: str) -> None:
    """Make the policies, as the owner of the tables, and give a role what Perdure needs."""
    with connections.writing() as db:
        disable_in(db)
        for table in _tables(db):
            own_rows = _OWN_ROWS.get(table, _OWN_BANK)
            _run(db, f"CREATE POLICY {_OWN} ON {table} USING ({own_rows})")
            if table in _LISTED:
                _run(db, f"CREATE POLICY {_ALL} ON {table} FOR SELECT USING ({_NO_BANK})")
            _run(db, f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        for statement in (
            f"GRANT USAGE ON SCHEMA {SCHEMA_NAME} TO {{}}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA_NAME} TO {{}}",
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA_NAME} TO {{}}",
        ):
            db.execute(SQL(statement).format(Identifier(role)))
        ((version,),) = select(db, "SELECT current_setting('server_version_num')::int8")
        if version >= 170_000:
            # Lets it write tables anew, so that traces of erased content are cleared.
            maintain = f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA {SCHEMA_NAME} TO {{}}"
            db.execute(SQL(maintain).format(Identifier(role)))


def disable(connections: Connections, role: str) -> None:
    """Take the policies away; the role keeps what it was granted."""
    with connections.writing() as db:
        disable_in(db)


def disable_in(db: Db) -> None:
    """Take the policies away within a transaction."""
    for table in _tables(db):
        for policy in (_OWN, _ALL):
            _run(db, f"DROP POLICY IF EXISTS {policy} ON {table}")
        _run(db, f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")


def _tables(db: Db) -> list[str]:
    """Return the tables whose rows belong to a bank, and those with names of their own."""
    tables = [table for table, columns in column_types().items() if "bank" in columns or table in _OWN_ROWS]
    ((vectors,),) = select(db, "SELECT to_regclass(?)::text", f"{SCHEMA_NAME}.{VECTORS}")
    return [*tables, *([VECTORS] if vectors else [])]


def _run(db: Db, statement: str) -> None:
    db.execute(statement.encode())
