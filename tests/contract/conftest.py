"""Every store, for what must hold on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from perdure.ports.store import Store
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore
from tests.support.memory_store import MemoryStore
from tests.support.postgres import new_database


@contextmanager
def postgres_store(folder: Path) -> Iterator[Store]:
    with new_database() as url, closing(PostgresStore.open(url)) as store:
        yield store


STORES: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {
    "memory": lambda folder: closing(MemoryStore()),
    "sqlite": lambda folder: closing(SqliteStore.open(folder / "memory.db")),
    "postgres": postgres_store,
}


@pytest.fixture(params=STORES)
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with STORES[request.param](tmp_path) as store:
        yield store
