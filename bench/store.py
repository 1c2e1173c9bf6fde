"""Speed, memory and size of the SQLite store: `python -m bench.store [--facts 10000 100000]`.

The bank is made up (`bench.store_world`); real ones are asked by `bench.quality`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.store_world import BANK, MODEL, START, World, batch_of, id_at, make_world
from perdure.domain.fact import Fact
from perdure.domain.filter import Filter, TagLeaf
from perdure.domain.ranking import RankingFields
from perdure.domain.recall import Hit
from perdure.domain.time import Window
from perdure.ports.probe import GraphProbe, KeywordProbe, SemanticProbe, TemporalProbe
from perdure.ports.store import Target, WriteBatch
from perdure.recall.budget import ASSUMED_TOKENS
from perdure.recall.channels import GRAPH_BREADTH
from perdure.recall.fuse import fuse_by_reciprocal_rank
from perdure.stores.sqlite.store import SqliteStore

NOW = datetime(2025, 1, 1, tzinfo=UTC)
QUERIES = 60
TURNS = 5
DEPTH, LOW = 300, 100
"""Hits a channel and facts in the pool: what the budgets mid and low ask for."""
TOKENS = 4096


def fill(store: SqliteStore, world: World, count: int) -> tuple[float, float]:
    """Seconds, and seconds of processor time, to write `count` facts; making the batches is not counted."""
    spent = busy = 0.0
    for start in range(0, count, 2000):
        batch = batch_of(world, range(start, min(start + 2000, count)))
        began, began_busy = time.perf_counter(), time.process_time()
        store.write(batch)
        spent += time.perf_counter() - began
        busy += time.process_time() - began_busy
    return spent, busy


def timed(action: Callable[[int], object], rounds: int) -> list[float]:
    """Milliseconds of each of several actions; to throw an answer away is not part of it."""
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        answer = action(number)
        times.append((time.perf_counter() - began) * 1000)
        del answer
    return times


def by_turns(actions: Sequence[Callable[[int], object]]) -> dict[str, dict[str, float]]:
    """Each action on every question, several turns of all of them: so that what disturbs the machine disturbs all alike."""
    times: dict[str, list[list[float]]] = {action.__name__: [] for action in actions}
    for turn in range(TURNS + 1):
        for action in actions:
            taken = timed(action, QUERIES)
            if turn:
                times[action.__name__].append(taken)
    return {
        name: summary([one for turn in turns for one in turn])
        | {"best": statistics.median(map(min, zip(*turns, strict=True)))}
        for name, turns in times.items()
    }


def summary(times: list[float]) -> dict[str, float]:
    """p50 and p95."""
    ordered = sorted(times)
    return {"p50": statistics.median(ordered), "p95": ordered[int(0.95 * (len(ordered) - 1))]}


class Questions:
    """The channels' probes, one set a number."""

    def __init__(self, store: SqliteStore, world: World, count: int) -> None:
        self.store = store
        self.depth = DEPTH
        random = np.random.default_rng(11)
        places = random.integers(0, count, QUERIES)
        noise = 0.5 * random.normal(size=(QUERIES, MODEL.dimensions)).astype(np.float32) / 19.6
        queries = world.vectors[places] + noise
        self.vectors = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        self.terms = [
            {f"w{term}": 1.0 for term in world.terms[place][:6].tolist()} for place in places.tolist()
        ]
        self.days = [START + timedelta(days=int(day)) for day in random.integers(0, 1700, QUERIES)]
        self.seeds = [
            {hit.fact_id: hit.score for hit in self.semantic(number)[:20]} for number in range(QUERIES)
        ]

    def plain(self) -> Filter:
        """A filter as each recall makes it."""
        return Filter(now=NOW)

    def semantic(self, number: int, wanted: Filter | None = None) -> Sequence[Hit]:
        """SharedSemanticSearch vectors."""
        probe = SemanticProbe(self.vectors[number % QUERIES])
        return self.store.search(BANK, probe, wanted or self.plain(), self.depth)

    def keyword(self, number: int, wanted: Filter | None = None) -> Sequence[Hit]:
        """BM25 of six terms."""
        probe = KeywordProbe(self.terms[number % QUERIES])
        return self.store.search(BANK, probe, wanted or self.plain(), self.depth)

    def graph(self, number: int, wanted: Filter | None = None) -> Sequence[Hit]:
        """Two hops from twenty facts."""
        probe = GraphProbe(self.seeds[number % QUERIES], hops=2, breadth=self.depth // GRAPH_BREADTH)
        return self.store.search(BANK, probe, wanted or self.plain(), self.depth)

    def temporal(self, number: int, wanted: Filter | None = None) -> Sequence[Hit]:
        """Thirty days, ordered by similarity."""
        start = self.days[number % QUERIES]
        window = Window(start, start + timedelta(days=30))
        probe = TemporalProbe(window, vector=self.vectors[number % QUERIES])
        return self.store.search(BANK, probe, wanted or self.plain(), self.depth)

    def pool(self, number: int) -> Sequence[str]:
        """Four channels, fused as a recall does it: the best of them."""
        wanted = self.plain()
        channels = (self.semantic, self.keyword, self.graph, self.temporal)
        hits = {channel.__name__: channel(number, wanted) for channel in channels}
        return [candidate.fact_id for candidate in fuse_by_reciprocal_rank(hits, self.depth)]

    def all_four(self, number: int) -> tuple[dict[str, RankingFields], list[Fact]]:
        """All of the pool outlined and the first of it read, as a recall of 4,096 tokens does it."""
        ids = self.pool(number)
        return self.store.outlines(BANK, ids), self.store.facts(BANK, ids[: TOKENS // ASSUMED_TOKENS])

    def all_four_low_budget(self, number: int) -> tuple[dict[str, RankingFields], list[Fact]]:
        """The same with a budget of 100."""
        self.depth = LOW
        try:
            return self.all_four(number)
        finally:
            self.depth = DEPTH

    def all_four_all_read(self, number: int) -> list[Fact]:
        """All of the pool read, as a recall does it where documents have titles."""
        return self.store.facts(BANK, self.pool(number))

    def filtered(self, number: int) -> Sequence[Hit]:
        """SharedSemanticSearch vectors among one tag in twenty."""
        tags = (TagLeaf(frozenset({f"t{number % 20}"})),)
        return self.semantic(number, Filter(now=NOW, tags=tags))

    def hydrate(self, number: int) -> list[Fact]:
        """Read 300 facts."""
        return self.store.facts(BANK, [hit.fact_id for hit in self.cached[number % len(self.cached)]])

    def prepare_hydration(self) -> None:
        """Choose which facts to read."""
        self.cached = [self.semantic(number) for number in range(QUERIES)]

    def recall_at_depth(self, world: World, count: int) -> float:
        """Share of the exact nearest 300 that the store finds."""
        shares = []
        for number in range(QUERIES):
            exact = world.vectors[:count] @ self.vectors[number]
            nearest = np.argpartition(-exact, DEPTH)[:DEPTH]
            wanted = {id_at(place) for place in nearest.tolist()}
            shares.append(len(wanted & {hit.fact_id for hit in self.semantic(number)}) / DEPTH)
        return statistics.mean(shares)


def resident_mb() -> float:
    """Resident memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mb() -> float:
    """The most this process ever held; `getrusage` would tell its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure_open(path: str) -> None:
    """Child process: open the file, ask once, then every channel once; how long it took and what it cost."""
    query = np.random.default_rng(3).normal(size=MODEL.dimensions).astype(np.float32)
    query /= np.linalg.norm(query)
    gc.collect()
    before = resident_mb()
    began, began_busy = time.perf_counter(), time.process_time()
    store = SqliteStore.open(path)
    opened = time.perf_counter()
    hits = store.search(BANK, SemanticProbe(query), Filter(now=NOW), DEPTH)
    first, first_busy = time.perf_counter(), time.process_time()
    store.search(BANK, KeywordProbe({"w1": 1.0, "w77": 1.0}), Filter(now=NOW), DEPTH)
    seeds = {hit.fact_id: min(1.0, max(hit.score, 0.1)) for hit in hits[:20]}
    store.search(BANK, GraphProbe(seeds, hops=2), Filter(now=NOW), DEPTH)
    window = Window(START, START + timedelta(days=30))
    store.search(BANK, TemporalProbe(window, vector=query), Filter(now=NOW), DEPTH)
    every, every_busy = time.perf_counter(), time.process_time()
    gc.collect()
    figures = {
        "open_ms": (opened - began) * 1000,
        "open_and_first_query_ms": (first - began) * 1000,
        "the_same_cpu_ms": (first_busy - began_busy) * 1000,
        "first_of_each_channel_ms": (every - began) * 1000,
        "the_same_in_cpu_ms": (every_busy - began_busy) * 1000,
        "index_memory_mb": resident_mb() - before,
        "peak_memory_mb": peak_mb(),
    }
    store.close()
    print(json.dumps(figures))


def measure(count: int, folder: str) -> dict[str, object]:
    """All figures for a bank of `count` facts."""
    extra = 200
    world = make_world(count + extra)
    path = str(Path(folder) / f"bench-{count}.db")
    store = SqliteStore.open(path)
    seconds, busy = fill(store, world, count)
    store.close()
    size = sum(file.stat().st_size for file in Path(folder).glob(f"bench-{count}.db*"))
    child = subprocess.run(
        [sys.executable, "-m", "bench.store", "--open", path], check=True, capture_output=True, text=True
    )
    figures: dict[str, object] = {
        "facts": count,
        "bulk_facts_per_s": count / seconds,
        "bulk_facts_per_cpu_s": count / busy,
        "file_mb": size / 2**20,
    }
    figures |= json.loads(child.stdout)
    store = SqliteStore.open(path)
    questions = Questions(store, world, count)
    questions.prepare_hydration()
    figures |= by_turns(
        [
            questions.semantic,
            questions.keyword,
            questions.graph,
            questions.temporal,
            questions.filtered,
            questions.hydrate,
            questions.all_four,
            questions.all_four_all_read,
            questions.all_four_low_budget,
        ]
    )
    figures["semantic_recall"] = questions.recall_at_depth(world, count)
    singles = [batch_of(world, range(place, place + 1)) for place in range(count, count + extra)]

    def insert_and_see(number: int) -> None:
        batch = singles.pop()
        store.write(batch)
        vector = batch.facts[0].features.vectors["fact"]
        hits = store.search(BANK, SemanticProbe(vector), Filter(now=NOW), 1)
        assert hits[0].fact_id == batch.facts[0].fact.id

    figures["insert_to_visible"] = summary(timed(insert_and_see, 103)[3:])
    figures["all_four_after_a_write"] = after_writes(store, questions, singles)
    doomed = iter(np.random.default_rng(5).permutation(count).tolist())
    figures["forget_a_fact"] = summary(
        timed(lambda _: store.forget(BANK, Target(fact_id=id_at(next(doomed)))), 23)[3:]
    )
    store.close()
    return figures


def after_writes(store: SqliteStore, questions: Questions, batches: list[WriteBatch]) -> dict[str, float]:
    """The four channels when a fact was written since they were last asked; the write is not counted."""
    times = []
    for number, batch in enumerate(batches):
        store.write(batch)
        began = time.perf_counter()
        answer = questions.all_four(number)
        times.append((time.perf_counter() - began) * 1000)
        del answer
    return summary(times)


def show(results: list[dict[str, object]]) -> None:
    """A table, and how the figures grow."""
    names = [name for name in results[0] if name != "facts"]
    head = "".join(f"{result['facts']:>26,}" for result in results)
    print(
        f"Times: p50 / p95; best: p50 over the questions of the best of {TURNS} turns, of which is the growth."
    )
    print(f"{'':26}{head}{'growth' if len(results) > 1 else '':>10}")
    for name in names:
        values = [result[name] for result in results]
        cells, firsts = [], []
        for value in values:
            if isinstance(value, dict):
                best = f", best {value['best']:.2f}" if "best" in value else ""
                cells.append(f"{value['p50']:.2f} / {value['p95']:.2f}{best}")
                firsts.append(float(value["best" if "best" in value else "p50"]))
            else:
                assert isinstance(value, float | int)
                cells.append(f"{value:,.3f}" if value < 10 else f"{value:,.0f}")
                firsts.append(float(value))
        growth = f"{firsts[-1] / firsts[0]:.1f}x" if len(results) > 1 else ""
        unit = " ms" if isinstance(values[0], dict) else ""
        print(f"{name + unit:26}" + "".join(f"{cell:>26}" for cell in cells) + f"{growth:>10}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--open", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.open:
        measure_open(arguments.open)
        return
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(count, folder) for count in arguments.facts]
    print(json.dumps(results, indent=1)) if arguments.json else show(results)


if __name__ == "__main__":
    main()
