"""A memory of verbatim turns on the in-memory store, with a clock that moves a minute per call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.extract.verbatim import VerbatimExtractor
from perdure.models.hashing import HashingEmbedder
from perdure.ports.embedder import Embedder
from perdure.ports.store import Features, Order, Selection
from perdure.retain.components import RetainComponents
from perdure.retain.options import RetainOptions
from perdure.retain.pipeline import retain
from perdure.retain.request import read_request
from tests.support.memory_store import MemoryStore


class Memory:
    def __init__(self, embedder: Embedder | None = None) -> None:
        self.moment = datetime(2024, 5, 1, tzinfo=UTC)
        self.store = MemoryStore(lambda: self.moment)
        self.components = RetainComponents(
            store=self.store,
            extractor=VerbatimExtractor(),
            clock=self.tick,
            embedder=embedder or HashingEmbedder(),
        )

    def tick(self) -> datetime:
        self.moment += timedelta(minutes=1)
        return self.moment

    def retain(self, content: Any, **fields: Any) -> tuple[str, ...]:
        request = read_request("b", content, RetainOptions.read(fields))
        return retain(self.components, request).fact_ids

    def fact(self, fact_id: str) -> Fact:
        with self.store.reading("b") as reading:
            return reading.facts([fact_id])[0]

    def facts(self, **conditions: Any) -> list[Fact]:
        selection = Selection(where=Filter(**conditions).at(self.moment), order=Order.OLDEST_RECORDED)
        with self.store.reading("b") as reading:
            return list(reading.browse(selection).facts)

    def features(self, fact_ids: Sequence[str]) -> list[Features]:
        with self.store.reading("b") as reading:
            return list(reading.features(fact_ids).values())
