"""Work that is parked until a moment, and equal work that folds into it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from perdure.domain.operation import OperationStatus
from perdure.errors import StoreFull
from perdure.jobs.kind import Step
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


def test_work_that_finds_the_disk_full_is_done_once_there_is_room(
    store: MemoryStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.jobs.runner.ROOM_AGAIN", 0.01)
    full = [StoreFull("the disk is full"), StoreFull("the disk is full")]

    def find_room(step: Step) -> None:
        if full:
            raise full.pop()

    runner = JobRunner(store, clock, [notes := Notes(store, find_room)], look_again=60.0)
    operation = runner.submit("b", notes.plan("one", "two"))
    assert runner.wait("b", operation.id, PATIENCE).status is OperationStatus.COMPLETED
    assert [text for _, text in notes.started] == ["one", "one", "one", "two"]
    runner.close()
