"""Entities are looked up while the model runs; where no thread is free, after it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from perdure import Perdure
from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Entity
from perdure.domain.filter import Filter
from perdure.domain.recall import Trace
from perdure.errors import StoreError
from perdure.models.hashing import HashingEmbedder
from perdure.models.tokens import token_counter
from perdure.ports.embedder import Matrix, Vector
from perdure.ports.store import KeyedEntity
from perdure.recall.components import RecallComponents, RecallRun
from perdure.recall.option_groups import Hints
from perdure.recall.options import RecallRequest
from perdure.recall.question import READ_AT_ENDS, ParsedQuestion, entities_named, parse_question
from perdure.recall.recipes import DEFAULT
from tests.support.memory_store import MemoryReading, MemoryStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)
REQUEST = RecallRequest(bank="b", query="Where does Alice live?", recipe=DEFAULT)


class WaitingEmbedder:
    """Ends when the entities were looked up, or after a while."""

    model = EmbeddingModel("waiting", 2)

    def __init__(self) -> None:
        self.looked_up = threading.Event()
        self.patience = 10.0
        self.met = False

    def embed_query(self, text: str) -> Vector:
        self.met = self.looked_up.wait(self.patience)
        return np.array([1.0, 0.0], np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.zeros((len(texts), 2), np.float32)


class NotingStore(MemoryStore):
    """Tells when entities are looked up, or fails to look them up."""

    def __init__(self, looked_up: threading.Event) -> None:
        super().__init__()
        self.looked_up = looked_up
        self.broken = False

    @contextmanager
    def reading(self, bank: str) -> Iterator[MemoryReading]:
        with super().reading(bank) as reading:
            entities = reading.entities

            def noted_entities(
                *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
            ) -> list[KeyedEntity]:
                if self.broken:
                    raise StoreError("gone")
                self.looked_up.set()
                return entities(ids=ids, keys=keys)

            reading.entities = noted_entities  # type: ignore[method-assign]
            yield reading


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def embedder() -> WaitingEmbedder:
    return WaitingEmbedder()


@pytest.fixture
def store(embedder: WaitingEmbedder) -> NotingStore:
    store = NotingStore(embedder.looked_up)
    names = [("e1", "Alice"), ("e2", "Alice Chen"), ("e3", "Bob")]
    with store.transaction("b") as tx:
        tx.put_entities(
            [
                KeyedEntity(
                    Entity(id=entity_id, bank="b", name=name, type="person"), tuple({name.lower(), "alice"})
                )
                for entity_id, name in names
            ]
        )
    return store


@pytest.fixture
def components(
    store: NotingStore, embedder: WaitingEmbedder, executor: ThreadPoolExecutor
) -> RecallComponents:
    return RecallComponents(
        store=store,
        tokens=token_counter("approximate"),
        clock=lambda: NOW,
        executor=executor,
        embedder=embedder,
    )


def parse(components: RecallComponents, request: RecallRequest = REQUEST) -> ParsedQuestion:
    with components.store.reading("b") as reading:
        run = RecallRun(
            components=components, request=request, reading=reading, where=Filter(now=NOW), trace=Trace()
        )
        return parse_question(run)


def test_entities_are_looked_up_while_the_model_runs(
    components: RecallComponents, embedder: WaitingEmbedder
) -> None:
    assert parse(components).query.entity_names == ("Alice",)
    assert embedder.met


def test_longer_names_win_over_their_parts_and_hints_add_names(components: RecallComponents) -> None:
    asked = RecallRequest(bank="b", query="Where does Alice Chen live?", recipe=DEFAULT)
    assert parse(components, asked).query.entity_names == ("Alice Chen",)
    hinted = RecallRequest(bank="b", query="Where?", recipe=DEFAULT, hints=Hints(entities=["Bob"]))
    assert parse(components, hinted).query.entity_names == ("Bob",)


def test_entities_are_found_by_their_whole_name_in_any_case(store: NotingStore) -> None:
    with store.reading("b") as reading:
        assert [entity.id for entity in entities_named(reading, "ALICE")] == ["e1"]
        assert entities_named(reading, "Carol") == []


class NotingEmbedder(HashingEmbedder):
    """Keeps the longest text that it was asked to embed."""

    longest = 0

    def embed_query(self, text: str) -> Vector:
        self.longest = max(self.longest, len(text))
        return super().embed_query(text)


def test_of_a_pasted_text_models_read_the_ends_and_every_term_is_looked_for(tmp_path: Path) -> None:
    filler = " ".join(f"line {number} of the log" for number in range(290))
    pasted = f"{filler} Gudrun {filler} On 3 May 2021. {filler} What did Bob buy yesterday?"
    embedder = NotingEmbedder()
    with Perdure.open(tmp_path / "m.db", embedder=embedder, reranker="none", tagger="rules") as memory:
        memory.retain("b", ["Gudrun sings in a choir.", "Bob bought a boat.", "Ann lives in Oslo."])
        recalled = memory.recall("b", pasted, asked_at=NOW)
        assert len(pasted) > 16_000
        assert embedder.longest <= 2 * READ_AT_ENDS
        assert recalled.query.text == pasted
        assert recalled.query.window is not None
        assert recalled.query.window.start == datetime(2024, 5, 31, tzinfo=UTC)
        assert "gudrun" in recalled.query.terms
