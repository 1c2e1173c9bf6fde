"""Backups: made while the memory is in use, checked, few enough, and put back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import pytest

from perdure import Conflict, NotFound, Perdure, StoreCorrupt, StoreError
from perdure.databases import restore_database, verify_file
from perdure.settings import Settings
from tests.support.rest_server import open_quick

TEXTS = ("Ann Hale grows tomatoes in Lisbon.", "Ben Stone grows tulips in Porto.")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    (tmp_path / "memory").mkdir()
    with open_quick(tmp_path / "memory") as engine:
        for place, text in enumerate(TEXTS):
            engine.retain("main", text, document_id=f"d{place}")
        yield engine


def texts(path: Path) -> set[str]:
    with (
        open_quick(path.parent)
        if path.name == "memory.db"
        else Perdure.open(path, embedder="hashing", reranker="none", tagger="rules") as engine
    ):
        return {fact.text for fact in engine.facts.iterate("main")}


def test_a_backup_holds_everything_and_is_its_owners(engine: Perdure, tmp_path: Path) -> None:
    done = engine.database.backup(tmp_path / "copy.db")
    assert done.verification.sound
    assert done.verification.checked["facts"] == len(TEXTS)
    assert done.file.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "memory"]
    assert texts(done.file) == {fact.text for fact in engine.facts.iterate("main")}
    with pytest.raises(Conflict, match="never overwrites"):
        engine.database.backup(tmp_path / "copy.db")
    with pytest.raises(NotFound, match="folder"):
        engine.database.backup(tmp_path / "no" / "copy.db")
    with pytest.raises(StoreError, match="cannot be written"):
        engine.database.backup(Path("/proc/copy.db"))


def test_what_was_erased_is_not_in_a_later_backup(engine: Perdure, tmp_path: Path) -> None:
    engine.forget("main", document_id="d1")
    assert b"tulips" not in engine.database.backup(tmp_path / "copy.db").file.read_bytes()


def test_a_backup_is_one_state_while_others_write(engine: Perdure, tmp_path: Path) -> None:
    stop = Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            engine.retain("busy", f"Person{number} keeps a zebra.", document_id=f"z{number}")

    writer = Thread(target=write)
    writer.start()
    try:
        for place in range(4):
            done = engine.database.backup(tmp_path / f"copy{place}.db")
            assert done.verification.sound, done.verification.damage
    finally:
        stop.set()
        writer.join()


def test_a_damaged_memory_never_pushes_out_a_sound_backup(engine: Perdure, tmp_path: Path) -> None:
    first = engine.database.backup(tmp_path / "daily.db", keep=1)
    with closing(sqlite3.connect(engine.settings.database)) as raw:
        raw.execute("UPDATE fact SET text = 'changed' WHERE no = 1")
        raw.commit()
    second = engine.database.backup(tmp_path / "daily.db", keep=1)
    assert not second.verification.sound
    assert second.removed == ()
    assert first.file.exists()


def restore(database: str, backup: Path) -> str | None:
    stamp = datetime.now(UTC).strftime("%H%M%S%f")
    return restore_database(Settings(database=database), backup, stamp).aside


def test_a_backup_is_put_back_and_what_stood_there_is_kept(engine: Perdure, tmp_path: Path) -> None:
    done = engine.database.backup(tmp_path / "copy.db")
    engine.retain("main", "Cleo Marsh grows tea in Faro.")
    database = Path(engine.settings.database)
    engine.close()
    aside = restore(str(database), done.file)
    assert aside is not None
    assert len(texts(database)) == 2
    assert len(texts(Path(aside))) == 3
    assert verify_file(str(database)).sound


def test_a_backup_replaces_a_file_that_cannot_be_read_any_more(engine: Perdure, tmp_path: Path) -> None:
    done = engine.database.backup(tmp_path / "copy.db")
    database = Path(engine.settings.database)
    engine.close()
    database.write_bytes(os.urandom(9000))
    restore(str(database), done.file)
    assert len(texts(database)) == 2


def test_a_damaged_backup_replaces_nothing(engine: Perdure, tmp_path: Path) -> None:
    done = engine.database.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(done.file)) as raw:
        raw.execute("UPDATE fact SET text = 'changed' WHERE no = 1")
        raw.commit()
    database = Path(engine.settings.database)
    engine.close()
    with pytest.raises(StoreCorrupt, match="damaged itself"):
        restore(str(database), done.file)
    with pytest.raises(NotFound, match="backup"):
        restore(str(database), tmp_path / "none.db")
    assert len(texts(database)) == 2
    assert sorted(file.name for file in database.parent.iterdir()) == ["memory.db"]
