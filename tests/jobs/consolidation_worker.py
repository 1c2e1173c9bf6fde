"""kills FOLDER STRIDE MOST: consolidates in a process that is killed at its first point, at its STRIDE-th after that, and so on,
until one lives to its end or MOST were killed; after each kill another process finishes the work and what is stored is checked.
"""

from __future__ import annotations

import shutil
import signal
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from job_worker import PATIENCE, MortalStore, in_child

from perdure import OperationStatus, Perdure
from perdure.reflect import consolidate
from perdure.reflect.notes.write import NOTE_PENDING, NOTE_RECORD
from perdure.reflect.observations.erasure import BATCH_RECORD, WORK_RECORD
from perdure.stores.sqlite.store import SqliteStore

BANK = "b"
START = datetime(2026, 11, 16, 9, tzinfo=UTC)
PEOPLE = "Ann Bob Cleo Dan".split()
consolidate.FACTS_PER_STEP = 4
consolidate.SUBJECTS_PER_STEP = 2
consolidate.NOTES_PER_STEP = 1


def open_memory(store: Any, folder: Path, now: datetime) -> Perdure:
    return Perdure.open(
        store=store, clock=lambda: now, embedder="hashing", reranker="none", tagger="rules",
        notes_folder=folder / "notes",
    )  # fmt: skip


def fill(path: Path) -> None:
    """A file with people, of whom one moved after a first consolidation."""
    with open_memory(SqliteStore.open(path), path.parent, START) as memory:
        for person in PEOPLE:
            for text in ("I live in Berlin.", "I work at Ford.", "I have a dog named Rex.", "I like tea."):
                memory.retain(BANK, text, speaker=person, timestamp=START)
        finish(memory, "first")
        memory.retain(BANK, "I live in Lisbon now.", speaker="Ann", timestamp=START + timedelta(days=1))
        memory.retain(BANK, "I drive a Volvo.", speaker="Bob", timestamp=START + timedelta(days=1))


def finish(memory: Perdure, operation_id: str) -> None:
    job = memory._background._consolidate_job
    memory.jobs.submit(BANK, job.plan(), operation_id)
    done = memory.operations.get(BANK, operation_id, wait=PATIENCE)
    assert done.status is OperationStatus.COMPLETED, done.error


def live(path: Path, folder: Path, life: float, now: datetime) -> None:
    """Consolidate what is new, whatever was done of it before."""
    store = MortalStore(SqliteStore.open(path), life)
    with open_memory(store, folder, now) as memory:
        finish(memory, "second")


def shape(path: Path, folder: Path, now: datetime) -> dict[str, Any]:
    """What consolidation made, without ids and times of writing; a note that was written before a kill is not counted."""
    with open_memory(SqliteStore.open(path), folder, now) as memory:
        observations = memory.observations.list(BANK)
        versions = Counter(
            one.name for some in observations for one in memory.observations.versions(BANK, some.id)
        )
        left = {
            kind: memory.records.list(kind, bank=BANK) for kind in (WORK_RECORD, BATCH_RECORD, NOTE_PENDING)
        }
        return {
            "observations": sorted((one.name, one.subject.kind, one.text) for one in observations),
            "versions": dict(versions),
            "facts": dict(memory.banks.stats(BANK).facts_by_type),
            "notes": {name: str(memory.notes.get(BANK, name)) for name in memory.notes.list(BANK)},
            "told": sorted(record.id for record in memory.records.list(NOTE_RECORD, bank=BANK)),
            "left": left,
            "pending": memory.observations.status(BANK).pending,
            "result": {**(memory.operations.get(BANK, "second").result or {}), "notes": None},
        }


def check(path: Path, folder: Path, expected: dict[str, Any], now: datetime) -> None:
    outcome = shape(path, folder, now)
    for name, value in expected.items():
        assert outcome[name] == value, (name, outcome[name], value)


def kills(folder: str, stride: int, most: int) -> None:
    home = Path(folder)
    (home / "filled").mkdir()
    filled = home / "filled" / "m.db"
    assert in_child(fill, filled) == 0
    later = START + timedelta(days=2)
    whole = home / "whole"
    shutil.copytree(home / "filled", whole)
    assert in_child(live, whole / "m.db", whole, float("inf"), later) == 0
    expected = shape(whole / "m.db", whole, later)
    assert not any(expected["left"].values())
    assert expected["pending"] == 0
    killed = 0
    while killed < most:
        place = home / str(killed)
        shutil.copytree(home / "filled", place)
        ended = in_child(live, place / "m.db", place, killed * stride, later)
        assert ended in (0, -signal.SIGKILL), ended
        if ended == 0:
            break
        assert in_child(live, place / "m.db", place, float("inf"), later + timedelta(hours=1)) == 0
        assert in_child(check, place / "m.db", place, expected, later + timedelta(hours=2)) == 0
        killed += 1
    print("killed", killed, flush=True)


if __name__ == "__main__":
    kills(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
