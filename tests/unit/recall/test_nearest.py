from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.probe import Probe
from perdure.recall.channels.shared import SharedSemanticSearch

NOW = Filter(now=datetime(2025, 1, 1, tzinfo=UTC))
HITS = [Hit("a", 0.9), Hit("b", 0.5), Hit("c", 0.3), Hit("d", 0.1)]


class CountingStore:
    """Knows four facts and counts how often it is asked."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def search(self, bank: str, probe: Probe, wanted: Filter, limit: int) -> list[Hit]:
        self.limits.append(limit)
        return HITS[:limit]


def nearest(store: CountingStore, limit: int) -> SharedSemanticSearch:
    return SharedSemanticSearch(store, "b", np.ones(2, np.float32), NOW, limit)  # type: ignore[arg-type]


def test_channels_share_one_search() -> None:
    store = CountingStore()
    found = nearest(store, 3)
    assert found.first(2, floor=0.6) == HITS[:1]
    assert found.first(3) == HITS[:3]
    assert store.limits == [3]


def test_more_than_was_searched_for_is_searched_again_once() -> None:
    store = CountingStore()
    found = nearest(store, 1)
    assert found.first(1) == HITS[:1]
    assert found.first(9) == HITS
    assert found.first(20) == HITS
    assert store.limits == [1, 9]


def test_without_a_vector_nothing_is_near() -> None:
    store = CountingStore()
    assert SharedSemanticSearch(store, "b", None, NOW, 3).first(3) == []  # type: ignore[arg-type]
    assert store.limits == []
