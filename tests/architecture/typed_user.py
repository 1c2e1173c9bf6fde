"""What a user writes, checked by mypy --strict from outside: every name comes from `perdure`, nothing is Any."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_type

import numpy as np

from perdure import (
    RECIPES,
    AsOf,
    AsyncPerdure,
    Embedder,
    EmbeddingModel,
    Fact,
    FactType,
    Filter,
    Forgotten,
    Hints,
    Include,
    InvalidInput,
    Item,
    Matrix,
    MinScores,
    Operation,
    Perdure,
    RecallResult,
    Recipe,
    Recollection,
    Reflection,
    Reranker,
    RetainResult,
    TagLeaf,
    Vector,
    Window,
)


class Zeros:
    """An embedder and a reranker by structure alone."""

    model = EmbeddingModel("zeros", 3)
    name = "zeros"

    def embed_query(self, text: str) -> Vector:
        return np.zeros(3, np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.zeros((len(texts), 3), np.float32)

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        return np.zeros(len(passages), np.float32)


embedder: Embedder = Zeros()
reranker: Reranker = Zeros()


def use(memory: Perdure) -> None:
    assert_type(memory.retain("ann", "I like figs.", speaker="Ann", tags=["food"]), RetainResult)
    memory.retain("ann", [Item(content="I like figs."), {"role": "user", "content": "And dates."}])
    result = memory.recall(
        "ann",
        "What does Ann like?",
        types=["world"],
        as_of=AsOf(valid=datetime(2026, 1, 1)),
        recipe=RECIPES["fast"],
        where=Filter(types=frozenset({FactType.WORLD}), tags=(TagLeaf(frozenset({"food"})),)),
        include=Include(chunks=True),
        hints=Hints(window=Window(), entities=["Ann"]),
        min_scores=MinScores(final=0.1),
    )
    assert_type(result, RecallResult)
    for recollection in result:
        assert_type(recollection, Recollection)
        assert_type(recollection.fact, Fact)
    assert_type(memory.prompt("ann", "What does Ann like?", max_tokens=100), str)
    assert_type(memory.reflect("ann", "What does Ann like?", recipe="fast"), Reflection)
    assert_type(memory.retain_later("ann", "Later."), Operation)
    assert_type(memory.forget("ann", everything=True), Forgotten)
    assert_type(memory.recipe(without=["graph"]), Recipe)
    try:
        memory.recall("ann", " ")
    except InvalidInput as error:
        assert_type(error.field, str)


async def use_async() -> None:
    async with await AsyncPerdure.open(
        "memory.db", embedder=embedder, reranker=reranker, threads=1
    ) as memory:
        assert_type(await memory.recall("ann", "What?", limit=3), RecallResult)
        assert_type(await memory.retain("ann", "Text", trust=3), RetainResult)
        async for fact in memory.facts.iterate("ann"):
            assert_type(fact, Fact)


with Perdure.open("memory.db", embedder=embedder, recipe="fast") as opened:
    use(opened)
