"""Engines that are closed, in the middle of something or before they are asked again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.aio import AsyncPerdure
from perdure.errors import StoreError
from perdure.ports.embedder import Vector


def test_closing_in_the_middle_of_a_recall_is_an_error_of_its_own(tmp_path: Path) -> None:
    options: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
    with Perdure.open(tmp_path / "m.db", **options) as memory:
        memory.retain("b", "Ann lives in Oslo.")

        def closed(_: str) -> Vector:
            memory._closed = True
            memory._components.executor.shutdown()
            return embed("Ann")

        embedder = memory._components.recall.embedder
        assert embedder is not None
        embed, embedder.embed_query = embedder.embed_query, closed  # type: ignore[method-assign]
        with pytest.raises(StoreError, match="closed"):
            memory.recall("b", "Where does Ann live?")


def test_a_closed_async_engine_says_so(tmp_path: Path) -> None:
    async def use() -> None:
        async with await AsyncPerdure.open(tmp_path / "m.db", embedder="hashing", tagger="rules") as memory:
            assert await memory.banks.list() == []
        await memory.close()
        with pytest.raises(StoreError, match="closed"):
            await memory.banks.list()

    asyncio.run(use())
