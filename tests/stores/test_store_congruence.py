"""SQLite and PostgreSQL give the answers of the in-memory oracle, and the same as each other where they approximate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.domain.time import Window
from perdure.ports.probe import SemanticProbe, TemporalProbe
from perdure.ports.store import Features, NewFact, Store
from perdure.retain.commit import FactChanges, commit
from perdure.stores.index.vectors import EXACT_UP_TO
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, CURRENT, day, ids, make_fact, search
from tests.support.agreement import assert_same_memory, assert_same_search
from tests.support.memory_store import MemoryStore
from tests.support.postgres import LargeBanksStore, new_database
from tests.support.sampler import MODEL, START, Sampler

SIZE = 400
DATABASES = ("sqlite", "postgres", "large")


def fill(stores: list[Store], seed: int) -> Sampler:
    sampler = Sampler(Random(seed))
    for start in range(0, SIZE, 50):
        facts = [sampler.new_fact() for _ in range(50)]
        changes = FactChanges(
            bank=sampler.bank,
            model=MODEL,
            documents=sampler.documents() if start == 0 else (),
            chunks=sampler.chunks() if start == 0 else (),
            entities=sampler.entities() if start == 0 else (),
            facts=facts,
            links=sampler.links(100),
        )
        receipts = [commit(store, changes) for store in stores]
        assert receipts[0] == receipts[1]
    return sampler


@contextmanager
def place(database: str, folder: Path) -> Iterator[str]:
    """Where a new store of the kind is."""
    if database == "sqlite":
        yield str(folder / "memory.db")
    else:
        with new_database() as url:
            yield url if database == "postgres" else f"{url}&application_name=large"


def open_at(place: str) -> SqliteStore | PostgresStore:
    """The store of a kind; a URL of the application `large` is searched in SQL."""
    if place.endswith("application_name=large"):
        return LargeBanksStore.open(place, clock=lambda: START, large_bank_facts=0)
    kind = PostgresStore if place.startswith("postgresql://") else SqliteStore
    return kind.open(place, clock=lambda: START)


@pytest.fixture(scope="module", params=DATABASES)
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, Store, Sampler]]:
    oracle = MemoryStore(clock=lambda: START)
    with (
        place(request.param, tmp_path_factory.mktemp("congruence")) as where,
        closing(open_at(where)) as store,
    ):
        sampler = fill([oracle, store], seed=5)
        yield oracle, store, sampler


@pytest.mark.parametrize("seed", range(4))
def test_every_channel_agrees_under_every_filter(filled: tuple[Store, Store, Sampler], seed: int) -> None:
    oracle, store, sampler = filled
    asking = Sampler(Random(1000 + seed), bank=sampler.bank, drawn_ids=sampler.drawn_ids)
    for probe in asking.probes():
        for limit in (1, 10, 1000):
            assert_same_search(oracle, store, sampler.bank, probe, asking.filter(), limit)


def test_everything_else_agrees(filled: tuple[Store, Store, Sampler]) -> None:
    oracle, store, sampler = filled
    assert_same_memory(oracle, store, sampler.bank, sampler.filter())


@pytest.mark.parametrize("database", DATABASES)
def test_an_index_built_from_the_rows_answers_as_the_one_that_grew(database: str, tmp_path: Path) -> None:
    oracle = MemoryStore(clock=lambda: START)
    with place(database, tmp_path) as where, closing(open_at(where)) as grown:
        sampler = fill([oracle, grown], seed=6)
        with closing(open_at(where)) as fresh:
            for probe in sampler.probes():
                where = sampler.filter()
                with fresh.reading(sampler.bank) as one, grown.reading(sampler.bank) as other:
                    assert one.search(probe, where, 50) == other.search(probe, where, 50)


def clustered(count: int) -> np.ndarray:
    random = np.random.default_rng(1)
    centres = random.normal(size=(40, MODEL.dimensions * 4))
    drawn = centres[random.integers(0, 40, count)] + random.normal(size=(count, MODEL.dimensions * 4))
    drawn = (drawn + 0.5).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.fixture(
    scope="module",
    params=(DATABASES[0], *(pytest.param(name, marks=pytest.mark.long) for name in (DATABASES[1], "large"))),
)
def large(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, np.ndarray]]:
    """A bank above the size up to which search is exact, so that bits and codes are used."""
    count = EXACT_UP_TO + 2000
    vectors = clustered(count)
    model = EmbeddingModel("wide", vectors.shape[1])
    with place(request.param, tmp_path_factory.mktemp("large")) as where, closing(open_at(where)) as store:
        for start in range(0, count, 5500):
            facts = [
                NewFact(
                    make_fact(f"f{number:06d}", occurred_start=day(number % 100)),
                    Features(vectors={"fact": vectors[number]}),
                )
                for number in range(start, start + 5500)
            ]
            with store.transaction(BANK) as tx:
                tx.set_model(model)
                tx.insert_facts(facts)
            search(store, SemanticProbe(vectors[0]), CURRENT, 1)
        yield store, vectors


def exact(vectors: np.ndarray, query: np.ndarray, count: int) -> list[str]:
    nearest = np.argsort(-(vectors @ query), kind="stable")[:count]
    return [f"f{number:06d}" for number in nearest.tolist()]


def test_large_banks_find_nearly_all_of_the_nearest(large: tuple[Store, np.ndarray]) -> None:
    store, vectors = large
    queries = vectors[::1111] + 0.05
    shares = []
    for query in queries:
        unit = query / np.linalg.norm(query)
        hits = search(store, SemanticProbe(unit), CURRENT, 100)
        assert len(hits) == 100
        assert all(first.score >= second.score for first, second in itertools.pairwise(hits))
        shares.append(len(set(ids(hits)) & set(exact(vectors, unit, 100))) / 100)
    assert np.mean(shares) > 0.97
    assert min(shares) > 0.85


def test_scores_of_large_banks_are_close(large: tuple[Store, np.ndarray]) -> None:
    store, vectors = large
    for hit in search(store, SemanticProbe(vectors[7]), CURRENT, 20):
        true = float(vectors[int(hit.fact_id[1:])] @ vectors[7])
        assert hit.score == pytest.approx(true, abs=5e-3)


def test_windows_of_large_banks_are_ordered_by_similarity(large: tuple[Store, np.ndarray]) -> None:
    store, vectors = large
    probe = TemporalProbe(Window(day(0), day(60)), vector=vectors[3], slices=1)
    hits = search(store, probe, CURRENT, 50)
    inside = [number for number in range(len(vectors)) if number % 100 < 60]
    order = np.argsort(-(vectors[inside] @ vectors[3]), kind="stable")[:50]
    expected = {f"f{inside[position]:06d}" for position in order.tolist()}
    assert len(expected & set(ids(hits))) >= 45
