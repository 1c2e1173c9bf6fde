"""What consolidation costs: `python -m bench.consolidate [--facts 1000 100000] [--new 100]`.

Made-up facts (bench.store_world) are written to a file and consolidated; then a few more are, so that the cost of what is new
can be compared between a small bank and a large one. Embedding is a table look-up: the time is that of everything else.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import numpy as np

from bench.store_world import BANK, MODEL, World, fact_at, make_world, write_facts
from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Entity, FactType
from perdure.engine import Perdure
from perdure.ports.embedder import Matrix, Vector
from perdure.ports.store import KeyedEntity, Store
from perdure.stores.sqlite.store import SqliteStore

BLOCK = 500
WORDS = 5
"""Words of a fact: made-up words have many tokens, and a profile has to have room for two facts at least."""


class MadeUpEmbedder:
    """Vectors that follow from a digest of the text."""

    model: EmbeddingModel = MODEL

    def embed_query(self, text: str) -> Vector:
        return self._row(text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, MODEL.dimensions), np.float32)

    @staticmethod
    def _row(text: str) -> Vector:
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        row = np.random.default_rng(seed).normal(size=MODEL.dimensions).astype(np.float32)
        unit: Vector = row / np.linalg.norm(row)
        return unit


def write(store: Store, world: World, first: int, last: int) -> None:
    """Facts with their entities, all of them statements about the first entity that each names."""
    for start in range(first, last, BLOCK):
        drawn = []
        names: set[str] = set()
        for place in range(start, min(start + BLOCK, last)):
            new, links = fact_at(world, place)
            own = new.fact.entity_ids[0]
            text = " ".join([own, *new.fact.text.split()[:WORDS]])
            stated = replace(new.fact, type=list(FactType)[place % 2], text=text, tags=frozenset())
            drawn.append((replace(new, fact=stated), links))
            names.update(new.fact.entity_ids)
        write_facts(store, drawn)
        with store.transaction(BANK) as tx:
            tx.put_entities(
                [KeyedEntity(Entity(id=name, bank=BANK, name=name), (name,)) for name in sorted(names)]
            )


def consolidate(path: Path) -> tuple[float, dict[str, object]]:
    """(seconds, what it did)"""
    with Perdure.open(path, embedder=MadeUpEmbedder(), reranker="none") as memory:
        memory.recall(BANK, "w1 w2", track=False)
        started = time.perf_counter()
        operation = memory.operations.get(BANK, memory.consolidate(BANK).id, wait=7200)
        seconds = time.perf_counter() - started
    if operation.error is not None or operation.result is None:
        raise SystemExit(f"failed: {operation.error}")
    return seconds, operation.result


def measure(count: int, new: int) -> None:
    """Consolidate a bank of `count` facts, then `new` more."""
    world = make_world(count + new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        for first, last in ((0, count), (count, count + new)):
            store = SqliteStore.open(path)
            write(store, world, first, last)
            store.close()
            seconds, result = consolidate(path)
            formed = [result[f"observations_{name}"] for name in ("created", "updated", "closed")]
            per_fact = 1000.0 * seconds / (last - first)
            print(
                f"{last:>8} facts, {last - first:>7} of them new: {seconds:8.2f} s, {per_fact:7.2f} ms per new fact; "
                f"observations created, updated, closed {formed}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--new", type=int, default=100)
    options = parser.parse_args()
    print(f"taken {datetime.now(UTC):%Y-%m-%d}")
    for count in options.facts:
        measure(count, options.new)


if __name__ == "__main__":
    main()
