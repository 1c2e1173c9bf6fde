"""The store contract on every adapter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from perdure.ports.store import Store
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.contract import StoreContract
from perdure.testing.memory_store import MemoryStore


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
