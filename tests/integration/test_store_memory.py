"""What a store and an engine keep in memory, and what is left of them when they are closed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from perdure.aio import AsyncPerdure
from perdure.errors import StoreError
from perdure.ports.store import Selection, Target, WriteBatch
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import BANK, CURRENT, make_fact, new, put


def test_banks_that_are_only_listed_leave_memory_too(tmp_path: Path) -> None:
    banks = [f"bank{number}" for number in range(5)]
    with closing(SqliteStore.open(tmp_path / "m.db", index_memory_mb=0)) as store:
        for bank in banks:
            store.write(WriteBatch(bank=bank, facts=[new(replace(make_fact("a"), bank=bank))]))
        for bank in banks:
            assert store.stats(bank).facts == 1
            assert store.browse(bank, Selection(wanted=CURRENT)).total == 1
        assert [bank in store._indexes for bank in banks] == [False] * 4 + [True]


def test_a_bank_that_another_process_erased_leaves_memory(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "m.db")) as store, closing(SqliteStore.open(tmp_path / "m.db")) as other:
        put(store, make_fact("a"))
        assert store.stats(BANK).facts == 1
        other.forget(BANK, Target(bank=True))
        assert store.stats(BANK).facts == 0
        assert BANK not in store._indexes


def test_a_closed_async_engine_says_so(tmp_path: Path) -> None:
    async def use() -> None:
        async with await AsyncPerdure.open(tmp_path / "m.db", embedder="hashing", tagger="rules") as memory:
            assert await memory.banks() == []
        await memory.close()
        with pytest.raises(StoreError, match="closed"):
            await memory.banks()

    asyncio.run(use())
