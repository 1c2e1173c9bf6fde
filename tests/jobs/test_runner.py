"""The runner of background work on the reference store."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from job_samples import (
    PATIENCE,
    START,
    Clock,
    Gate,
    Notes,
    idle_runner,
    notes_in,
    put_lease,
    records_in,
    take_turn,
)

from perdure.domain.operation import OperationStatus
from perdure.errors import Busy, Conflict, StoreLocked
from perdure.jobs.kind import JobPlan, SingleStepJob, Step
from perdure.jobs.records import ERROR_ERASED, LEASE, QUEUED, STEP, PlannedStep, scrub
from perdure.jobs.rota import Turn
from perdure.jobs.runner import LEASE_LENGTH, JobRunner
from tests.support.memory_store import MemoryStore

COMPLETED, FAILED, CANCELLED = OperationStatus.COMPLETED, OperationStatus.FAILED, OperationStatus.CANCELLED


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def notes(store: MemoryStore) -> Notes:
    return Notes(store)


@pytest.fixture
def runner(store: MemoryStore, notes: Notes) -> Iterator[JobRunner]:
    runner = JobRunner(store, Clock(), [notes], look_again=0.05)
    yield runner
    runner.close()


def test_an_operation_is_done_step_by_step_and_leaves_only_its_record(
    store: MemoryStore, notes: Notes, runner: JobRunner
) -> None:
    operation = runner.submit("b", notes.plan("one", "two", "three"))
    assert (operation.status, operation.done, operation.total) == (OperationStatus.PENDING, 0, 3)
    ended = runner.wait("b", operation.id, PATIENCE)
    assert (ended.status, ended.done, ended.result) == (COMPLETED, 3, {"notes": 3, "last": "three"})
    assert notes_in(store, "b") == ["one", "two", "three"]
    runner.close()
    assert [records_in(store, "b", kind) for kind in (STEP, QUEUED, LEASE)] == [[], [], []]
    assert runner.list("b") == [ended]


def test_within_a_bank_work_is_done_in_the_order_of_submission_although_the_clock_stands(
    store: MemoryStore, notes: Notes, runner: JobRunner
) -> None:
    operations = [runner.submit("b", notes.plan(f"text {number}")) for number in range(20)]
    runner.wait("b", operations[-1].id, PATIENCE)
    assert notes_in(store, "b") == [f"text {number}" for number in range(20)]
    assert [operation.id for operation in runner.list("b")] == [operation.id for operation in operations]


def test_banks_take_turns(store: MemoryStore, notes: Notes, runner: JobRunner) -> None:
    notes.before = gate = Gate()
    operations = [runner.submit(bank, notes.plan("one", "two", "three")) for bank in ("a", "b", "c")]
    gate.opened.set()
    for operation in operations:
        runner.wait(operation.bank, operation.id, PATIENCE)
    assert notes.started == [(bank, text) for text in ("one", "two", "three") for bank in ("a", "b", "c")]


def test_cancelled_within_a_step_it_stops_after_it_and_can_go_on(
    store: MemoryStore, notes: Notes, runner: JobRunner
) -> None:
    notes.before = gate = Gate()
    operation = runner.submit("b", notes.plan("one", "two", "three"))
    assert gate.entered.wait(PATIENCE)
    runner.cancel("b", operation.id)
    gate.opened.set()
    later = runner.submit("b", notes.plan("later"))
    assert runner.wait("b", later.id, PATIENCE).status is COMPLETED
    assert (runner.get("b", operation.id).status, runner.get("b", operation.id).done) == (CANCELLED, 1)
    with pytest.raises(Conflict, match="already cancelled"):
        runner.cancel("b", operation.id)
    runner.retry("b", operation.id)
    assert runner.wait("b", operation.id, PATIENCE).status is COMPLETED
    assert notes_in(store, "b") == ["one", "later", "two", "three"]
    with pytest.raises(Conflict, match="is completed, not failed or cancelled"):
        runner.retry("b", operation.id)


def test_a_step_that_fails_names_its_error_and_other_work_goes_on(
    store: MemoryStore, notes: Notes, runner: JobRunner
) -> None:
    errors = {"conflict": Conflict("it contradicts"), "break": RuntimeError("no such thing")}

    def fail(step: Step) -> None:
        error = errors.get(str(step.body["text"]))
        if error is not None:
            raise error

    notes.before = fail
    first = runner.submit("b", notes.plan("one", "break", "three"))
    second = runner.submit("b", notes.plan("conflict"))
    third = runner.submit("b", notes.plan("last"))
    assert runner.wait("b", third.id, PATIENCE).status is COMPLETED
    broken, refused = runner.get("b", first.id), runner.get("b", second.id)
    assert (broken.status, broken.done, broken.error) == (FAILED, 1, "RuntimeError: no such thing")
    assert (refused.status, refused.error) == (FAILED, "it contradicts")
    del errors["break"]
    assert runner.retry("b", first.id).error is None
    assert runner.wait("b", first.id, PATIENCE).result == {"notes": 3, "last": "three"}
    assert notes_in(store, "b") == ["one", "last", "break", "three"]


@pytest.mark.parametrize("error", [Busy("not now"), StoreLocked("not now")])
def test_what_has_to_wait_is_tried_again(
    store: MemoryStore, notes: Notes, runner: JobRunner, error: Exception
) -> None:
    errors = [error, error]

    def hold(_: Step) -> None:
        if errors:
            raise errors.pop()

    notes.before = hold
    operation = runner.submit("b", notes.plan("one"))
    other = runner.submit("other", notes.plan("one"))
    assert runner.wait("other", other.id, PATIENCE).status is COMPLETED
    assert runner.wait("b", operation.id, PATIENCE).status is COMPLETED
    assert errors == []
    assert notes_in(store, "b") == ["one"]


def test_the_same_id_is_the_same_operation_or_a_conflict(
    store: MemoryStore, notes: Notes, runner: JobRunner
) -> None:
    first = runner.submit("b", notes.plan("one"), "mine")
    assert runner.submit("b", notes.plan("one"), "mine").id == first.id == "mine"
    with pytest.raises(Conflict, match="other content"):
        runner.submit("b", notes.plan("two"), "mine")
    runner.wait("b", "mine", PATIENCE)
    assert runner.submit("b", notes.plan("one"), "mine").status is COMPLETED
    assert runner.submit("other", notes.plan("two"), "mine").bank == "other"
    runner.submit("b", notes.plan("two"), "mine", again=True)
    assert runner.wait("b", "mine", PATIENCE).result == {"notes": 1, "last": "two"}
    assert notes_in(store, "b") == ["one", "two"]


# Leases


def test_what_closing_left_is_done_by_the_next_runner_at_once(store: MemoryStore, notes: Notes) -> None:
    clock = Clock()
    closing = JobRunner(store, clock, [notes])
    notes.before = gate = Gate()
    operation = closing.submit("b", notes.plan("one", "two"))
    assert gate.entered.wait(PATIENCE)
    threading.Timer(0.05, gate.opened.set).start()
    closing.close()
    assert closing.get("b", operation.id).done == 1
    runner = JobRunner(store, clock, [notes])
    assert runner.resume() == 1
    assert runner.wait("b", operation.id, PATIENCE).status is COMPLETED
    runner.close()
    assert notes_in(store, "b") == ["one", "two"]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (timedelta(seconds=1), Turn.LATER),
        (LEASE_LENGTH, Turn.LATER),
        (timedelta(0), Turn.MORE),
        (-timedelta(days=1), Turn.MORE),
        (LEASE_LENGTH + timedelta(seconds=1), Turn.MORE),
        (timedelta(days=400), Turn.MORE),
    ],
    ids=["valid", "new", "expired", "long expired", "a clock set back", "a clock set far back"],
)
def test_a_lease_of_another_process_is_respected_while_it_is_valid(
    store: MemoryStore, notes: Notes, ends: timedelta, expected: Turn
) -> None:
    runner = idle_runner(store, notes)
    runner.submit("b", notes.plan("one"))
    put_lease(store, "b", "another", START + ends)
    assert take_turn(runner, "b") is expected
    assert notes_in(store, "b") == (["one"] if expected is Turn.MORE else [])


def test_a_step_whose_lease_was_taken_over_writes_nothing(store: MemoryStore, notes: Notes) -> None:
    runner = idle_runner(store, notes)
    operation = runner.submit("b", notes.plan("one"))
    notes.before = lambda step: put_lease(store, "b", "another", START + timedelta(seconds=30))
    take_turn(runner, "b")
    assert notes_in(store, "b") == []
    assert runner.get("b", operation.id).done == 0
    assert take_turn(runner, "b") is Turn.LATER


def slow_step_with_two_runners(store: MemoryStore) -> tuple[list[str], list[str]]:
    """What the first runner and a second one began while the first was slower than a lease is long."""
    lease = timedelta(seconds=1)
    begun = threading.Event()

    def sleep(_: Step) -> None:
        begun.set()
        time.sleep(2.5)

    kinds = [Notes(store, sleep), Notes(store)]
    first, second = (
        JobRunner(store, lambda: datetime.now(UTC), [kind], lease=lease, look_again=0.05) for kind in kinds
    )
    operation = first.submit("b", kinds[0].plan("one"))
    assert begun.wait(PATIENCE)
    second.resume()
    assert second.wait("b", operation.id, PATIENCE).status is COMPLETED
    first.close()
    second.close()
    assert notes_in(store, "b") == ["one"]
    return [text for _, text in kinds[0].started], [text for _, text in kinds[1].started]


def test_the_heartbeat_keeps_a_slow_step(store: MemoryStore) -> None:
    assert slow_step_with_two_runners(store) == (["one"], [])


def test_several_threads_never_work_on_one_bank_at_once(store: MemoryStore) -> None:
    busy: set[str] = set()
    met: list[str] = []

    def occupy(step: Step) -> None:
        met.extend(busy & {step.bank})
        busy.add(step.bank)
        time.sleep(0.002)
        busy.discard(step.bank)

    notes = Notes(store, occupy)
    runner = JobRunner(store, Clock(), [notes], threads=4)
    operations = [
        runner.submit(bank, notes.plan(*(f"{number} {part}" for part in range(3))))
        for number in range(4)
        for bank in ("a", "b", "c")
    ]
    for operation in operations:
        assert runner.wait(operation.bank, operation.id, PATIENCE).status is COMPLETED
    runner.close()
    assert met == []
    assert notes_in(store, "a") == [f"{number} {part}" for number in range(4) for part in range(3)]


# Kinds and progress


def test_the_progress_of_a_long_step_is_seen_here_and_from_other_processes(store: MemoryStore) -> None:
    reached, end = threading.Event(), threading.Event()

    def run(step: Step) -> dict[str, object]:
        step.progress = lambda: 0.42
        reached.set()
        assert end.wait(PATIENCE)
        return {"size": 7}

    long = SingleStepJob("long", run)
    here = JobRunner(store, lambda: datetime.now(UTC), [long], lease=timedelta(seconds=0.2))
    elsewhere = idle_runner(store)
    operation = here.submit("b", long.plan({"of": "b"}, total=100))
    assert reached.wait(PATIENCE)
    seen = here.get("b", operation.id)
    assert (seen.status, seen.done, seen.total) == (OperationStatus.PROCESSING, 42, 100)
    deadline = time.monotonic() + PATIENCE
    while elsewhere.get("b", operation.id).done != 42:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert elsewhere.get("b", operation.id).status is OperationStatus.PROCESSING
    end.set()
    ended = here.wait("b", operation.id, PATIENCE)
    assert (ended.status, ended.done, ended.result) == (COMPLETED, 100, {"size": 7})
    here.close()


# Erasure


def test_work_on_an_erased_bank_ends_and_does_not_revive_it(store: MemoryStore, notes: Notes) -> None:
    runner = idle_runner(store, notes)
    runner.submit("b", notes.plan("one", "two"))

    def erase(step: Step) -> None:
        with store.transaction(step.bank) as tx:
            tx.delete_bank()

    notes.before = erase
    take_turn(runner, "b")
    assert take_turn(runner, "b") is Turn.IDLE
    runner.close()
    assert store.banks() == []
    assert runner.list("b") == []


def test_erased_documents_leave_operations_and_unfinished_steps(store: MemoryStore, notes: Notes) -> None:
    runner = idle_runner(store, notes)
    kept = {"content": "kept", "document_id": "k"}
    erased = {"content": "erased", "document_id": "e"}
    steps = [PlannedStep({"items": [kept, erased]}, 2), PlannedStep({"items": [erased]})]
    plan = JobPlan(kind="notes", steps=steps, total=3, digest="x", document_id="e")
    operation = runner.submit("b", plan)
    take_turn(runner, "b")
    assert runner.get("b", operation.id).error == "KeyError: 'text'"
    other = runner.submit("b", JobPlan(kind="notes", steps=[PlannedStep({})], total=1, digest=""))
    with store.transaction("b") as tx:
        assert scrub(tx, ["e", "another"])
        assert not scrub(tx, ["e", "another"])
    scrubbed = runner.get("b", operation.id)
    assert (scrubbed.document_id, scrubbed.error, scrubbed.total) == (None, ERROR_ERASED, 3)
    assert runner.unfinished_steps("b", operation.id) == [{"items": [kept]}, {"items": []}]
    assert runner.get("b", other.id) == other
