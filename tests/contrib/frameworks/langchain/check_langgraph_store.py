"""LangGraph's store: what its borrowed tests do not ask."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import InvalidInput, Perdure
from perdure.contrib.frameworks.langgraph import AsyncPerdureStore, PerdureStore


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def test_a_value_is_found_by_a_question_and_comes_back_as_it_was_put(memory: Perdure) -> None:
    store = PerdureStore(memory, "shop")
    value = {"kind": "Memory", "content": {"content": "Ann is allergic to peanuts."}, "rank": 3}
    store.put(("users", "ann"), "1", value)
    store.put(("users", "ann"), "2", {"content": "Ann lives in Lisbon."})
    store.put(("users", "bob"), "1", {"content": "Bob is allergic to cats."})
    [best, *_] = store.search(("users", "ann"), query="What is Ann allergic to?")
    assert (best.key, best.value) == ("1", value)
    assert best.score is not None
    assert best.score > 0
    everybody = store.search(("users",), query="Who is allergic to cats?", limit=1)
    assert [(item.namespace, item.key) for item in everybody] == [(("users", "bob"), "1")]


def test_what_is_overwritten_is_no_longer_found_and_what_is_deleted_is_erased(memory: Perdure) -> None:
    store = PerdureStore(memory, "shop")
    store.put(("users",), "home", {"content": "Ann lives in Oslo."})
    store.put(("users",), "home", {"content": "Ann lives in Lisbon."})
    assert [one.text for one in memory.recall("shop", "Where does Ann live?")] == ["Ann lives in Lisbon."]
    store.delete(("users",), "home")
    assert memory.documents.list("shop") == []
    assert memory.banks.stats("shop").facts == 0
    assert store.get(("users",), "home") is None


def test_a_value_that_is_put_again_without_an_index_is_not_found_by_meaning(memory: Perdure) -> None:
    store = PerdureStore(memory, "shop")
    store.put(("users",), "home", {"content": "Ann lives in Oslo."})
    store.put(("users",), "home", {"content": "Ann lives in Oslo."}, index=False)
    assert len(memory.recall("shop", "Where does Ann live?")) == 0
    assert [item.score for item in store.search(("users",), query="Where does Ann live?")] == [None]


def test_each_user_has_a_bank_where_the_first_labels_name_it(memory: Perdure) -> None:
    store = PerdureStore(memory, "shop", bank_labels=1)
    for user in ("ann", "bob", "anna"):
        store.put((user, "notes"), "1", {"content": f"{user.title()} likes figs."})
    assert [bank.id for bank in memory.banks.list()] == ["shop.ann", "shop.anna", "shop.bob"]
    assert store.list_namespaces() == [("ann", "notes"), ("anna", "notes"), ("bob", "notes")]
    assert store.list_namespaces(prefix=("ann",)) == [("ann", "notes")]
    assert len(store.search((), query="Who likes figs?")) == 3
    assert [item.namespace for item in store.search(("ann",))] == [("ann", "notes")]
    memory.forget("shop.ann", everything=True)
    assert store.get(("ann", "notes"), "1") is None
    assert store.list_namespaces() == [("anna", "notes"), ("bob", "notes")]


def test_an_unknown_comparison_is_refused(memory: Perdure) -> None:
    store = PerdureStore(memory, "shop")
    store.put(("a",), "1", {"rank": 1})
    with pytest.raises(InvalidInput, match=r"\$eq"):
        store.search(("a",), filter={"rank": {"$near": 1}})
    assert store.search(("a",), filter={"rank": {"$gt": "text"}}) == []


def test_the_asynchronous_store_gathers_calls(memory: Perdure) -> None:
    async def use() -> list[str]:
        store = AsyncPerdureStore(memory, "shop")
        await asyncio.gather(
            *(store.aput(("a",), str(number), {"content": f"Ann has {number} cats."}) for number in range(3))
        )
        items = await store.asearch(("a",), query="How many cats has Ann?")
        return sorted(item.key for item in items)

    assert asyncio.run(use()) == ["0", "1", "2"]
