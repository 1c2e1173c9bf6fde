"""The plain baseline: SQLite's FTS5 (bm25) and all-MiniLM-L6-v2 over all texts, fused by reciprocal rank (k = 60)."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from bench.peers.drivers.protocol import Bank, Job, Query, drive

RRF_K = 60
POOL = 100
BATCH = 64


class NaiveMemory:
    """A full-text table a bank, and the bank's vectors in memory."""

    def __init__(self, database: sqlite3.Connection, model: Any) -> None:
        self._database = database
        self._model = model
        self._tables: dict[str, str] = {}
        self._vectors: dict[str, Any] = {}

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """Index and embed, 64 texts at a time."""
        table = self._tables[bank.id] = f"bank_{len(self._tables)}"
        self._database.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(text, tokenize='porter')")
        parts = []
        for start in range(0, len(bank.items), BATCH):
            batch = bank.items[start : start + BATCH]
            rows = [(start + place, item.plain) for place, item in enumerate(batch)]
            self._database.executemany(f"INSERT INTO {table}(rowid, text) VALUES (?, ?)", rows)
            parts.append(self._embed([item.plain for item in batch]))
            progress(len(batch))
        self._database.commit()
        self._vectors[bank.id] = import_module("numpy").concatenate(parts)

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        """Both lists, each a hundred long, fused."""
        fused: dict[int, float] = defaultdict(float)
        for ranked in (self._by_words(bank.id, query.text), self._by_meaning(bank.id, query.text)):
            for place, row in enumerate(ranked, start=1):
                fused[row] += 1.0 / (RRF_K + place)
        best = sorted(fused, key=lambda row: (-fused[row], row))
        return [bank.items[row].id for row in best[:depth]]

    def _by_words(self, bank: str, text: str) -> list[int]:
        words = re.findall(r"\w+", text.lower())
        if not words:
            return []
        table = self._tables[bank]
        found = self._database.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}) LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), POOL),
        )
        return [int(row) for (row,) in found]

    def _by_meaning(self, bank: str, text: str) -> list[int]:
        scores = self._vectors[bank] @ self._embed([text])[0]
        return [int(row) for row in (-scores).argsort(kind="stable")[:POOL]]

    def _embed(self, texts: list[str]) -> Any:
        return self._model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)


@contextmanager
def opening(job: Job) -> Iterator[NaiveMemory]:
    """A new database file; the model is loaded from the folder that the job names."""
    model = import_module("sentence_transformers").SentenceTransformer(job.options["minilm"], device="cpu")
    with closing(sqlite3.connect(job.folder / "texts.db")) as database:
        yield NaiveMemory(database, model)


if __name__ == "__main__":
    drive(opening, ("sentence-transformers", "torch"))
