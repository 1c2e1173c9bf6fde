"""Kinds of work, a clock and a store to try the runner with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from perdure.domain.record import Record
from perdure.jobs.kind import JobPlan, Step
from perdure.jobs.records import LEASE, PlannedStep
from perdure.jobs.runner import JobRunner
from perdure.ports.store import Store

START = datetime(2024, 6, 1, 12, tzinfo=UTC)
PATIENCE = 20.0


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        return self.moment


class Notes:
    """A kind of work whose steps write notes: records, in the transaction of the step."""

    name = "notes"

    def __init__(self, store: Store, before: Callable[[Step], None] = lambda step: None) -> None:
        self.store, self.before = store, before
        self.started: list[tuple[str, str]] = []

    def plan(self, *texts: str) -> JobPlan:
        steps = [PlannedStep({"text": text}) for text in texts]
        return JobPlan(kind=self.name, steps=steps, total=len(steps), digest=" ".join(texts))

    def run_step(self, step: Step) -> Mapping[str, object]:
        text = str(step.body["text"])
        self.started.append((step.bank, text))
        self.before(step)
        with self.store.transaction(step.bank) as tx:
            tx.put_records([Record(kind="note", id=f"{text} #{len(tx.records('note'))}", bank=step.bank)])
            step.commit(tx, {"notes": 1, "last": text})
        return {"notes": 1, "last": text}


class Gate:
    """Holds the first step until it is opened."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, step: Step) -> None:
        self.entered.set()
        assert self.opened.wait(PATIENCE)


def notes_in(store: Store, bank: str) -> list[str]:
    """The notes in the order of writing; one that was written twice is there twice."""
    with store.reading(bank) as reading:
        written = sorted(reading.records("note"), key=lambda record: int(record.id.split("#")[1]))
        return [record.id.split(" #")[0] for record in written]


def records_in(store: Store, bank: str, kind: str) -> list[Record]:
    with store.reading(bank) as reading:
        return reading.records(kind)


def put_lease(store: Store, bank: str, owner: str, expires_at: datetime) -> None:
    body = {"owner": owner, "expires_at": expires_at.isoformat()}
    with store.transaction(bank) as tx:
        tx.put_records([Record(kind=LEASE, id=LEASE, bank=bank, body=body)])


def idle_runner(store: Store, *kinds: Any, clock: Callable[[], datetime] | None = None) -> JobRunner:
    """A runner that does nothing by itself: steps are done with `take_turn`."""
    return JobRunner(store, clock or Clock(), kinds, threads=0)


def take_turn(runner: JobRunner, bank: str) -> Any:
    return runner._take_turn(bank)
