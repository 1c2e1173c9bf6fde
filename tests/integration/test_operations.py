"""Background retain on a real file: closed, reopened, cancelled, failing and erased while it works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.domain.item import RetainResult
from perdure.domain.operation import OperationStatus
from perdure.errors import Conflict
from perdure.jobs import operations
from perdure.retain.request import RetainRequest

OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}
MANY = [{"content": f"Person{number} lives in Quuxtown by the sea."} for number in range(80)]
PATIENCE = 20.0


class Gate:
    """Holds an engine's background steps until it is opened."""

    def __init__(self, engine: Perdure) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self._retain = engine._operations._retain
        engine._operations._retain = self

    def __call__(self, request: RetainRequest) -> RetainResult:
        self.entered.set()
        assert self.opened.wait(PATIENCE)
        return self._retain(request)


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.moment = datetime(2024, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Perdure]:
    with Perdure.open(path, **OPTIONS) as opened:
        yield opened


def content(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir()).lower()


def test_what_closing_left_is_done_after_the_next_opening(path: Path) -> None:
    with Perdure.open(path, **OPTIONS) as engine:
        gate = Gate(engine)
        first = engine.retain_later("b", MANY)
        second = engine.retain_later("new", "Ann lives in Oslo.")
        assert gate.entered.wait(PATIENCE)
        threading.Timer(0.1, gate.opened.set).start()
    with Perdure.open(path, **OPTIONS) as engine:
        for bank, operation in (("b", first), ("new", second)):
            ended = engine.operation(bank, operation.id, wait=PATIENCE)
            assert ended.status is OperationStatus.COMPLETED
        assert engine.operation("b", first.id).result == {"facts": len(MANY)}


def test_what_a_dead_process_left_is_taken_over_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "LOOK_AGAIN", 0.05)
    clock = Clock()
    dead = Perdure.open(path, clock=clock, **OPTIONS)
    gate = Gate(dead)
    operation = dead.retain_later("b", "Ann lives in Oslo.")
    assert gate.entered.wait(PATIENCE)
    with Perdure.open(path, clock=clock, **OPTIONS) as engine:
        assert engine.operation("b", operation.id, wait=0.3).status is OperationStatus.PENDING
        clock.moment += timedelta(seconds=61)
        assert engine.operation("b", operation.id, wait=PATIENCE).status is OperationStatus.COMPLETED
    gate.opened.set()
    dead.close()


def test_waiting_ends_although_the_clock_stands_still(path: Path) -> None:
    with Perdure.open(path, clock=Clock(), **OPTIONS) as engine:
        gate = Gate(engine)
        operation = engine.retain_later("b", "Ann lives in Oslo.")
        waiting = threading.Thread(target=engine.operation, args=("b", operation.id), kwargs={"wait": 0.05})
        waiting.start()
        waiting.join(PATIENCE / 4)
        ended = not waiting.is_alive()
        gate.opened.set()
        waiting.join()
        assert ended


def test_cancelled_within_a_step_it_stops_after_it(engine: Perdure) -> None:
    gate = Gate(engine)
    operation = engine.retain_later("b", MANY)
    assert gate.entered.wait(PATIENCE)
    engine.cancel_operation("b", operation.id)
    gate.opened.set()
    later = engine.retain_later("b", "Ann lives in Oslo.")
    assert engine.operation("b", later.id, wait=PATIENCE).status is OperationStatus.COMPLETED
    ended = engine.operation("b", operation.id)
    assert (ended.status, ended.done) == (OperationStatus.CANCELLED, operations.BATCH)
    engine.retry_operation("b", operation.id)
    assert engine.operation("b", operation.id, wait=PATIENCE).result == {"facts": len(MANY)}


def test_a_step_that_breaks_ends_its_operation_and_no_other(engine: Perdure) -> None:
    retain = engine._operations._retain

    def broken(_: RetainRequest) -> RetainResult:
        raise RuntimeError("no such thing")

    engine._operations._retain = broken
    ended = engine.operation("b", engine.retain_later("b", "Ann lives in Oslo.").id, wait=PATIENCE)
    assert (ended.status, ended.error) == (OperationStatus.FAILED, "RuntimeError: no such thing")
    engine._operations._retain = retain
    later = engine.retain_later("b", "Ben lives in Rome.")
    assert engine.operation("b", later.id, wait=PATIENCE).status is OperationStatus.COMPLETED


def test_work_on_an_erased_bank_ends(engine: Perdure, path: Path) -> None:
    gate = Gate(engine)
    engine.retain_later("b", MANY)
    assert gate.entered.wait(PATIENCE)
    engine.forget("b", everything=True)
    gate.opened.set()
    later = engine.retain_later("other", "Ann lives in Oslo.")
    engine.operation("other", later.id, wait=PATIENCE)
    assert engine.operations("b") == []
    assert engine.stats("b").documents <= operations.BATCH
    engine.forget("b", everything=True)
    assert b"quuxtown" not in content(path)


def test_what_is_erased_is_in_no_record_of_the_work_that_stored_it(engine: Perdure, path: Path) -> None:
    said = {"document_id": "d", "operation_id": "op"}
    engine.operation("b", engine.retain_later("b", "Quuxtown is where Ann lives.", **said).id, wait=PATIENCE)
    engine.forget("b", document_id="d")
    assert b"quuxtown" not in content(path)
    assert engine.operation("b", "op").status is OperationStatus.COMPLETED
    assert (
        engine.retain_later("b", "Quuxtown is where Ann lives.", **said).status is OperationStatus.COMPLETED
    )
    with pytest.raises(Conflict, match="other content"):
        engine.retain_later("b", "Something else.", **said)
