"""The index cache repeats rows for a quick start: it may be emptied, in part or whole, and nothing is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Link, LinkKind
from perdure.ports.store import Features, StagedVectors
from perdure.stores.index import packing
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, MODEL, NOW, make_fact, new, put
from tests.property.test_store_machine import check_index_cache

SIZE = 35
Step = Callable[[SqliteStore], object]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def fill(store: SqliteStore) -> None:
    random = np.random.default_rng(1)
    for number in range(SIZE):
        vector = random.normal(size=MODEL.dimensions).astype(np.float32)
        fact = make_fact(
            f"f{number}",
            entity_ids=(f"e{number % 4}",),
            entities=(f"e{number % 4}",),
            tags=frozenset({f"t{number % 3}"}),
            metadata={"turn": str(number % 5)},
        )
        links = [Link(f"f{number - 1}", f"f{number}", LinkKind.SEMANTIC, 0.5)] if number else []
        vectors = {"fact": vector / np.float32(np.linalg.norm(vector))}
        put(store, new(fact, words=f"word{number % 6} all", vectors=vectors), links=links)


def edited(path: Path, *statements: str) -> Path:
    """A copy of the file after some statements."""
    copy = path.with_name("copy.db")
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(copy)) as other:
        raw.backup(other)
        for statement in statements:
            other.execute(statement)
        other.commit()
    return copy


def close_some(store: SqliteStore) -> None:
    with store.transaction(BANK) as tx:
        facts = tx.facts(["f3", "f12", "f29"])
        tx.update_facts([replace(fact, retired_at=NOW, superseded_by="f30") for fact in facts])


def edit(store: SqliteStore) -> None:
    with store.transaction(BANK) as tx:
        (fact,) = tx.facts(["f4"])
        tx.update_facts(
            [replace(fact, tags=frozenset({"other"}), entity_ids=("e9",), entities=("e9",), metadata={})]
        )
        vector = np.eye(MODEL.dimensions, dtype=np.float32)[3]
        tx.put_features({"f15": Features(vectors={"fact": vector}, terms={"word2": 3.0})})


def link(store: SqliteStore) -> None:
    with store.transaction(BANK) as tx:
        tx.put_links([Link("f2", "f17", LinkKind.CAUSAL, 0.9), Link("f3", "f4", LinkKind.SEMANTIC, 0.7)])


def delete(store: SqliteStore) -> None:
    with store.transaction(BANK) as tx:
        tx.delete_facts(["f9", "f33"])


def change_model(store: SqliteStore) -> None:
    other = EmbeddingModel("other", 4)
    vectors = np.random.default_rng(2).normal(size=(SIZE, 4)).astype(np.float32)
    with store.transaction(BANK) as tx:
        tx.stage_vectors(other, [StagedVectors(f"f{n}", {"fact": vectors[n]}) for n in range(SIZE)])
        tx.switch_model(other)


STEPS = [close_some, edit, link, delete, change_model]


@pytest.mark.parametrize("step", STEPS)
def test_the_cache_follows_every_change(path: Path, step: Step) -> None:
    with closing(SqliteStore.open(path)) as store:
        fill(store)
        step(store)
    with closing(sqlite3.connect(path)) as raw:
        counts = raw.execute("SELECT (SELECT count(*) FROM fact), (SELECT count(*) FROM index_cache)")
        facts, cached = counts.fetchone()
        assert facts == cached
        check_index_cache(raw)


OTHER_FORMAT = f"UPDATE index_cache SET body = cast(x'{packing.VERSION + 1:02x}' || substr(body, 2) AS BLOB)"


@pytest.mark.parametrize("statement", ["DELETE FROM index_cache", OTHER_FORMAT])
def test_an_emptied_cache_is_filled_when_the_file_is_opened(path: Path, statement: str) -> None:
    with closing(SqliteStore.open(path)) as store:
        fill(store)
    copy = edited(path, statement)
    SqliteStore.open(copy).close()
    query = "SELECT * FROM index_cache ORDER BY bank, fact"
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(copy)) as other:
        assert other.execute(query).fetchall() == raw.execute(query).fetchall()
