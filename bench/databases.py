"""SQLite and PostgreSQL side by side: `python -m bench.databases postgresql://... [--facts 10000]`.

The same made-up bank (`bench.store_world`) in both, asked by turns in one process, so that what disturbs one disturbs the other.
The PostgreSQL database must be empty; it is filled through the store, as SQLite is.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bench.store import NOW, QUERIES, Questions, fill
from bench.store_world import BANK, fact_at, make_world, write_facts
from perdure.domain.filter import Filter
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import Store
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore

TURNS = 3
SINGLES = 60


def measure(open_stores: dict[str, Callable[[], Store]], count: int) -> dict[str, dict[str, list[float]]]:
    """What is measured -> database -> milliseconds of each time."""
    world = make_world(count + SINGLES * len(open_stores))
    figures: dict[str, dict[str, list[float]]] = {}

    def note(what: str, database: str, began: float) -> None:
        figures.setdefault(what, {}).setdefault(database, []).append((time.perf_counter() - began) * 1000)

    for name, opened in open_stores.items():
        with closing(opened()) as store:
            seconds, _ = fill(store, world, count)
        figures.setdefault("1,000 facts written", {})[name] = [seconds * 1e6 / count]
    for _ in range(TURNS):
        for name, opened in open_stores.items():
            began = time.perf_counter()
            with closing(opened()) as store, store.reading(BANK) as reading:
                reading.search(KeywordProbe({"w1": 1.0}), Filter(now=NOW), 300)
                note("opened, index loaded, first keyword search", name, began)
                began = time.perf_counter()
                reading.search(SemanticProbe(world.vectors[0]), Filter(now=NOW), 300)
                note("vectors loaded, first semantic search", name, began)
    stores = {name: opened() for name, opened in open_stores.items()}
    questions = {name: Questions(store, world, count) for name, store in stores.items()}
    for asked in questions.values():
        asked.choose_facts()
    actions = ("keyword", "semantic", "graph", "read_100", "rank_300", "all_four")
    labels = dict(
        zip(actions, ("keyword", "semantic", "graph", "100 facts read", "300 ranked", "recall"), strict=True)
    )
    for turn in range(TURNS + 1):
        for action in actions:
            for number in range(QUERIES):
                for name, asked in questions.items():
                    began = time.perf_counter()
                    getattr(asked, action)(number)
                    if turn:
                        note(labels[action], name, began)
    place = count
    for _ in range(SINGLES):
        for name, store in stores.items():
            new, links = fact_at(world, place)
            place += 1
            began = time.perf_counter()
            write_facts(store, [(new, links)])
            with store.reading(BANK) as reading:
                reading.search(SemanticProbe(new.features.vectors["fact"]), Filter(now=NOW), 1)
            note("one fact written and found", name, began)
    for store in stores.values():
        store.close()
    return figures


def show(figures: dict[str, dict[str, list[float]]], count: int) -> None:
    """A table of medians, 95th percentiles and ratios."""
    print(f"| {count:,} facts, ms | SQLite p50 | p95 | PostgreSQL p50 | p95 | ratio of p50 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for what, by_database in figures.items():
        cells, medians = [], []
        for name in ("sqlite", "postgres"):
            ordered = sorted(by_database[name])
            medians.append(statistics.median(ordered))
            cells += [f"{medians[-1]:.1f}", f"{ordered[int(0.95 * (len(ordered) - 1))]:.1f}"]
        print(f"| {what} | {' | '.join(cells)} | {medians[1] / medians[0]:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="an empty PostgreSQL database")
    parser.add_argument("--facts", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        open_stores: dict[str, Callable[[], Store]] = {
            "sqlite": lambda: SqliteStore.open(Path(folder) / "memory.db"),
            "postgres": lambda: PostgresStore.open(options.url),
        }
        show(measure(open_stores, options.facts), options.facts)


if __name__ == "__main__":
    main()
