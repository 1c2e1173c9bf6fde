"""Several processes on one file: no errors, nothing lost, every commit seen at the next call."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from store_worker import BANK, FACTS, browse

from perdure.ports.store import Traces
from perdure.stores.sqlite.store import SqliteStore

WORKER = Path(__file__).with_name("store_worker.py")


def start(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    said, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    return said


def run_together(path: Path, writers: int, readers: int, batches: int) -> None:
    with closing(SqliteStore.open(path)):
        reading = [start("read", path) for _ in range(readers)]
        writing = [start("write", path, f"writer{place}", 0, batches) for place in range(writers)]
        try:
            for process in writing:
                assert finish(process).count("wrote") == batches
            for process in reading:
                assert int(finish(process).split()[-2]) > 0
        finally:
            for process in (*reading, *writing):
                process.kill()
                process.wait()
                for stream in (process.stdin, process.stdout, process.stderr):
                    assert stream is not None
                    stream.close()
    with closing(SqliteStore.open(path)) as store:
        expected = {
            f"writer{place}-{number}-{one}"
            for place in range(writers)
            for number in range(batches)
            for one in range(FACTS)
        }
        assert {fact.id for fact in browse(store, 1_000_000).facts} == expected


def test_four_writers_and_four_readers(tmp_path: Path) -> None:
    run_together(tmp_path / "memory.db", writers=4, readers=4, batches=5)


def test_processes_that_open_a_new_file_at_once_all_open_it(tmp_path: Path) -> None:
    processes = [start("open") for _ in range(3)]
    for number in range(60):
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(f"{tmp_path / str(number)}\n")
            process.stdin.flush()
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "opened\n"
    for process in processes:
        finish(process)


def test_processes_that_write_and_erase_leave_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    batches = 20
    with closing(SqliteStore.open(path)) as store:
        working = [start("change", path, f"writer{place}", 0, batches) for place in range(3)]
        gone = {
            f"writer{place}-{line.split()[1]}"
            for place, process in enumerate(working)
            for line in finish(process).splitlines()
            if line.startswith("forgot ")
        }
        assert len(gone) == 3 * 2
        documents = {f"writer{place}-{number}" for place in range(3) for number in range(batches)}
        with store.reading(BANK) as reading:
            assert {document.id for document in reading.documents()} == documents - gone
        assert browse(store, 1000).total == FACTS * len(documents - gone)
        assert store.clear_traces() is Traces.CLEARED
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    content = path.read_bytes()
    assert not [ident for ident in gone if f"{ident} fact 0".encode() in content]


@pytest.mark.long
def test_four_writers_and_four_readers_for_long(tmp_path: Path) -> None:
    run_together(tmp_path / "memory.db", writers=4, readers=4, batches=400)
