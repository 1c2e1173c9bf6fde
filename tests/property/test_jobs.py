"""Background work, killed anywhere: nothing is lost, nothing is done twice. And how items become steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.item import Item, UpdateMode
from perdure.domain.operation import OperationStatus
from perdure.domain.record import Record
from perdure.jobs.kind import JobPlan, Step
from perdure.jobs.records import QUEUED, STEP, PlannedStep
from perdure.jobs.retain_job import ITEMS_PER_STEP, plan_steps
from perdure.jobs.rota import Turn
from perdure.jobs.runner import JobRunner
from perdure.retain.request import RetainRequest
from tests.support.memory_store import MemoryStore, MemoryTransaction

START = datetime(2024, 6, 1, tzinfo=UTC)


class Killed(BaseException):
    """The process ended here."""


class MortalStore:
    """What a process sees of a store: it dies when it has passed so many points."""

    def __init__(self, store: MemoryStore, life: float) -> None:
        self._store, self._life = store, life
        self.reading, self.shared_records = store.reading, store.shared_records
        self.banks_with_records = store.banks_with_records

    def pass_point(self) -> None:
        self._life -= 1
        if self._life < 0:
            raise Killed

    @contextmanager
    def transaction(self, bank: str) -> Iterator[MemoryTransaction]:
        self.pass_point()
        with self._store.transaction(bank) as tx:
            yield tx
            self.pass_point()
        self.pass_point()


class Notes:
    """Writes a note per step."""

    name = "notes"

    def __init__(self, store: MortalStore) -> None:
        self._store = store

    def run_step(self, step: Step) -> Mapping[str, object]:
        self._store.pass_point()
        with self._store.transaction(step.bank) as tx:
            number = len(tx.records("note"))
            tx.put_records(
                [Record(kind="note", id=f"{number:03d}", bank=step.bank, body={"text": step.body["text"]})]
            )
            step.commit(tx, {"notes": 1})
        return {"notes": 1}


Work = tuple[str, str, int]
"""(bank, operation id, number of steps)"""


def live(store: MemoryStore, clock: Callable[[], datetime], work: Sequence[Work], life: float) -> None:
    """A process that submits everything, whatever was submitted before, and works until it dies."""
    mortal = MortalStore(store, life)
    runner = JobRunner(mortal, clock, [Notes(mortal)], threads=0)  # type: ignore[arg-type, list-item]
    runner.resume()
    for bank, operation_id, count in work:
        texts = [f"{operation_id} {number}" for number in range(count)]
        plan = JobPlan(
            kind="notes",
            steps=[PlannedStep({"text": text}) for text in texts],
            total=count,
            digest=str(count),
        )
        runner.submit(bank, plan, operation_id)
    banks = sorted({bank for bank, _, _ in work})
    while any(runner._take_turn(bank) is not Turn.IDLE for bank in banks):
        pass


def run_through(work: Sequence[Work], lives: Sequence[float]) -> list[int]:
    """Processes one after another, the last of which lives on; returns which were killed."""
    store, now = MemoryStore(), START
    killed = []
    for number, life in enumerate((*lives, float("inf"))):
        try:
            live(store, lambda moment=now: moment, work, life)  # type: ignore[misc]
        except Killed:
            killed.append(number)
        now += timedelta(hours=1)
    for bank in {bank for bank, _, _ in work}:
        with store.reading(bank) as reading:
            notes = [record.body["text"] for record in reading.records("note")]
            rest = [*reading.records(STEP), *reading.records(QUEUED)]
        expected = [
            f"{operation_id} {number}"
            for owner, operation_id, count in work
            if owner == bank
            for number in range(count)
        ]
        assert notes == expected
        assert rest == []
        for operation in JobRunner(store, lambda: now, []).list(bank):
            assert operation.status is OperationStatus.COMPLETED
            assert operation.result == {"notes": operation.total}
    return killed


def test_killed_at_any_point_nothing_is_lost_or_done_twice() -> None:
    work = [("a", "first", 2), ("b", "other", 1), ("a", "second", 1)]
    life = 0
    while run_through(work, [life]) == [0]:
        life += 1
    assert life > 20


DOCUMENTS = st.sampled_from([None, "x", "y", "z"])


@settings(deadline=None)
@given(
    documents=st.lists(st.tuples(DOCUMENTS, st.integers(1, 40)), min_size=1, max_size=6),
    mode=st.sampled_from(UpdateMode),
)
def test_steps_hold_every_item_once_and_replace_a_document_only_at_its_first(
    documents: list[tuple[str | None, int]], mode: UpdateMode
) -> None:
    items = [
        Item(content=f"{place} {number}", document_id=document_id)
        for place, (document_id, count) in enumerate(documents)
        for number in range(count)
    ]
    request = RetainRequest(bank="b", items=tuple(items), mode=mode)
    steps = list(plan_steps(request, START, "key"))
    stored: list[Item] = []
    seen: set[str] = set()
    for step in steps:
        body: Mapping[str, Any] = step.body
        own = [Item(**item) for item in body["items"]]
        assert 0 < len(own) == step.count <= ITEMS_PER_STEP
        names = {str(item.document_id) for item in own}
        if mode is UpdateMode.APPEND or names & seen:
            assert body["mode"] == "append"
            assert mode is UpdateMode.APPEND or names <= seen
        else:
            assert body["mode"] == "replace"
        seen |= names
        stored += own
    assert all(item.timestamp == START for item in stored)
    for name in ("x", "y", "z"):
        expected = [item.content for item in items if item.document_id == name]
        assert [item.content for item in stored if item.document_id == name] == expected
    assert sorted(item.content for item in stored) == sorted(item.content for item in items)
