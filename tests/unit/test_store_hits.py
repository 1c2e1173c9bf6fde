"""Hits of one recall may come from two states of a bank."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from perdure.ports.hits import FactIds, Hits
from perdure.ports.probe import KeywordProbe
from perdure.ports.store import Target, WriteBatch
from perdure.recall.fuse import fuse
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import BANK, CURRENT, make_fact, new, put


def test_a_fact_that_changed_between_two_channels_is_one_candidate(tmp_path: Path) -> None:
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, new(make_fact("a"), words="cat"), new(make_fact("b"), words="cat dog"))
        before = store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)
        features = new(make_fact("a"), words="dog dog").features
        store.write(WriteBatch(bank=BANK, features={"a": features}))
        after = store.search(BANK, KeywordProbe({"dog": 1.0}), CURRENT, 10)
        fused = fuse({"one": before, "other": after})
    assert sorted(candidate.fact_id for candidate in fused) == ["a", "b"]
    assert all(len(candidate.ranks) == 2 for candidate in fused)


def test_a_fact_that_was_erased_and_written_again_is_one_candidate(tmp_path: Path) -> None:
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, new(make_fact("a"), words="cat"), new(make_fact("b"), words="cat"))
        before = store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)
        store.forget(BANK, Target(fact_id="a"))
        put(store, new(make_fact("a"), words="cat"))
        after = store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)
        fused = fuse({"one": before, "other": after})
    assert sorted(candidate.fact_id for candidate in fused) == ["a", "b"]


def test_what_was_found_is_read_by_its_place_while_the_places_hold(tmp_path: Path) -> None:
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, *(new(make_fact(name), words="cat") for name in "abc"))
        found = fuse({"one": store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)}).ids
        assert isinstance(found, FactIds)
        assert [fact.id for fact in store.facts(BANK, found)] == ["a", "b", "c"]
        assert store.passages(BANK, found[1:]) == {"b": ("text of b", b""), "c": ("text of c", b"")}
        put(store, new(make_fact("d"), words="cat"))
        assert list(store.outlines(BANK, found[1:])) == ["b", "c"]
        store.forget(BANK, Target(fact_id="a"))
        put(store, new(make_fact("a", "anew"), words="cat"))
        for _ in "before and after the index learns of it":
            assert [fact.text for fact in store.facts(BANK, found)] == ["anew", "text of b", "text of c"]
            assert list(store.outlines(BANK, found)) == sorted(store.passages(BANK, found)) == ["a", "b", "c"]
            store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)
        store.forget(BANK, Target(bank=True))
        put(store, new(make_fact("c"), words="cat"), new(make_fact("e"), words="cat"))
        for _ in "before and after the index learns of it":
            assert (
                [fact.id for fact in store.facts(BANK, found)] == list(store.outlines(BANK, found)) == ["c"]
            )
            store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)


def test_channels_of_one_state_share_their_ids(tmp_path: Path) -> None:
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, new(make_fact("a"), words="cat"), new(make_fact("b"), words="dog"))
        first = store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 10)
        put(store, new(make_fact("c"), words="dog"))
        second = store.search(BANK, KeywordProbe({"dog": 1.0}), CURRENT, 10)
    assert isinstance(first, Hits)
    assert isinstance(second, Hits)
    assert first.all_ids is second.all_ids
