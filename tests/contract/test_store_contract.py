"""The store contract on every adapter."""

from __future__ import annotations

import pytest

from perdure.ports.store import Store
from perdure.testing.contract import StoreContract
from perdure.testing.memory_store import MemoryStore


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()
