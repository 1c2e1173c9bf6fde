"""Entities are read while the model runs; where no thread is free, after it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Entity
from perdure.domain.trace import Trace
from perdure.errors import StoreError
from perdure.models.tokens import token_counter
from perdure.ports.embedder import Matrix, Vector
from perdure.ports.store import KeyedEntity, WriteBatch
from perdure.recall.parts import RecallComponents
from perdure.recall.question import understand
from perdure.recall.request import RecallRequest
from perdure.testing.memory_store import MemoryStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)
REQUEST = RecallRequest(bank="b", query="Where does Alice live?")


class WaitingEmbedder:
    """Ends when the entities were read, or after a while."""

    model = EmbeddingModel("waiting", 2)

    def __init__(self) -> None:
        self.read = threading.Event()
        self.patience = 10.0
        self.met = False

    def embed_query(self, text: str) -> Vector:
        self.met = self.read.wait(self.patience)
        return np.array([1.0, 0.0], np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.zeros((len(texts), 2), np.float32)


class NotingStore(MemoryStore):
    """Tells when entities are read, or fails to read them."""

    def __init__(self, read: threading.Event) -> None:
        super().__init__()
        self.read = read
        self.broken = False

    def entities(
        self, bank: str, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        if self.broken:
            raise StoreError("gone")
        found = super().entities(bank, ids=ids, keys=keys)
        self.read.set()
        return found


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def embedder() -> WaitingEmbedder:
    return WaitingEmbedder()


@pytest.fixture
def store(embedder: WaitingEmbedder) -> NotingStore:
    store = NotingStore(embedder.read)
    alice = KeyedEntity(Entity(id="e1", bank="b", name="Alice", type="person"), ("alice",))
    store.write(WriteBatch(bank="b", entities=[alice]))
    return store


@pytest.fixture
def parts(store: NotingStore, embedder: WaitingEmbedder, executor: ThreadPoolExecutor) -> RecallComponents:
    return RecallComponents(
        store=store,
        tokens=token_counter("approximate"),
        clock=lambda: NOW,
        executor=executor,
        embedder=embedder,
    )


def test_entities_are_read_while_the_model_runs(parts: RecallComponents, embedder: WaitingEmbedder) -> None:
    understood = understand(parts, REQUEST, Trace())
    assert embedder.met
    assert understood.query.entity_names == ("Alice",)


def test_with_every_thread_busy_they_are_read_afterwards(
    parts: RecallComponents, embedder: WaitingEmbedder, executor: ThreadPoolExecutor
) -> None:
    embedder.patience = 0.05
    free = threading.Event()
    executor.submit(free.wait, 10)
    try:
        understood = understand(parts, REQUEST, Trace())
    finally:
        free.set()
    assert not embedder.met
    assert understood.query.entity_names == ("Alice",)


def test_a_store_that_fails_is_told(
    parts: RecallComponents, store: NotingStore, embedder: WaitingEmbedder
) -> None:
    embedder.patience, store.broken = 0.05, True
    with pytest.raises(StoreError, match="gone"):
        understand(parts, REQUEST, Trace())
