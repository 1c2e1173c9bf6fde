"""Databases: opening the store that the settings name, and what is done with a database as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from perdure.domain.bank import check_bank_id
from perdure.domain.damage import RestoredFile, Verification
from perdure.errors import InvalidInput, Unavailable
from perdure.jobs.records import JOB
from perdure.ports.store import Store
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.stores.postgres.store import PostgresStore
    from perdure.stores.sql.copying import BankCopy, BankEncryption, Progress, TableStore

POSTGRES = ("postgresql://", "postgres://")


def open_store(settings: Settings) -> Store:
    """Return the store that the database setting names."""
    database = settings.database
    if database.startswith(POSTGRES):
        return open_postgres(settings)
    if "://" in database and not database.startswith("sqlite:///"):
        raise Unavailable(
            f"database {database.split('://')[0]}: only SQLite files and PostgreSQL are supported"
        )
    path = database.removeprefix("sqlite:///")
    if not path:
        raise InvalidInput("database", "a file path or sqlite:/// URL", database)
    return open_file(
        path,
        synchronous=settings.synchronous,
        busy_timeout_ms=settings.busy_timeout_ms,
        index_memory_mb=settings.index_memory_mb,
    )


def open_postgres(settings: Settings) -> Store:
    """Return the store on the server that the database setting names."""
    try:
        from perdure.stores.postgres.store import PostgresStore
    except ImportError as error:
        needed = 'PostgreSQL needs the extra "postgres": pip install "perdure[postgres]"'
        raise Unavailable(needed) from error
    return PostgresStore.open(
        settings.database,
        connections=settings.database_connections,
        timeout=settings.database_timeout,
        patience=settings.database_patience,
        prepared=settings.database_prepared,
        large_bank_facts=settings.large_bank_facts,
        encrypt_content=settings.encrypt_content,
        busy_timeout_ms=settings.busy_timeout_ms,
        index_memory_mb=settings.index_memory_mb,
    )


def open_file(
    path: str,
    *,
    synchronous: Literal["normal", "full"] = "normal",
    busy_timeout_ms: int = 5000,
    index_memory_mb: int = 1024,
) -> Store:
    """Return the store in a file."""
    from perdure.stores.sqlite.store import SqliteStore

    return SqliteStore.open(
        path,
        synchronous=synchronous,
        busy_timeout_ms=busy_timeout_ms,
        index_memory_mb=index_memory_mb,
    )


def copy_banks(
    target: str,
    *,
    banks: Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: Progress = lambda *_: None,
) -> list[BankCopy]:
    """Copy banks, or without `banks` all of them and the API keys, from the database of the settings to another one.

    Both may be SQLite files or PostgreSQL. What was interrupted begins again; what arrived is compared by counts and hashes.
    """
    from perdure.stores.sql.copying import copy_bank, copy_shared_records

    from_ = settings or Settings()
    there = from_.model_copy(update={"database": target})
    with closing(open_store(from_)) as source, closing(open_store(there)) as destination:
        ids = [bank.id for bank in source.banks()] if banks is None else banks
        copies = [
            copy_bank(_with_tables(source), _with_tables(destination), bank, progress)
            for bank in map(check_bank_id, ids)
        ]
        if banks is None:
            copy_shared_records(
                _with_tables(source), _with_tables(destination), lambda kind: not kind.startswith(JOB)
            )
    return copies


def abandon_copies(target: str, banks: Sequence[str], *, settings: Settings | None = None) -> list[str]:
    """Delete what interrupted copies of these banks left in the target. Return the banks of which something was left."""
    from perdure.stores.sql.copying import abandon

    with closing(open_store((settings or Settings()).model_copy(update={"database": target}))) as destination:
        return [bank for bank in banks if abandon(_with_tables(destination), bank)]


def encrypt_bank(
    bank: str, *, settings: Settings | None = None, progress: Progress = lambda *_: None
) -> BankEncryption:
    """Encrypt the content of a bank that was made without `encrypt_content`, while it is in use. PostgreSQL only.

    What was interrupted goes on when called again. Dead rows, the log, replicas and backups hold the content as it was.
    """
    instead = "encryption of content: a file has none; encrypt the disk that it is on"
    with _on_postgres(settings or Settings(), instead) as store:
        from perdure.stores.postgres.encrypting import WAIT, encrypt

        return encrypt(store, check_bank_id(bank), wait=WAIT, progress=progress)


def secure_database(role: str, *, off: bool = False, settings: Settings | None = None) -> None:
    """Let a role use the PostgreSQL database of the settings under row-level security, or with `off` end that."""
    instead = "row-level security: a file has none; give its folder to one user"
    with _on_postgres(settings or Settings(), instead) as store:
        store.secure(role, off=off)


def citus_statements() -> list[str]:
    """Return the statements that distribute PostgreSQL's tables by bank over a Citus cluster."""
    from perdure.stores.postgres.distribute import statements

    return statements()


def distribute_tables(settings: Settings) -> list[str]:
    """Run these statements on the database that the setting names."""
    with _on_postgres(settings, "distribution: a file has none") as store:
        from perdure.stores.postgres.distribute import distribute

        return distribute(store)


@contextmanager
def _on_postgres(settings: Settings, refusal: str) -> Iterator[PostgresStore]:
    """Open a PostgreSQL database. Raise `Unavailable` for a file."""
    if not settings.database.startswith(POSTGRES):
        raise Unavailable(refusal)
    with closing(open_store(settings)) as store:
        yield cast("PostgresStore", store)


def restore_database(settings: Settings, backup: Path, stamp: str) -> RestoredFile:
    """Replace the database that the setting names by a backup. No process may have it open."""
    from perdure.stores.sqlite.copies import restore_file

    path = settings.database.removeprefix("sqlite:///")
    if "://" in path or not path:
        raise Unavailable("restore: PostgreSQL is restored by pg_restore or from pg_basebackup's copy")
    return restore_file(path, str(backup), stamp, verify_file)


def salvage_database(settings: Settings, target: Path) -> dict[str, int]:
    """Copy what can still be read of the database to a new file. Return how many rows of each damaged table were copied."""
    from perdure.stores.sqlite.connections import SqliteErrors
    from perdure.stores.sqlite.salvage import salvage

    path = settings.database.removeprefix("sqlite:///")
    if "://" in path or not path:
        raise Unavailable(
            "salvage: only SQLite files can be salvaged; `perdure database copy FILE` reads PostgreSQL"
        )
    with SqliteErrors(path):
        return salvage(path, str(target))


def verify_file(path: str) -> Verification:
    """Check a file in full. No process may have it open."""
    store = open_file(path)
    try:
        return store.verify()
    finally:
        store.close()


def _with_tables(store: Store) -> TableStore:
    """Return the store as one whose tables can be copied."""
    from perdure.stores.sqlite.store import SqliteStore

    if isinstance(store, SqliteStore):
        return store
    from perdure.stores.postgres.store import PostgresStore

    assert isinstance(store, PostgresStore)
    return store
