"""Segments repeat rows for a quick start: an index answers the same with them and without."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Link, LinkKind
from perdure.errors import StoreCorrupt
from perdure.ports.probe import KeywordProbe, Probe, SemanticProbe
from perdure.ports.store import Closure, Features, Target, WriteBatch
from perdure.stores.index import lazy, packed
from perdure.stores.sqlite import segments
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.agreement import assert_same_memory, assert_same_search
from perdure.testing.making import BANK, EVERYTHING, MODEL, NOW, make_fact, new, put
from perdure.testing.samples import MODEL as SAMPLE_MODEL
from perdure.testing.samples import Sampler

Step = Callable[[SqliteStore], object]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT", 10)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def fill(store: SqliteStore, count: int) -> list[str]:
    random = np.random.default_rng(1)
    for number in range(count):
        vector = random.normal(size=MODEL.dimensions).astype(np.float32)
        features = {"fact": vector / np.float32(np.linalg.norm(vector))}
        fact = make_fact(
            f"f{number}",
            entity_ids=(f"e{number % 4}",),
            entities=(f"e{number % 4}",),
            tags=frozenset({f"t{number % 3}"}),
            metadata={"turn": str(number % 5)},
        )
        before = [Link(f"f{number - 1}", f"f{number}", LinkKind.SEMANTIC, 0.5)] if number else []
        put(store, new(fact, words=f"word{number % 6} all", vectors=features), links=before)
    return [f"f{number}" for number in range(count)]


def ranges(path: Path) -> list[tuple[int, int]]:
    with closing(sqlite3.connect(path)) as raw:
        query = "SELECT first, last FROM segment WHERE part = ? ORDER BY last"
        return raw.execute(query, (packed.FACTS,)).fetchall()


def without_segments(path: Path) -> Path:
    """A copy of the file that was never packed."""
    copy = path.with_name("copy.db")
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(copy)) as other:
        raw.backup(other)
        other.execute("DELETE FROM segment")
        other.commit()
    return copy


def assert_the_same_without(path: Path, model: EmbeddingModel = MODEL) -> None:
    probes: list[Probe] = [KeywordProbe({"all": 1.0, "word2": 2.0})]
    probes += [SemanticProbe(np.eye(model.dimensions, dtype=np.float32)[one]) for one in range(4)]
    with closing(SqliteStore.open(path)) as store, closing(SqliteStore.open(without_segments(path))) as plain:
        for probe in probes:
            assert_same_search(plain, store, BANK, probe, EVERYTHING, 50)
        assert_same_memory(plain, store, BANK, EVERYTHING)


def close_some(store: SqliteStore) -> None:
    closures = [Closure(fact_id=one, retired_at=NOW, superseded_by="f30") for one in ("f3", "f12", "f29")]
    store.write(WriteBatch(bank=BANK, closures=closures))


def edit(store: SqliteStore) -> None:
    (fact,) = store.facts(BANK, ["f4"])
    anew = replace(fact, tags=frozenset({"other"}), entity_ids=("e9",), entities=("e9",))
    vector = np.eye(MODEL.dimensions, dtype=np.float32)[3]
    features = {"f15": Features(vectors={"fact": vector}, terms={"word2": 3.0})}
    store.write(WriteBatch(bank=BANK, model=MODEL, updates=[anew], features=features))


def link(store: SqliteStore) -> None:
    links = [
        Link("f2", "f17", LinkKind.CAUSAL, 0.9),
        Link("f3", "f4", LinkKind.SEMANTIC, 0.7),
    ]
    store.write(WriteBatch(bank=BANK, links=links))


def forget(store: SqliteStore) -> None:
    assert store.forget(BANK, Target(fact_id="f9")) == 1
    assert store.forget(BANK, Target(fact_id="f33")) == 1
    assert store.forget(BANK, Target(entity_id="e2")) == 0


def change_model(store: SqliteStore) -> None:
    other = EmbeddingModel("other", 4)
    vectors = np.random.default_rng(2).normal(size=(35, 4)).astype(np.float32)
    store.stage_vectors(BANK, other, [(f"f{n}", {"fact": vectors[n]}, b"") for n in range(35)])
    assert store.switch_model(BANK, other) == []


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "coded"])
@pytest.mark.parametrize("step", [close_some, edit, link, forget, change_model])
def test_what_changed_after_packing_is_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: Step, exact: bool
) -> None:
    if not exact:
        monkeypatch.setattr(lazy, "EXACT_UP_TO", 5)
    with closing(SqliteStore.open(path)) as store:
        fill(store, 35)
        assert len(ranges(path)) == 3
        step(store)
    model = EmbeddingModel("other", 4) if step is change_model else MODEL
    assert_the_same_without(path, model)


def test_ranges_follow_each_other_without_holes(path: Path) -> None:
    with closing(SqliteStore.open(path)) as store:
        fill(store, 45)
        for one in ("f0", "f9", "f10", "f39"):
            store.forget(BANK, Target(fact_id=one))
    found = ranges(path)
    assert [first for first, _ in found[1:]] == [last + 1 for _, last in found[:-1]]
    assert (found[0][0], found[-1][1]) == (1, 40)
    assert_the_same_without(path)


def test_facts_of_several_banks_are_packed_apart(path: Path) -> None:
    samplers = [Sampler(Random(seed), bank=f"bank{seed}") for seed in range(3)]
    with closing(SqliteStore.open(path)) as store:
        for _ in range(12):
            for sampler in samplers:
                batch = WriteBatch(bank=sampler.bank, model=SAMPLE_MODEL, facts=[sampler.new_fact()])
                store.write(batch)
    assert len(ranges(path)) >= 2
    with closing(SqliteStore.open(path)) as store, closing(SqliteStore.open(without_segments(path))) as plain:
        for sampler in samplers:
            assert_same_memory(plain, store, sampler.bank, EVERYTHING)


def test_a_long_list_of_changes_is_cut_with_the_segments(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_CHANGES_KEPT", 8)
    with closing(SqliteStore.open(path)) as store:
        fill(store, 25)
        for number in range(24):
            closure = Closure(fact_id=f"f{number}", retired_at=NOW, superseded_by="f24")
            store.write(WriteBatch(bank=BANK, closures=[closure]))
    assert_the_same_without(path)


def test_rows_are_read_where_too_much_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SqliteStore.open(path)) as store:
        fill(store, 25)
        close_some(store)
    monkeypatch.setattr(packed, "_MOST_CHANGES", 1)
    assert_the_same_without(path)


def test_much_is_packed_little_by_little(path: Path) -> None:
    with closing(SqliteStore.open(path)) as store:
        fill(store, 95)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DELETE FROM segment")
        raw.commit()
    with closing(SqliteStore.open(path)) as store:
        store.write(WriteBatch(bank=BANK))
        assert len(ranges(path)) == segments._AT_ONCE
        for _ in range(3):
            store.write(WriteBatch(bank=BANK))
    assert len(ranges(path)) == 9
    assert_the_same_without(path)


@pytest.mark.parametrize("body", ["zeroblob(9)", "zeroblob(500)", "substr(body, 1, length(body) - 3)"])
def test_a_damaged_segment_is_told(path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "EXACT_UP_TO", 5)
    with closing(SqliteStore.open(path)) as store:
        fill(store, 20)
    for part, probe in (
        (packed.FACTS, KeywordProbe({"all": 1.0})),
        (packed.view_part("fact"), SemanticProbe(np.ones(MODEL.dimensions, np.float32))),
    ):
        damaged = without_segments(path)
        with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(damaged)) as other:
            raw.backup(other)
            other.execute(f"UPDATE segment SET body = {body} WHERE part = ?", (part,))
            other.commit()
        with closing(SqliteStore.open(damaged)) as store, pytest.raises(StoreCorrupt):
            store.search(BANK, probe, EVERYTHING, 5)
