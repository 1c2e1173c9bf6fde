"""Background work on a real file: killed, shared between processes, erased while it waits, and measured."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from job_worker import BANKS, ITEMS, PATIENCE, make_runner

from perdure.domain.operation import OperationStatus
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.jobs.records import scrub
from perdure.jobs.retain_job import RetainJob
from perdure.jobs.runner import JobRunner
from perdure.retain.request import RetainRequest, read_items
from perdure.stores.sqlite.store import SqliteStore

WORKER = Path(__file__).with_name("job_worker.py")
SECRET = "Quuxtown is where Ann lives."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path)) as opened:
        yield opened


def now() -> datetime:
    return datetime.now(UTC)


def content(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir()).lower()


def submit(
    runner: JobRunner, job: RetainJob, text: Any, name: str | None = None, bank: str = "b", **fields: Any
) -> str:
    request = RetainRequest(bank=bank, items=read_items(text, fields))
    return runner.submit(bank, job.plan(request, now()), name).id


def start(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    said, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    return said


def check_banks(path: Path, names: set[str]) -> None:
    """Every document of the workers is there once, with all of its turns."""
    with closing(SqliteStore.open(path)) as store:
        runner, _ = make_runner(store, now)
        for bank in BANKS:
            operations = runner.list(bank)
            assert {operation.id for operation in operations} == names
            for operation in operations:
                assert operation.status is OperationStatus.COMPLETED
                assert operation.result == {"facts": len(ITEMS)}
            with store.reading(bank) as reading:
                for name in names:
                    for document in ("x", "y"):
                        chunks = reading.chunks(document_id=f"{name} {document}")
                        said = "\n".join(chunk.text for chunk in chunks)
                        items = [item["content"] for item in ITEMS if item["document_id"] == document]
                        assert said == "\n".join(f"{name}: {text}" for text in items)


def test_killed_at_every_third_point_no_document_is_doubled_and_nothing_lost(tmp_path: Path) -> None:
    said = finish(start("kills", tmp_path, 3))
    assert int(said.split()[1]) >= 6


@pytest.mark.long
def test_killed_at_every_point_no_document_is_doubled_and_nothing_lost(tmp_path: Path) -> None:
    said = finish(start("kills", tmp_path, 1))
    assert int(said.split()[1]) >= 18


def test_two_processes_on_one_file_never_do_the_same_step(path: Path) -> None:
    said = [finish(process) for process in [start("work", path, name) for name in ("one", "two")]]
    steps = Counter(line for log in said for line in log.splitlines() if line.startswith("step "))
    assert len(steps) == 2 * len(BANKS) * 3
    assert set(steps.values()) == {1}
    check_banks(path, {"one", "two"})


@pytest.mark.long
def test_processes_killed_at_random_moments_lose_and_double_nothing(path: Path) -> None:
    dice = random.Random(5)
    for _ in range(20):
        workers = [start("work", path, name) for name in ("one", "two")]
        time.sleep(dice.uniform(0.3, 2.0))
        for process in workers:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        release_dead_leases(path)
    finish(start("work", path, "one"))
    finish(start("work", path, "two"))
    check_banks(path, {"one", "two"})


def release_dead_leases(path: Path) -> None:
    """Instead of waiting for them to expire."""
    if path.exists():
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("DELETE FROM record WHERE kind = 'job_lease'")


def test_what_closing_left_is_done_after_the_next_opening(path: Path) -> None:
    with closing(SqliteStore.open(path)) as store:
        runner, job = make_runner(store, now)
        first = submit(runner, job, ITEMS)
        second = submit(runner, job, "Ann lives in Oslo.", bank="new")
        runner.close()
    with closing(SqliteStore.open(path)) as store:
        runner, job = make_runner(store, now)
        runner.resume()
        for bank, operation in (("b", first), ("new", second)):
            assert runner.wait(bank, operation, PATIENCE).status is OperationStatus.COMPLETED
        assert runner.get("b", first).result == {"facts": len(ITEMS)}
        runner.close()


def test_what_is_erased_is_in_no_record_of_the_work_that_stored_it(store: SqliteStore, path: Path) -> None:
    runner, job = make_runner(store, now)
    submit(runner, job, SECRET, "op", document_id="d-quux")
    assert runner.wait("b", "op", PATIENCE).document_id == "d-quux"
    forget(store, "b", Target(document_id="d-quux"), also=scrub)
    assert runner.get("b", "op").status is OperationStatus.COMPLETED
    assert submit(runner, job, SECRET, "op", document_id="d-quux") == "op"
    runner.close()
    assert b"quux" not in content(path)
