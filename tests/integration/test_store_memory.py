"""What a store and an engine keep in memory, and what is left of them when they are closed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perdure import Perdure
from perdure.aio import AsyncPerdure
from perdure.domain.bank import EmbeddingModel
from perdure.errors import ModelMismatch, StoreError
from perdure.ports.embedder import Vector
from perdure.ports.probe import SemanticProbe
from perdure.ports.store import Selection, Target, WriteBatch
from perdure.stores.index.bank_index import BankState
from perdure.stores.sqlite.connections import Reader
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import BANK, CURRENT, make_fact, new, put, unit


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
    with (
        closing(SqliteStore.open(tmp_path / "m.db")) as store,
        closing(SqliteStore.open(tmp_path / "m.db")) as other,
    ):
        put(store, make_fact("a"))
        assert store.stats(BANK).facts == 1
        other.forget(BANK, Target(bank=True))
        assert store.stats(BANK).facts == 0
        assert BANK not in store._indexes


def test_closing_in_the_middle_of_a_recall_is_an_error_of_its_own(tmp_path: Path) -> None:
    options: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
    with Perdure.open(tmp_path / "m.db", **options) as memory:
        memory.retain("b", "Ann lives in Oslo.")

        def closed(_: str) -> Vector:
            memory._closed = True
            memory._wired.executor.shutdown()
            return embed("Ann")

        embedder = memory._wired.recall.embedder
        assert embedder is not None
        embed, embedder.embed_query = embedder.embed_query, closed  # type: ignore[method-assign]
        with pytest.raises(StoreError, match="closed"):
            memory.recall("b", "Where does Ann live?")


def test_vectors_that_were_replaced_meanwhile_are_a_mismatch(tmp_path: Path) -> None:
    other, vectors = EmbeddingModel("other", 4), np.eye(4, dtype=np.float32)
    path = tmp_path / "m.db"
    with closing(SqliteStore.open(path)) as store, closing(SqliteStore.open(path)) as second:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}) for name in "abcd"))
        assert store.stats(BANK).facts == 4
        look = store._look

        def replaced_after(reader: Reader, bank: str) -> BankState | None:
            state = look(reader, bank)
            second.stage_vectors(
                BANK, other, [(name, {"fact": v}, b"") for name, v in zip("abcd", vectors, strict=True)]
            )
            assert second.switch_model(BANK, other) == []
            return state

        store._look = replaced_after  # type: ignore[method-assign]
        with pytest.raises(ModelMismatch):
            store.search(BANK, SemanticProbe(unit(1)), CURRENT, 9)
        store._look = look  # type: ignore[method-assign]
        assert len(store.search(BANK, SemanticProbe(vectors[0]), CURRENT, 9)) == 4


def test_a_closed_async_engine_says_so(tmp_path: Path) -> None:
    async def use() -> None:
        async with await AsyncPerdure.open(tmp_path / "m.db", embedder="hashing", tagger="rules") as memory:
            assert await memory.banks() == []
        await memory.close()
        with pytest.raises(StoreError, match="closed"):
            await memory.banks()

    asyncio.run(use())
