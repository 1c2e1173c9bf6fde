"""Channels that ask for the nearest facts share one search."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.probe import Probe
from perdure.recall.channels import SharedSemanticSearch

NOW = Filter(now=datetime(2025, 1, 1, tzinfo=UTC))
HITS = [Hit("a", 0.9), Hit("b", 0.5), Hit("c", 0.3), Hit("d", 0.1)]


class CountingReading:
    """Has four facts and counts how often it is asked."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def search(self, probe: Probe, where: Filter, limit: int) -> list[Hit]:
        self.limits.append(limit)
        return HITS[:limit]


def shared_search(reading: CountingReading, limit: int) -> SharedSemanticSearch:
    return SharedSemanticSearch(reading, np.ones(2, np.float32), NOW, limit)  # type: ignore[arg-type]


def test_channels_share_one_search() -> None:
    reading = CountingReading()
    nearest = shared_search(reading, 3)
    assert nearest.first(2, floor=0.6) == HITS[:1]
    assert nearest.first(2, floor=0.5) == HITS[:2]
    assert nearest.first(3) == HITS[:3]
    assert reading.limits == [3]


def test_more_than_was_searched_for_is_searched_again_once() -> None:
    reading = CountingReading()
    nearest = shared_search(reading, 1)
    assert nearest.first(1) == HITS[:1]
    assert nearest.first(9) == HITS
    assert nearest.first(20) == HITS
    assert reading.limits == [1, 9]


def test_without_a_vector_nothing_is_near() -> None:
    reading = CountingReading()
    assert SharedSemanticSearch(reading, None, NOW, 3).first(3) == []  # type: ignore[arg-type]
    assert reading.limits == []
