"""Clearing the traces of erased content and changing an embedder, in the background."""

from __future__ import annotations

from datetime import timedelta

from job_samples import PATIENCE, START, Clock, idle_runner, take_turn

from perdure.domain.operation import OperationStatus
from perdure.domain.record import Record
from perdure.jobs.maintenance import CLEAR_TRACES, PERCENT, clear_traces_job
from perdure.jobs.records import LEASE, QUEUED
from perdure.jobs.rota import Turn
from perdure.jobs.runner import JobRunner
from perdure.ports.store import Traces
from tests.support.memory_store import MemoryStore


def erased(store: MemoryStore) -> None:
    with store.transaction("b") as tx:
        tx.put_records([Record(kind="note", id="n", bank="b")])
    with store.transaction("b") as tx:
        tx.delete_bank()
        tx.erased_content()


def test_traces_are_cleared_without_a_bank() -> None:
    store = MemoryStore()
    erased(store)
    job = clear_traces_job(store)
    runner = JobRunner(store, Clock(), [job])
    for _ in range(2):
        operation = runner.submit("", job.plan(total=PERCENT), CLEAR_TRACES, again=True)
        assert runner.wait("", operation.id, PATIENCE).status is OperationStatus.COMPLETED
    runner.close()
    assert store.traces() is Traces.CLEARED
    assert store.banks() == []
    assert [operation.done for operation in runner.list("")] == [PERCENT]
    assert store.shared_records(QUEUED) == store.shared_records(LEASE) == []


def test_traces_that_a_reader_keeps_are_cleared_later_and_after_the_next_opening() -> None:
    store = MemoryStore()
    erased(store)
    job = clear_traces_job(store)
    clear, store.clear_traces = store.clear_traces, lambda: Traces.PENDING  # type: ignore[method-assign]
    runner = idle_runner(store, job)
    operation = runner.submit("", job.plan(total=PERCENT), CLEAR_TRACES, again=True)
    assert take_turn(runner, "") is Turn.LATER
    assert runner.get("", operation.id).status is OperationStatus.PENDING
    assert runner.submit("", job.plan(total=PERCENT), CLEAR_TRACES, again=True).id == operation.id
    store.clear_traces = clear  # type: ignore[method-assign]
    runner.close()
    opened = JobRunner(store, Clock(), [job])
    assert opened.resume() == 1
    assert opened.wait("", CLEAR_TRACES, PATIENCE).status is OperationStatus.COMPLETED
    opened.close()
    assert store.traces() is Traces.CLEARED


def test_a_shared_lease_is_respected() -> None:
    store = MemoryStore()
    job = clear_traces_job(store)
    runner = idle_runner(store, job)
    runner.submit("", job.plan(total=PERCENT), CLEAR_TRACES)
    body = {"owner": "another", "expires_at": (START + timedelta(seconds=9)).isoformat()}
    store.put_shared_records([Record(kind=LEASE, id=LEASE, body=body)])
    assert take_turn(runner, "") is Turn.LATER
