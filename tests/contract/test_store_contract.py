"""The store contract on every adapter."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from perdure.ports.store import Store
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import StoreContract
from tests.support.memory_store import MemoryStore
from tests.support.postgres import LargeBanksStore, new_database, server

PGBOUNCER = os.environ.get("PGBOUNCER") or shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin")
"""The one that is installed, or a newer one that the environment names."""


def prepares(program: str | None) -> bool:
    """Whether this PgBouncer knows prepared statements: since 1.21."""
    if program is None:
        return False
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"PgBouncer (\d+)\.(\d+)", told)
    return version is not None and (int(version[1]), int(version[2])) >= (1, 21)


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with closing(SqliteStore.open(tmp_path / "memory.db")) as store:
            yield store


class TestSqliteStoreThatForgetsItsIndex(StoreContract):
    """With no memory for indexes, every bank but the last used is built from the file again."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with closing(
            SqliteStore.open(tmp_path / "memory.db", synchronous="full", index_memory_mb=0)
        ) as store:
            yield store


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with new_database() as url, closing(PostgresStore.open(url)) as store:
            yield store


class TestPostgresStoreOfLargeBanks(StoreContract):
    """Every bank is searched in SQL."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with new_database() as url, closing(LargeBanksStore.open(url, large_bank_facts=0)) as store:
            yield store


@pytest.mark.long
class TestPostgresStoreThatEncrypts(StoreContract):
    """The content of every bank is encrypted."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with new_database() as url, closing(PostgresStore.open(url, encrypt_content=True)) as store:
            yield store


@pytest.fixture(scope="module")
def pooler() -> Iterator[str]:
    assert PGBOUNCER is not None
    with server().pooler(PGBOUNCER) as folder:
        yield folder


@pytest.mark.skipif(PGBOUNCER is None, reason="needs PgBouncer")
class TestPostgresStoreBehindPgBouncer(StoreContract):
    """In transaction mode, where each transaction may get another connection of the server."""

    @pytest.fixture
    def store(self, pooler: str) -> Iterator[Store]:
        with new_database() as url:
            pooled = url.replace(str(server().folder), pooler)
            with closing(PostgresStore.open(pooled, prepared=False)) as store:
                yield store


@pytest.fixture(scope="module")
def preparing_pooler() -> Iterator[str]:
    assert PGBOUNCER is not None
    with server().pooler(PGBOUNCER, settings="max_prepared_statements = 20") as folder:
        yield folder


@pytest.mark.long
@pytest.mark.skipif(not prepares(PGBOUNCER), reason="needs PgBouncer 1.21 or newer; PGBOUNCER may name it")
class TestPostgresStoreBehindPgBouncerThatPrepares(StoreContract):
    """Statements are prepared through it, and it forgets all but a few of them."""

    @pytest.fixture
    def store(self, preparing_pooler: str) -> Iterator[Store]:
        with new_database() as url:
            pooled = url.replace(str(server().folder), preparing_pooler)
            with closing(PostgresStore.open(pooled, prepared=True)) as store:
                yield store


class TestPostgresStoreWithLittle(StoreContract):
    """Without prepared statements, with few connections and no memory for indexes."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with (
            new_database() as url,
            closing(PostgresStore.open(url, connections=2, prepared=False, index_memory_mb=0)) as store,
        ):
            yield store
