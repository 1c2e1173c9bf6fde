"""A process that does background work on a file until it is done, or killed.

work PATH NAME: submits an operation to each of two banks and works until all operations of both have ended.
kills FOLDER STRIDE: does the same work in a process that is killed at its first point, at its STRIDE-th after that, and so
on until one lives to its end; after each kill another process finishes the work and what is stored is checked.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from perdure.domain.operation import OperationStatus
from perdure.extract.verbatim import VerbatimExtractor
from perdure.jobs.kind import Step
from perdure.jobs.records import QUEUED, STEP
from perdure.jobs.retain_job import RetainJob
from perdure.jobs.runner import JobRunner
from perdure.models.hashing import HashingEmbedder
from perdure.ports.store import Store, Transaction
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from perdure.stores.sqlite.store import SqliteStore

BANKS = ("left", "right")
ITEMS = [
    *({"content": f"x says number {number}.", "document_id": "x"} for number in range(40)),
    *({"content": f"y says number {number}.", "document_id": "y"} for number in range(20)),
]
PATIENCE = 120.0


class MortalStore:
    """A store whose process is killed when it has passed so many points: before, at the end of, or after a transaction."""

    def __init__(self, store: SqliteStore, life: float) -> None:
        self._store, self._life = store, life

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def pass_point(self) -> None:
        self._life -= 1
        if self._life < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def transaction(self, bank: str) -> Iterator[Transaction]:
        self.pass_point()
        with self._store.transaction(bank) as tx:
            yield tx
            self.pass_point()
        self.pass_point()


class LoggedRetainJob(RetainJob):
    """Says which steps it does."""

    def run_step(self, step: Step) -> Any:
        print("step", step.bank, step.id, flush=True)
        return super().run_step(step)


def make_runner(
    store: Store, clock: Callable[[], datetime], job: Callable[..., RetainJob] = RetainJob, **options: Any
) -> tuple[JobRunner, RetainJob]:
    """A runner that retains."""
    components = RetainComponents(
        store=store, extractor=VerbatimExtractor(), clock=clock, embedder=HashingEmbedder()
    )
    retain_job = job(lambda request, within: retain(components, request, within=within))
    return JobRunner(store, clock, [retain_job], **options), retain_job


def work(path: str, name: str) -> None:
    store = SqliteStore.open(path, busy_timeout_ms=60_000)
    runner, job = make_runner(store, lambda: datetime.now(UTC), LoggedRetainJob, look_again=0.05)
    runner.resume()
    for bank in BANKS:
        items = [{**item, "document_id": f"{name} {item['document_id']}"} for item in ITEMS]
        request = RetainRequest(bank=bank, items=read_items(items, {"speaker": name}))
        runner.submit(bank, job.plan(request, datetime.now(UTC)), name)
    deadline = time.monotonic() + PATIENCE
    while any(not operation.finished for bank in BANKS for operation in runner.list(bank)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    runner.close()
    store.close()


def live(path: Path, life: float, now: datetime) -> None:
    """Do the work of one operation, whatever was done of it before."""
    opened = SqliteStore.open(path)
    store: Any = MortalStore(opened, life)
    runner, job = make_runner(store, lambda: now)
    runner.resume()
    request = RetainRequest(bank="b", items=read_items(ITEMS, {}))
    runner.submit("b", job.plan(request, now), "op")
    assert runner.wait("b", "op", PATIENCE).status is OperationStatus.COMPLETED
    runner.close()
    opened.close()


def check(path: Path) -> None:
    store = SqliteStore.open(path)
    runner, _ = make_runner(store, lambda: datetime.now(UTC))
    (operation,) = runner.list("b")
    assert (operation.status, operation.done) == (OperationStatus.COMPLETED, len(ITEMS)), operation
    assert operation.result == {"facts": len(ITEMS)}, operation
    with store.reading("b") as reading:
        assert [*reading.records(STEP), *reading.records(QUEUED)] == []
        assert reading.stats().facts == len(ITEMS)
        for name in ("x", "y"):
            said = "\n".join(chunk.text for chunk in reading.chunks(document_id=name))
            assert said == "\n".join(str(item["content"]) for item in ITEMS if item["document_id"] == name)
    store.close()


def in_child(action: Callable[..., None], *arguments: object) -> int:
    """How a forked process ended that did this: 0, or minus the number of a signal."""
    child = os.fork()
    if child == 0:
        try:
            action(*arguments)
        except BaseException as error:  # noqa: BLE001 - the end of the forked process
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def kills(folder: str, stride: int) -> None:
    start = datetime(2024, 6, 1, tzinfo=UTC)
    life = 0
    while True:
        path = Path(folder) / f"{life}.db"
        ended = in_child(live, path, life, start)
        assert ended in (0, -signal.SIGKILL), ended
        if ended == 0:
            break
        assert in_child(live, path, float("inf"), start + timedelta(hours=1)) == 0
        assert in_child(check, path) == 0
        life += stride
    print("killed", life // stride, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(sys.argv[2], sys.argv[3])
    else:
        kills(sys.argv[2], int(sys.argv[3]))
