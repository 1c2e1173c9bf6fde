"""A file of an older schema is brought up to date in one transaction, or stays as it was."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import store_worker
from test_store_golden import check, load

from perdure.domain.fact import TurnSpan
from perdure.errors import StoreError
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import FactsWhere, Traces
from perdure.stores.sqlite import migrate, old_schemas
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import EVERYTHING, NOW

BANK = "home"
WORKER = Path(store_worker.__file__)
OLD = range(1, migrate.SCHEMA)
QUICK, FULL = 4, 50


@pytest.fixture(params=OLD)
def old_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return load(tmp_path / "memory.db", request.param)


@pytest.fixture
def store(old_file: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(old_file)) as store:
        yield store


def shape(path: Path) -> tuple[int, set[tuple[str, str]]]:
    """Version, and the definition of each table and index."""
    with closing(sqlite3.connect(path)) as raw:
        query = "SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL AND name <> 'sqlite_sequence'"
        (version,) = raw.execute("PRAGMA user_version").fetchone()
        return version, set(raw.execute(query))


def test_an_old_file_gets_the_shape_of_a_new_one(old_file: Path, tmp_path: Path) -> None:
    assert shape(old_file)[0] < migrate.SCHEMA
    SqliteStore.open(old_file).close()
    SqliteStore.open(tmp_path / "new.db").close()
    assert shape(old_file) == shape(tmp_path / "new.db")


def test_the_channels_answer(store: SqliteStore) -> None:
    with store.reading(BANK) as reading:
        vector = reading.features(["f-full"])["f-full"].vectors["fact"]
        assert reading.search(SemanticProbe(vector), EVERYTHING, 1)[0].fact_id == "f-full"
        hits = reading.search(KeywordProbe({"lives": 1.0}), EVERYTHING, 5)
        assert {hit.fact_id for hit in hits} == {"f-old", "f-new"}


def test_what_the_old_tables_left_in_the_file_is_cleared(store: SqliteStore, old_file: Path) -> None:
    assert store.traces() is Traces.PENDING
    with store.transaction(BANK) as tx:
        facts = tx.find_facts(FactsWhere(document_ids=["d1"]))
        tx.delete_facts([fact.id for fact in facts])
        tx.delete_documents(["d1"])
        tx.delete_chunks(["c1"])
        tx.erased_content()
    assert store.clear_traces() is Traces.CLEARED
    store.close()
    assert b"what was said" not in old_file.read_bytes()


def test_old_and_new_facts_live_side_by_side(store: SqliteStore) -> None:
    with store.transaction(BANK) as tx:
        (chunk,) = tx.chunks(ids=["c1"])
        spoken = replace(chunk, spans=(TurnSpan(start=0, end=20, speaker="Ann", said_at=NOW),))
        tx.put_chunks([spoken])
        (fact,) = tx.facts(["f-plain"])
        features = tx.features(["f-full"])["f-full"]
        tx.update_facts([replace(fact, text="edited", retired_at=NOW)])
        tx.put_features({"f-plain": features})
    with store.reading(BANK) as reading:
        assert reading.chunks(ids=["c1"]) == [spoken]
        assert reading.facts(["f-plain"])[0].text == "edited"
        assert np.array_equal(
            reading.features(["f-plain"])["f-plain"].vectors["fact"], features.vectors["fact"]
        )


def test_numbers_of_banks_are_not_used_again(store: SqliteStore, old_file: Path) -> None:
    with store.transaction("new") as tx:
        tx.set_model(store_worker.MODEL)
    with closing(sqlite3.connect(old_file)) as raw:
        (number,) = raw.execute("SELECT no FROM bank WHERE id = 'new'").fetchone()
        assert number > max(no for (no,) in raw.execute("SELECT no FROM bank WHERE id <> 'new'"))


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    old_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape(old_file)

    def fail(old: old_schemas.OldRow) -> old_schemas.NewRows:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(old_schemas, "_record", fail)
    monkeypatch.setattr(old_schemas, "part_axes", fail)
    monkeypatch.setattr(migrate, "write_checksums", fail)
    with pytest.raises(StoreError, match="disk I/O error"):
        SqliteStore.open(old_file)
    assert shape(old_file) == before
    monkeypatch.undo()
    check(old_file, before[0])


def grow(path: Path, facts: int) -> None:
    """Repeat a fact of schema 3 with its rows, so that a migration takes a while."""
    with closing(sqlite3.connect(path)) as raw:
        first = raw.execute("SELECT max(no) + 1 FROM fact").fetchone()[0]
        for table, key in (
            ("fact", "no"),
            ("detail", "fact"),
            ("feature", "fact"),
            ("vector_original", "fact"),
        ):
            names = [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]
            values = ", ".join(
                "number" if name == key else "id || number" if name == "id" else name for name in names
            )
            raw.execute(
                f"WITH RECURSIVE numbers (number) AS (VALUES (?1) UNION ALL SELECT number + 1 FROM numbers WHERE number < ?2)"
                f" INSERT INTO {table} SELECT {values} FROM {table}, numbers WHERE {key} ="
                " (SELECT no FROM fact WHERE id = 'f-full' AND bank = (SELECT no FROM bank WHERE id = 'home'))",
                (first, first + facts - 1),
            )
        raw.commit()
        raw.execute("PRAGMA journal_mode = WAL")


def run_kills(tmp_path: Path, kills: int, facts: int) -> None:
    """Kill a process that opens the file, at random moments: the file is the old one or the new one, and sound."""
    random, path = Random(kills), tmp_path / "memory.db"
    grown = load(tmp_path / "grown.db", 3)
    grow(grown, facts)
    old_shape, outcomes = shape(grown), set[int]()
    started = time.perf_counter()
    shutil.copy(grown, path)
    subprocess.run([sys.executable, str(WORKER), "migrate", str(path)], check=True, capture_output=True)
    whole, right = time.perf_counter() - started, rows_of(path)
    for _ in range(kills):
        for file in tmp_path.glob("memory.db*"):
            file.unlink()
        shutil.copy(grown, path)
        words = [sys.executable, str(WORKER), "migrate", str(path)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "opening\n"
        time.sleep(random.random() * whole)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        left_behind = shape(path)
        outcomes.add(left_behind[0])
        assert left_behind == old_shape or left_behind[0] == migrate.SCHEMA
        SqliteStore.open(path).close()
        assert rows_of(path) == right
    assert 3 in outcomes


def rows_of(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as raw:
        return [line for line in raw.iterdump() if "erasure" not in line]


def test_a_migration_killed_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    run_kills(tmp_path, QUICK, facts=1_000)


@pytest.mark.long
def test_a_migration_killed_fifty_times_loses_nothing(tmp_path: Path) -> None:
    run_kills(tmp_path, FULL, facts=5_000)
