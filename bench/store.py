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
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.store_world import BANK, MODEL, START, World, fact_at, id_at, make_world, write_facts
from perdure.domain.fact import Fact, Link, RankingFields
from perdure.domain.filter import Filter, TagLeaf
from perdure.domain.recall import Hit
from perdure.domain.time import Window
from perdure.ports.probe import GraphProbe, KeywordProbe, Probe, SemanticProbe, TemporalProbe
from perdure.ports.store import NewFact, Reading, Store
from perdure.stores.sqlite.store import SqliteStore

NOW = datetime(2025, 1, 1, tzinfo=UTC)
QUERIES = 60
TURNS = 5
DEPTH, LOW = 300, 100
"""Hits per channel and facts in the pool: what the budgets mid and low ask for."""
READ = 102
"""Facts read by a recall of 4,096 tokens, 40 each."""
SPREADING = 6
"""One in so many of the hits spreads on in the graph."""


def fill(store: Store, world: World, count: int) -> tuple[float, float]:
    """Seconds, and seconds of processor time, to write `count` facts, 1,000 at a time; drawing them is not counted."""
    spent = busy = 0.0
    for start in range(0, count, 1000):
        drawn = [fact_at(world, place) for place in range(start, min(start + 1000, count))]
        began, began_busy = time.perf_counter(), time.process_time()
        write_facts(store, drawn)
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
    """The channels' probes, one set per number."""

    def __init__(self, store: Store, world: World, count: int) -> None:
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
        self.seeds: list[dict[str, float]] = []
        for number in range(QUERIES):
            self.seeds.append({hit.fact_id: hit.score for hit in self.semantic(number)[:20]})

    def search(self, probe: Probe, where: Filter | None = None) -> list[Hit]:
        """The hits of one probe; the filter is new, as each recall makes it."""
        with self.store.reading(BANK) as reading:
            return reading.search(probe, where or Filter(now=NOW), self.depth)

    def semantic_probe(self, number: int) -> Probe:
        """Nearest vectors."""
        return SemanticProbe(self.vectors[number % QUERIES])

    def keyword_probe(self, number: int) -> Probe:
        """BM25 of six terms."""
        return KeywordProbe(self.terms[number % QUERIES])

    def graph_probe(self, number: int) -> Probe:
        """Two hops from twenty facts."""
        return GraphProbe(self.seeds[number % QUERIES], hops=2, breadth=self.depth // SPREADING)

    def temporal_probe(self, number: int) -> Probe:
        """Thirty days, ordered by similarity."""
        start = self.days[number % QUERIES]
        return TemporalProbe(Window(start, start + timedelta(days=30)), vector=self.vectors[number % QUERIES])

    def semantic(self, number: int) -> list[Hit]:
        """Nearest vectors."""
        return self.search(self.semantic_probe(number))

    def keyword(self, number: int) -> list[Hit]:
        """BM25."""
        return self.search(self.keyword_probe(number))

    def graph(self, number: int) -> list[Hit]:
        """Two hops."""
        return self.search(self.graph_probe(number))

    def temporal(self, number: int) -> list[Hit]:
        """A month."""
        return self.search(self.temporal_probe(number))

    def pool(self, reading: Reading, number: int) -> list[str]:
        """Four channels in one reading, fused by reciprocal ranks: the best of them."""
        where = Filter(now=NOW)
        probes = (self.semantic_probe, self.keyword_probe, self.graph_probe, self.temporal_probe)
        scores: defaultdict[str, float] = defaultdict(float)
        for probe in probes:
            for rank, hit in enumerate(reading.search(probe(number), where, self.depth)):
                scores[hit.fact_id] += 1 / (60 + rank)
        return sorted(scores, key=scores.__getitem__, reverse=True)[: self.depth]

    def all_four(self, number: int) -> tuple[dict[str, RankingFields], list[Fact]]:
        """All of the pool ranked and the first of it read, as a recall of 4,096 tokens does it."""
        with self.store.reading(BANK) as reading:
            ids = self.pool(reading, number)
            return reading.ranking_fields(ids), reading.facts(ids[:READ])

    def all_four_low_budget(self, number: int) -> tuple[dict[str, RankingFields], list[Fact]]:
        """The same with a budget of 100."""
        self.depth = LOW
        try:
            return self.all_four(number)
        finally:
            self.depth = DEPTH

    def all_four_all_read(self, number: int) -> list[Fact]:
        """All of the pool read, as a recall does it where documents have titles."""
        with self.store.reading(BANK) as reading:
            return reading.facts(self.pool(reading, number))

    def filtered(self, number: int) -> list[Hit]:
        """Nearest vectors among one tag in twenty."""
        tags = (TagLeaf(frozenset({f"t{number % 20}"})),)
        return self.search(self.semantic_probe(number), Filter(now=NOW, tags=tags))

    def read_100(self, number: int) -> list[Fact]:
        """Read 100 facts."""
        with self.store.reading(BANK) as reading:
            return reading.facts(self.chosen[number % QUERIES][:100])

    def read_300(self, number: int) -> list[Fact]:
        """Read 300 facts."""
        with self.store.reading(BANK) as reading:
            return reading.facts(self.chosen[number % QUERIES])

    def rank_300(self, number: int) -> dict[str, RankingFields]:
        """Read what ranking needs of 300 facts."""
        with self.store.reading(BANK) as reading:
            return reading.ranking_fields(self.chosen[number % QUERIES])

    def choose_facts(self) -> None:
        """Choose which facts to read."""
        self.chosen = [[hit.fact_id for hit in self.semantic(number)] for number in range(QUERIES)]

    def recall_at_depth(self, world: World, count: int) -> float:
        """Share of the exact nearest 300 that the store finds."""
        shares = []
        for number in range(QUERIES):
            exact = world.vectors[:count] @ self.vectors[number]
            nearest = np.argpartition(-exact, DEPTH)[:DEPTH]
            expected = {id_at(place) for place in nearest.tolist()}
            shares.append(len(expected & {hit.fact_id for hit in self.semantic(number)}) / DEPTH)
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
    with store.reading(BANK) as reading:
        hits = reading.search(SemanticProbe(query), Filter(now=NOW), DEPTH)
        first, first_busy = time.perf_counter(), time.process_time()
        reading.search(KeywordProbe({"w1": 1.0, "w77": 1.0}), Filter(now=NOW), DEPTH)
        seeds = {hit.fact_id: min(1.0, max(hit.score, 0.1)) for hit in hits[:20]}
        reading.search(GraphProbe(seeds, hops=2), Filter(now=NOW), DEPTH)
        window = Window(START, START + timedelta(days=30))
        reading.search(TemporalProbe(window, vector=query), Filter(now=NOW), DEPTH)
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
    questions.choose_facts()
    figures |= by_turns(
        [
            questions.semantic,
            questions.keyword,
            questions.graph,
            questions.temporal,
            questions.filtered,
            questions.read_100,
            questions.read_300,
            questions.rank_300,
            questions.all_four,
            questions.all_four_all_read,
            questions.all_four_low_budget,
        ]
    )
    figures["semantic_recall"] = questions.recall_at_depth(world, count)
    singles = [fact_at(world, place) for place in range(count, count + extra)]

    def insert_and_see(_: int) -> None:
        new, links = singles.pop()
        write_facts(store, [(new, links)])
        with store.reading(BANK) as reading:
            (hit,) = reading.search(SemanticProbe(new.features.vectors["fact"]), Filter(now=NOW), 1)
        assert hit.fact_id == new.fact.id

    figures["insert_to_visible"] = summary(timed(insert_and_see, 103)[3:])
    figures["all_four_after_a_write"] = after_writes(store, questions, singles)
    doomed = iter(np.random.default_rng(5).permutation(count).tolist())

    def erase(_: int) -> None:
        with store.transaction(BANK) as transaction:
            transaction.delete_facts([id_at(next(doomed))])
            transaction.erased_content()

    figures["erase_a_fact"] = summary(timed(erase, 23)[3:])
    figures["clear_traces"] = summary(timed(lambda _: store.clear_traces(), 1))
    store.close()
    return figures


def after_writes(
    store: SqliteStore, questions: Questions, singles: list[tuple[NewFact, list[Link]]]
) -> dict[str, float]:
    """The four channels when a fact was written since they were last asked; the write is not counted."""
    times = []
    for number, single in enumerate(singles):
        write_facts(store, [single])
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
