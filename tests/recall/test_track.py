"""Recalls are counted in batches by a thread of their own; nobody waits for the write lock."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact
from perdure.domain.recall import Query, RecallResult, Recollection
from perdure.errors import StoreLocked
from perdure.recall.track import RecallTracker
from tests.support.memory_store import MemoryStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)


class LockedStore(MemoryStore):
    """Notes the batches, and writes when the lock is free."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()
        self.broken = False
        self.batches: list[tuple[str, list[str]]] = []

    def record_recalls(self, bank: str, recalls: Iterable[tuple[str, datetime]]) -> None:
        self.free.wait(10)
        if self.broken:
            raise StoreLocked("held by another process")
        self.batches.append((bank, [fact_id for fact_id, _ in recalls]))


def result(*fact_ids: str) -> RecallResult:
    facts = [Fact(id=fact_id, bank="b", text="x") for fact_id in fact_ids]
    return RecallResult(
        query=Query(text="q", content="q", asked_at=NOW),
        recipe="default",
        recollections=tuple(Recollection(fact=fact, score=1.0, citation=1) for fact in facts),
    )


def test_recalls_of_a_while_are_one_batch_per_bank_without_notes() -> None:
    store = LockedStore()
    tracker = RecallTracker(store)
    tracker.track("b", result("1", "note:x", "2"), NOW)
    tracker.track("c", result("3"), NOW)
    tracker.track("b", result("1"), NOW)
    assert tracker.flush()
    assert store.batches == [("b", ["1", "2", "1"]), ("c", ["3"])]
    tracker.close()


def test_a_recall_does_not_wait_for_the_write_lock() -> None:
    store = LockedStore()
    store.free.clear()
    tracker = RecallTracker(store)
    began = time.monotonic()
    for number in range(50):
        tracker.track("b", result(str(number)), NOW)
    assert time.monotonic() - began < 1.0
    assert not tracker.flush(0.05)
    store.free.set()
    tracker.close()
    assert sum(len(batch) for _, batch in store.batches) == 50


def test_a_store_that_fails_costs_statistics_only(caplog: pytest.LogCaptureFixture) -> None:
    store = LockedStore()
    store.broken = True
    tracker = RecallTracker(store)
    with caplog.at_level(logging.WARNING):
        tracker.track("b", result("1"), NOW)
        assert tracker.flush()
    assert "held by another process" in caplog.text
    store.broken = False
    tracker.track("b", result("2"), NOW)
    tracker.close()
    assert store.batches == [("b", ["2"])]
