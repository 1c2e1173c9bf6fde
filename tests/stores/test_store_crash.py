"""A writer killed at random points: nothing acknowledged is lost, nothing is half there, nothing is damaged."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest
from store_worker import ALL, BANK, FACTS, browse

from perdure.domain.filter import TagLeaf
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import Reading
from perdure.stores.sqlite.store import SqliteStore

WORKER = Path(__file__).with_name("store_worker.py")
QUICK, FULL = 4, 220


@dataclass
class Told:
    """What a writer acknowledged before it was killed."""

    wrote: set[int] = field(default_factory=set)
    forgetting: set[int] = field(default_factory=set)
    forgot: set[int] = field(default_factory=set)

    def hear(self, line: str) -> None:
        word, _, number = line.strip().partition(" ")
        if number:
            getattr(self, word).add(int(number))


def kill_writer(path: Path, first: int, random: Random, told: Told) -> None:
    """Start a writer, kill it somewhere in its work, and hear what it said until then."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), "change", str(path), "w", str(first), "100000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(1 + random.randrange(25)):
        told.hear(process.stdout.readline())
    time.sleep(random.random() * 0.02)
    process.send_signal(signal.SIGKILL)
    for line in process.stdout:
        if line.endswith("\n"):
            told.hear(line)
    process.wait()
    process.stdout.close()


def check(path: Path, told: Told) -> int:
    """The file is sound and holds what was acknowledged, whole; returns the next free number."""
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with closing(SqliteStore.open(path)) as store:
        held: dict[int, int] = {}
        for fact in browse(store, 1_000_000).facts:
            number = int(fact.id.split("-")[1])
            held[number] = held.get(number, 0) + 1
        assert set(held.values()) <= {FACTS}, "a document is half there"
        assert told.wrote - held.keys() <= told.forgetting, "an acknowledged document is lost"
        assert not told.forgot & held.keys(), "an acknowledged erasure is undone"
        assert held.keys() - told.wrote <= {max(told.wrote, default=-1) + 1}, "a document came from nowhere"
        with store.reading(BANK) as reading:
            documents = {int(document.id.split("-")[1]) for document in reading.documents()}
            assert documents == held.keys()
            check_channels(reading, sorted(held)[-3:])
        return max(held.keys() | told.wrote | told.forgot, default=-1) + 1


def check_channels(reading: Reading, numbers: list[int]) -> None:
    for number in numbers:
        tagged = replace(ALL, tags=(TagLeaf(frozenset({f"w-{number}"})),))
        first = f"w-{number}-0"
        assert len(reading.search(KeywordProbe({f"w-{number}": 1.0}), tagged, 50)) == FACTS
        vector = reading.features([first])[first].vectors["fact"]
        assert reading.search(SemanticProbe(vector), tagged, 1)[0].fact_id == first
        assert len(reading.links([first])) == FACTS - 1
        assert len(reading.chunks(document_id=f"w-{number}")) == 1


def run_kills(path: Path, kills: int) -> None:
    random = Random(kills)
    told, following = Told(), 0
    for _ in range(kills):
        kill_writer(path, following, random, told)
        following = check(path, told)
        told.wrote.update(range(following - 1, following) if following - 1 not in told.forgot else ())
    assert len(told.wrote) > kills


def test_a_killed_writer_loses_nothing(tmp_path: Path) -> None:
    run_kills(tmp_path / "memory.db", QUICK)


@pytest.mark.long
def test_a_writer_killed_two_hundred_times_loses_nothing(tmp_path: Path) -> None:
    run_kills(tmp_path / "memory.db", FULL)
