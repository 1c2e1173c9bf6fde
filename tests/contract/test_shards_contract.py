"""The store contract on several databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from perdure import Settings
from perdure.compose import open_store
from perdure.ports.store import Store
from perdure.testing.contract import StoreContract
from tests.postgres import new_database


class TestShardedStore(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        with (
            new_database() as one,
            new_database() as two,
            closing(open_store(Settings(database=f"{one} {two}"))) as store,
        ):
            yield store
