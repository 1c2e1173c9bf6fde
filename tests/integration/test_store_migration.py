"""A file of an older schema is brought up to date step by step, with all that it holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from perdure.domain.fact import Chunk, LinkKind, TurnSpan
from perdure.domain.filter import Filter
from perdure.errors import StoreError
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import Target, WriteBatch
from perdure.stores.sqlite import migrate, segments
from perdure.stores.sqlite.store import SqliteStore

BANK = "home"
NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
AFTER = Filter(now=NOW + timedelta(days=1))
SCHEMA_1 = Path(__file__).with_name("store_schema_1.sql")
"""What a version of schema 1 wrote, as SQL."""


@pytest.fixture(params=[1, 2])
def old_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A file of an old schema: 1 as its version left it, 2 as it was made of that."""
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.executescript(SCHEMA_1.read_text(encoding="utf-8"))
        raw.execute(f"PRAGMA application_id = {migrate.APPLICATION_ID}")
        if request.param == 2:
            raw.executescript(migrate.STEPS[2])
        raw.execute(f"PRAGMA user_version = {request.param}")
    return path


@pytest.fixture
def store(old_file: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(old_file)) as store:
        yield store


def shape(path: Path) -> tuple[int, dict[str, list[tuple[object, ...]]]]:
    """Version, and the columns of each table and index."""
    with closing(sqlite3.connect(path)) as raw:
        names = [
            row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
        ]
        columns = {
            name: sorted(row[1:] for row in raw.execute(f"PRAGMA table_xinfo({name})")) for name in names
        }
        (version,) = raw.execute("PRAGMA user_version").fetchone()
    return version, {
        name: [(column, kind, required, default) for column, kind, required, default, *_ in found]
        for name, found in columns.items()
    }


def test_an_old_file_gets_the_shape_of_a_new_one(old_file: Path, tmp_path: Path) -> None:
    assert shape(old_file)[0] < migrate.SCHEMA
    SqliteStore.open(old_file).close()
    SqliteStore.open(tmp_path / "new.db").close()
    assert shape(old_file) == shape(tmp_path / "new.db")
    assert shape(old_file)[0] == migrate.SCHEMA


def test_facts_and_what_belongs_to_them_are_kept(store: SqliteStore) -> None:
    first, second, third = store.facts(BANK, ["f1", "f2", "f3"])
    assert (first.text, first.subject, first.tags) == ("Ann lives in Oslo", "Ann", frozenset({"place"}))
    assert (first.superseded_by, first.retired_at) == ("f2", NOW + timedelta(hours=1))
    assert (second.metadata, second.valid_from) == ({"turn": "2"}, NOW)
    assert (third.proof_count, third.recall_count, third.recall_times) == (2, 1, (NOW,))
    features = store.features(BANK, ["f3"])["f3"]
    assert features.words == ("bob", "likes", "tea")
    assert features.tokens == b"tok"
    assert store.passages(BANK, ["f3"])["f3"] == ("Bob: I like tea", b"tok")
    assert [(link.source, link.target, link.kind) for link in store.links(BANK, ["f2"])] == [
        ("f1", "f2", LinkKind.SEMANTIC),
        ("f3", "f2", LinkKind.TEMPORAL),
    ]


def test_banks_documents_entities_and_records_are_kept(store: SqliteStore) -> None:
    (bank,) = store.banks()
    assert (bank.id, bank.mission, str(bank.model)) == (BANK, "to remember", "tiny (8 dimensions)")
    assert {document.id: document.title for document in store.documents(BANK)} == {"d1": "Talk", "d2": "Note"}
    assert [(keyed.entity.name, keyed.keys) for keyed in store.entities(BANK)] == [
        ("Ann", ("ann",)),
        ("Bob", ("bob", "robert")),
    ]
    assert [record.body for record in store.records("operation", bank=BANK)] == [{"state": "done"}]
    (chunk,) = store.chunks(BANK, ids=["c1"])
    assert (chunk.text, chunk.spans) == ("Ann: I live in Oslo.\nBob: I like tea.", ())


def test_the_channels_answer(store: SqliteStore) -> None:
    third = np.zeros(8, np.float32)
    third[3] = 1.0
    assert store.search(BANK, SemanticProbe(third), AFTER, 1)[0].fact_id == "f3"
    assert [hit.fact_id for hit in store.search(BANK, KeywordProbe({"lives": 1.0}), AFTER, 5)] == ["f1", "f2"]


def test_an_old_file_is_packed_by_the_next_writes(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT", 2)
    with closing(SqliteStore.open(old_file)) as store:
        store.write(WriteBatch(bank=BANK))
    with closing(sqlite3.connect(old_file)) as raw:
        assert raw.execute("SELECT count(*) FROM segment WHERE last = 2").fetchone() == (2,)
    with closing(SqliteStore.open(old_file)) as store:
        test_the_channels_answer(store)
        test_facts_and_what_belongs_to_them_are_kept(store)


def test_what_is_new_can_be_written_and_the_old_erased(store: SqliteStore, old_file: Path) -> None:
    (chunk,) = store.chunks(BANK, ids=["c1"])
    spoken = replace(chunk, spans=(TurnSpan(start=0, end=20, speaker="Ann", said_at=NOW),))
    store.write(WriteBatch(bank=BANK, chunks=[spoken]))
    assert store.chunks(BANK, ids=["c1"]) == [spoken]
    assert store.forget(BANK, Target(document_id="d1")) == 2
    assert b"Oslo" not in old_file.read_bytes()
    assert store.facts(BANK, ["f3"])[0].document_id == "d2"


def test_chunks_keep_every_field(tmp_path: Path) -> None:
    spans = (
        TurnSpan(start=0, end=4, speaker="Ann", said_at=NOW),
        TurnSpan(start=5, end=9, speaker="bot", is_agent=True),
    )
    chunk = Chunk(
        id="c", bank=BANK, document_id="d", ordinal=3, text="text more", content_hash="h", spans=spans
    )
    with closing(SqliteStore.open(tmp_path / "new.db")) as store:
        store.write(WriteBatch(bank=BANK, chunks=[chunk]))
    with closing(SqliteStore.open(tmp_path / "new.db")) as store:
        assert store.chunks(BANK, document_id="d") == [chunk]


def test_steps_run_in_order_and_together(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = migrate.SCHEMA
    monkeypatch.setattr(migrate, "SCHEMA", last + 2)
    monkeypatch.setitem(migrate.STEPS, last + 1, "CREATE TABLE extra (no INTEGER PRIMARY KEY);")
    monkeypatch.setitem(
        migrate.STEPS, last + 2, "INSERT INTO extra VALUES (1);\nINSERT INTO missing VALUES (1);"
    )
    before = shape(old_file)
    with pytest.raises(StoreError, match="missing"):
        SqliteStore.open(old_file)
    assert shape(old_file) == before
    monkeypatch.setitem(
        migrate.STEPS, last + 2, "INSERT INTO extra VALUES (1);\nINSERT INTO extra VALUES (2);"
    )
    with closing(SqliteStore.open(old_file)) as store:
        assert len(store.facts(BANK, ["f1", "f2", "f3"])) == 3
    with closing(sqlite3.connect(old_file)) as raw:
        assert raw.execute("SELECT count(*) FROM extra").fetchone() == (2,)
        assert raw.execute("PRAGMA user_version").fetchone() == (last + 2,)
