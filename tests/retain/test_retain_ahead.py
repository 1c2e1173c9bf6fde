"""Embedding while turns are still read changes when things happen, never what is stored."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import numpy as np
import pytest

from perdure.domain.filter import Filter
from perdure.errors import ModelError
from perdure.extract.local import LocalExtractor
from perdure.models.hashing import HashingEmbedder
from perdure.models.rule_tagger import RuleTagger
from perdure.models.spacy_tagger import SpacyTagger, find_pipeline
from perdure.ports.embedder import Matrix
from perdure.ports.extractor import ExtractedFact, Turn
from perdure.ports.store import Order, Selection
from perdure.ports.tagger import Tagger
from perdure.retain.components import RetainComponents
from perdure.retain.embed import BackgroundEmbedder
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from tests.support.memory_store import MemoryStore

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
PLACES = ["Lisbon", "Porto", "Ghent", "Malmö", "Kyoto", "Quito", "Turin"]


class Whole:
    """The same extractor with everything in one step: nothing can be embedded ahead."""

    name = "local"

    def __init__(self, inner: LocalExtractor) -> None:
        self._inner = inner

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        return self._inner.extract(turns)

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        return self._inner.extract_many(documents)


class Counting(HashingEmbedder):
    """Keeps the batches it was asked for and the threads that asked."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.batches.append(list(texts))
        self.threads.add(threading.get_ident())
        return super().embed_passages(texts)


def talk(document: str, turns: int) -> list[dict[str, Any]]:
    return [
        {
            "content": f"I moved to {PLACES[n % 7]} last week because my sister Elif found room {n // 3}. "
            f"Do you still like {PLACES[n % 5]} after day {n}? We paid {n * 10} euros and it rained all day long.",
            "speaker": ("Ann", "Bob")[n % 2],
            "timestamp": f"2024-04-{1 + n % 28:02}T10:00:00Z",
            "document_id": document,
        }
        for n in range(turns)
    ]


def run(extractor: Any, embedder: Any, *contents: list[dict[str, Any]]) -> tuple[MemoryStore, list[Any]]:
    store = MemoryStore()
    components = RetainComponents(store=store, extractor=extractor, clock=lambda: NOW, embedder=embedder)
    results = [
        retain(components, RetainRequest(bank="b", items=read_items(content, {}))) for content in contents
    ]
    return store, results


def stored(store: MemoryStore) -> list[Any]:
    everything = Filter(include_closed=True, include_expired=True).at(NOW)
    with store.reading("b") as reading:
        selection = Selection(where=everything, limit=10_000, order=Order.OLDEST_RECORDED)
        facts = reading.browse(selection).facts
        ids = [fact.id for fact in facts]
        features, links, entities = reading.features(ids), reading.links(ids), reading.entities()
    shown = [
        (
            asdict(fact),
            {view: vector.tobytes() for view, vector in features[fact.id].vectors.items()},
            replace(features[fact.id], vectors={}),
        )
        for fact in facts
    ]
    return [
        shown,
        sorted((x.source, x.target, x.kind.value, x.weight) for x in links),
        sorted((e.entity.id, e.entity.name, e.entity.mentions) for e in entities),
    ]


@pytest.mark.parametrize(
    "tagger",
    [
        RuleTagger(),
        pytest.param(
            SpacyTagger() if find_pipeline() else None,
            marks=pytest.mark.skipif(find_pipeline() is None, reason="needs perdure[nlp]"),
        ),
    ],
    ids=["rules", "spacy"],
)
def test_overlapped_and_serial_store_the_same(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.retain.plan.new_hash_key", lambda: "0" * 32)
    changed = talk("one", 60)
    changed[7] = {**changed[7], "content": "I sold the boat in Ghent. It was too small for us all anyway."}
    contents = (talk("one", 60) + talk("two", 9), changed, talk("three", 40))
    overlapped = Counting()
    store, results = run(LocalExtractor(tagger), overlapped, *contents)
    serial = Counting()
    other, others = run(Whole(LocalExtractor(tagger)), serial, *contents)
    assert stored(store) == stored(other)
    assert [r.fact_ids for r in results] == [r.fact_ids for r in others]
    assert [r.merged for r in results] == [r.merged for r in others]
    assert len(overlapped.batches) > len(serial.batches)
    assert sorted(chain(*overlapped.batches)) == sorted(chain(*serial.batches))


def test_each_distinct_text_is_embedded_once_and_in_the_order_asked_for() -> None:
    embedder = Counting()
    with BackgroundEmbedder(embedder) as ahead:
        ahead.start(["a b", "c"])
        vectors = ahead.finish(["c", "d", "a b", "c"])
    assert vectors is not None
    assert np.array_equal(vectors, HashingEmbedder().embed_passages(["c", "d", "a b", "c"]))
    assert embedder.batches == [["a b", "c"], ["d"]]
    assert threading.get_ident() not in embedder.threads


def test_a_model_that_fails_ahead_fails_the_retain_and_keeps_the_text() -> None:
    class Broken(Counting):
        def embed_passages(self, texts: Sequence[str]) -> Matrix:
            raise ModelError("out of order")

    store = MemoryStore()
    broken = Broken()
    components = RetainComponents(
        store=store,
        extractor=LocalExtractor(RuleTagger()),
        clock=lambda: NOW,
        embedder=broken,
    )
    with pytest.raises(ModelError, match="out of order"):
        retain(components, RetainRequest(bank="b", items=read_items(talk("one", 40), {})))
    with store.reading("b") as reading:
        assert reading.chunks(document_id="one")
        assert not reading.browse(Selection(where=Filter().at(NOW))).facts
