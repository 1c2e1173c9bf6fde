"""The same tables on a Citus cluster, distributed by bank; shared tables are on every worker.

Citus is the user's own choice: nothing here needs it, and nothing else knows of it. Every statement of the
store names the bank, so that each of them goes to one worker.
"""

from __future__ import annotations

from perdure.errors import Unavailable
from perdure.stores.postgres.connections import SCHEMA_NAME
from perdure.stores.postgres.schema import column_types
from perdure.stores.postgres.store import PostgresStore

ON_EVERY_WORKER = ("bank", "shared_record")
"""Small tables that others are joined with, or that have unique keys without a bank."""
_FIRST = "fact"
"""The table beside whose rows the others' rows of the same bank are kept."""


def statements() -> list[str]:
    """Return the statements by which Citus distributes the tables, to be run once on its coordinator."""
    others = sorted(
        table for table, columns in column_types().items() if "bank" in columns and table != _FIRST
    )
    return [
        *(f"SELECT create_reference_table('{SCHEMA_NAME}.{table}')" for table in ON_EVERY_WORKER),
        f"SELECT create_distributed_table('{SCHEMA_NAME}.{_FIRST}', 'bank', colocate_with => 'none')",
        *(
            f"SELECT create_distributed_table('{SCHEMA_NAME}.{table}', 'bank', colocate_with => '{SCHEMA_NAME}.{_FIRST}')"
            for table in others
        ),
    ]


def distribute(store: PostgresStore) -> list[str]:
    """Run the statements in one transaction; raises Unavailable on a server without Citus."""
    with store.tables(writing=True) as tables:
        if not tables.select("SELECT 1 FROM pg_extension WHERE extname = ?", "citus"):
            raise Unavailable(f"{store.shown} has no extension citus; CREATE EXTENSION citus first")
        for statement in statements():
            tables.select(statement)
    return statements()
