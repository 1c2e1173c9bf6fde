"""Work that is parked until a moment, and equal work that folds into it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from perdure.domain.operation import OperationStatus
from perdure.jobs.runner import JobRunner
from tests.jobs.job_samples import PATIENCE, START, Clock, Notes
from tests.support.memory_store import MemoryStore

LATER = START + timedelta(hours=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> MemoryStore:
    return MemoryStore(clock)


@pytest.fixture
def runner(store: MemoryStore, clock: Clock) -> Iterator[JobRunner]:
    runner = JobRunner(store, clock, [Notes(store)], look_again=0.01)
    yield runner
    runner.close()


def test_parked_work_waits_and_holds_up_nothing(runner: JobRunner, store: MemoryStore, clock: Clock) -> None:
    notes = Notes(store)
    parked = runner.submit("b", notes.plan("later"), not_before=LATER)
    other = runner.submit("b", notes.plan("now"))
    assert runner.wait("b", other.id, PATIENCE).status is OperationStatus.COMPLETED
    waiting = runner.get("b", parked.id)
    assert (waiting.status, waiting.next_retry_at) == (OperationStatus.PENDING, LATER)
    clock.moment = LATER
    runner.submit("b", notes.plan("wakes the bank"))
    assert runner.wait("b", parked.id, PATIENCE).status is OperationStatus.COMPLETED


def test_parked_work_is_taken_up_by_the_next_process(
    runner: JobRunner, store: MemoryStore, clock: Clock
) -> None:
    parked = runner.submit("b", Notes(store).plan("later"), not_before=LATER)
    runner.close()
    clock.moment = LATER
    following = JobRunner(store, clock, [Notes(store)], look_again=0.01)
    assert following.resume() == 1
    assert following.wait("b", parked.id, PATIENCE).status is OperationStatus.COMPLETED
    following.close()
