"""Latency of recall, whole and by stage, and how it grows: `python -m bench.recall [--facts 1000 10000 100000]`.

Facts are sentences from a small grammar; their vectors are those of embedded examples with noise, so that channels and
reader do real work without embedding every fact.
Queries go through the real models. `bench.growth` draws the same figures.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from bench.page import PAGE, load_now, table, taken, write_section
from perdure.domain.fact import Entity, Fact, Link, LinkKind
from perdure.engine import Perdure
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.ports.embedder import Matrix
from perdure.ports.store import Features, KeyedEntity, NewFact, Store
from perdure.retain.commit import FactChanges, commit
from perdure.stores.sqlite.store import SqliteStore
from perdure.text.names import entity_keys
from perdure.text.signature import signature
from perdure.text.terms import index_terms, plain_words

BANK = "bench"
START = datetime(2023, 1, 1, tzinfo=UTC)
PEOPLE = tuple(
    f"{first} {last}"
    for first in "Ann Ben Cleo Dan Eva Finn Gia Hal Ida Jon".split()
    for last in "Abe Berg Cole Diaz Ek Fox Gray Hill Ito Jung".split()
)
ACTS = (
    "moved to",
    "visited",
    "wrote about",
    "bought a house in",
    "gave a talk in",
    "met friends in",
    "left",
    "dreams of",
)
PLACES = (
    "Oslo Lisbon Kyoto Lima Turin Ghent Riga Accra Quito Hanoi Perth Leeds Bergen Porto Nantes Graz".split()
)
REASONS = (
    "because of the light",
    "for a new job",
    "after the flood",
    "with a choir",
    "to learn pottery",
    "by night train",
    "during the strike",
    "for the food",
)
QUESTIONS = (
    "Where did {person} move?",
    "Why did {person} leave {place}?",
    "Who gave a talk in {place} in March 2023?",
    "What did {person} do last spring?",
    "Who met friends in {place} during the strike?",
    "What does {person} dream of?",
)
EXAMPLES = 400
BLOCK = 5000


def sentences(count: int, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """(text, person, place) of each fact."""
    for number in range(count):
        person, place = chance.choice(PEOPLE), chance.choice(PLACES)
        yield (
            f"{person} {chance.choice(ACTS)} {place} {chance.choice(REASONS)}, trip {number}.",
            person,
            place,
        )


def build(path: Path, count: int) -> float:
    """Fill a bank with `count` facts; returns facts a second."""
    examples = embedded_examples()
    store = SqliteStore.open(str(path))
    started = time.perf_counter()
    fill_bank(store, BANK, count, examples)
    elapsed = time.perf_counter() - started
    store.close()
    return count / elapsed


def embedded_examples() -> Matrix:
    """Vectors of some sentences, by the real model."""
    return OnnxEmbedder().embed_passages([text for text, _, _ in sentences(EXAMPLES, random.Random(1))])


def fill_bank(store: Store, bank: str, count: int, examples: Matrix, seed: int = 7) -> None:
    """Write facts that nobody extracted."""
    chance = random.Random(seed)
    noise = np.random.default_rng(seed)
    model = OnnxEmbedder().model
    block: list[NewFact] = []
    links: list[Link] = []
    for number, (text, person, place) in enumerate(sentences(count, chance)):
        block.append(make_fact(bank, number, text, person, place, examples, noise))
        links += [
            Link(f"f{number:07}", f"f{max(number - step, 0):07}", kind, 0.8)
            for step, kind in ((1, LinkKind.TEMPORAL), (17, LinkKind.SEMANTIC), (31, LinkKind.SEMANTIC))
            if number > step
        ]
        if len(block) == BLOCK or number == count - 1:
            commit(
                store,
                FactChanges(bank=bank, model=model, facts=block, links=links, entities=entities_of(bank)),
            )
            block, links = [], []


def entities_of(bank: str) -> list[KeyedEntity]:
    return [
        KeyedEntity(Entity(id=name, bank=bank, name=name), entity_keys(name)) for name in (*PEOPLE, *PLACES)
    ]


def make_fact(
    bank: str,
    number: int,
    text: str,
    person: str,
    place: str,
    examples: Matrix,
    noise: np.random.Generator,
) -> NewFact:
    said = START + timedelta(hours=number % 17_000)
    views = {}
    for view in ("fact", "context"):
        blur = np.asarray(noise.standard_normal(examples.shape[1]), dtype=np.float32)
        vector = examples[number % EXAMPLES] + 0.03 * blur
        views[view] = (vector / np.linalg.norm(vector)).astype(np.float32)
    fact = Fact(
        id=f"f{number:07}", bank=bank, text=text, mentioned_at=said, recorded_at=said, speaker=person.split()[0],
        entities=(person, place), entity_ids=(person, place), document_id=f"d{number // 40}",
    )  # fmt: skip
    features = Features(
        vectors=views,
        terms={term: float(n) for term, n in index_terms(text).items()},
        words=plain_words(text),
        signature=signature(text),
        passage_in_context=f"{person}: so I told them.\n{text}",
    )
    return NewFact(fact, features)


def ask(engine: Perdure, recipe: str, budget: str, count: int) -> dict[str, list[float]]:
    """Stage -> milliseconds of each query."""
    chance = random.Random(3)
    times: dict[str, list[float]] = {}
    for number in range(count + 3):
        question = chance.choice(QUESTIONS).format(person=chance.choice(PEOPLE), place=chance.choice(PLACES))
        result = engine.recall(BANK, question, recipe=recipe, budget=budget, track=False)
        if number >= 3:
            for stage in result.timings:
                times.setdefault(stage.stage, []).append(stage.milliseconds)
    return times


def report(facts: int, recipe: str, budget: str, times: dict[str, list[float]]) -> dict[str, object]:
    """p50 and p95 of the whole and of each stage."""
    summary = {stage: (median(values), quantiles(values, n=20)[18]) for stage, values in times.items()}
    line = "  ".join(f"{stage} {p50:.1f}/{p95:.1f}" for stage, (p50, p95) in summary.items())
    print(f"{facts:>8,} facts  {recipe:8} {budget:4}  {line}", flush=True)
    return {"facts": facts, "recipe": recipe, "budget": budget, "ms": summary}


def run(sizes: Sequence[int], queries: int) -> list[dict[str, object]]:
    """Every size, recipe and budget."""
    rows: list[dict[str, object]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory.db"
            rate = build(path, size)
            with Perdure.open(path) as engine:
                started = time.perf_counter()
                engine.recall(BANK, "Where did Ann Abe move?", recipe="fast", track=False)
                first = time.perf_counter() - started
                for recipe, budget in (
                    ("fast", "low"),
                    ("fast", "mid"),
                    ("fast", "high"),
                    ("default", "low"),
                    ("default", "mid"),
                    ("default", "high"),
                ):
                    rows.append(report(size, recipe, budget, ask(engine, recipe, budget, queries)))
            megabytes = path.stat().st_size / 1e6
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(
                f"{size:>8,} facts  written at {rate:,.0f}/s, {megabytes:.0f} MB on disk, first recall {first:.2f} s, peak memory {peak:.0f} MB"
            )
    return rows


def section(rows: Sequence[Mapping[str, Any]], load: float) -> list[str]:
    """The table of the page: p50 of each stage, p50 and p95 of the whole."""
    stages = ("understand", "search", "fuse", "rerank", "score", "fit")
    head = ["facts", "recipe", "budget", *stages, "whole", "whole, p95"]
    lines = [
        [f"{row['facts']:,}", row["recipe"], row["budget"]]
        + [f"{row['ms'][stage][0]:.1f}" for stage in (*stages, "total")]
        + [f"{row['ms']['total'][1]:.0f}"]
        for row in rows
    ]
    return ["### Latency by stage, ms", "", taken("python -m bench.recall", load), "", *table(head, lines)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--page", type=Path, default=PAGE)
    chosen = parser.parse_args()
    load = load_now()
    write_section("latency", section(run(chosen.facts, chosen.queries), load), chosen.page)


if __name__ == "__main__":
    main()
