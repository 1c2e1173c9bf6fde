"""Files of every released schema read as what was written into them, whatever becomes of the classes."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from perdure.domain.fact import Chunk, Document, Entity, Fact, TurnSpan
from perdure.domain.record import Record
from perdure.ports.store import Features, Proof
from perdure.stores.sql import columns, feed, queries
from perdure.stores.sqlite.schema import SCHEMA
from perdure.stores.sqlite.store import SqliteStore
from tests.golden import reading
from tests.golden.reading import read_staged, read_store
from tests.golden.write import fill

GOLDEN = Path(reading.__file__).parent


def load(path: Path, schema: int = SCHEMA) -> Path:
    """Make the golden file."""
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript((GOLDEN / f"schema_{schema}.sql").read_text(encoding="utf-8"))
    return path


def expected() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((GOLDEN / f"schema_{SCHEMA}.json").read_text(encoding="utf-8"))
    return stored


def check(path: Path) -> None:
    """Assert that the file reads as it must, fact by fact."""
    right = expected()
    with closing(SqliteStore.open(path)) as store:
        read = read_store(store)
        assert read["banks"].keys() == right["banks"].keys()
        for bank, content in right["banks"].items():
            for part, rows in content.items():
                if part == "facts":
                    for fact, got in zip(rows, read["banks"][bank][part], strict=True):
                        assert got == fact
                else:
                    assert read["banks"][bank][part] == rows, (bank, part)
        assert read["shared_records"] == right["shared_records"]
        assert read_staged(store, "home", "f-full") == right["staged"]
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert raw.execute("PRAGMA user_version").fetchone() == (SCHEMA,)


def test_the_golden_file_reads_as_what_was_written(tmp_path: Path) -> None:
    check(load(tmp_path / "memory.db"))


def test_a_file_of_the_schema_before_is_upgraded_and_keeps_everything_but_token_vectors(
    tmp_path: Path,
) -> None:
    check(load(tmp_path / "memory.db", 7))


def test_a_file_of_schema_6_is_upgraded_too(tmp_path: Path) -> None:
    with closing(SqliteStore.open(load(tmp_path / "memory.db", 6))) as store:
        assert read_store(store)["banks"].keys() == expected()["banks"].keys()


def test_the_code_of_today_writes_the_golden_file_of_today(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        fill(store, expected())
    check_rows(path, load(tmp_path / "golden.db"))


def check_rows(path: Path, golden: Path) -> None:
    """Equal rows in every table, but for times of change, packed bodies and counters."""
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(golden)) as right:
        tables = (
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        names = [name for (name,) in right.execute(tables)]
        assert [name for (name,) in raw.execute(tables)] == names
        for name in set(names) - {"bank", "erasure", "record", "shared_record"}:
            query = f"SELECT * FROM {name} ORDER BY 1, 2, 3"
            assert raw.execute(query).fetchall() == right.execute(query).fetchall(), name


def permuted(kind: type[Any], random: Random) -> type[Any]:
    """The dataclass with its fields in another order."""
    shuffled = list(dataclasses.fields(kind))
    random.shuffle(shuffled)
    shown = [
        (
            one.name,
            one.type,
            dataclasses.field(
                **{
                    name: getattr(one, name)
                    for name in ("default", "default_factory")
                    if getattr(one, name) is not dataclasses.MISSING
                }
            ),
        )
        for one in shuffled
    ]
    methods = {
        name: value
        for name, value in vars(kind).items()
        if isinstance(value, property) or (callable(value) and name == "__post_init__")
    }
    return dataclasses.make_dataclass(
        kind.__name__, shown, namespace=methods, frozen=True, slots=True, kw_only=True
    )


@pytest.fixture(params=range(3))
def shuffled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All classes that are stored, with their fields in another order."""
    random = Random(request.param)
    homes = {
        Fact: (columns,),
        Features: (queries, feed),
        Document: (queries,),
        Chunk: (queries,),
        TurnSpan: (queries,),
        Entity: (queries,),
        Record: (queries,),
    }
    for kind, modules in homes.items():
        other = permuted(kind, random)
        assert [one.name for one in dataclasses.fields(other)] != [
            one.name for one in dataclasses.fields(kind)
        ]
        for module in modules:
            monkeypatch.setattr(module, kind.__name__, other)
    return None


@pytest.mark.usefixtures("shuffled")
def test_the_order_of_fields_in_a_class_means_nothing_to_a_file(tmp_path: Path) -> None:
    check(load(tmp_path / "memory.db"))


def test_every_field_of_what_is_stored_has_a_column() -> None:
    lists = {"entities", "entity_ids", "tags", "source_fact_ids"}
    for kind, names, elsewhere in (
        (Fact, columns.FACT_ROW, {"bank", *lists}),
        (Features, columns.FEATURES, {"vectors"}),
        (Document, columns.DOCUMENT, {"bank", "tags"}),
        (Chunk, columns.CHUNK, {"bank", "spans"}),
        (TurnSpan, columns.TURN, set[str]()),
        (Entity, columns.ENTITY, {"bank"}),
        (Record, columns.RECORD, {"bank"}),
        (Proof, columns.PROOF, {"fact_id"}),
    ):
        fields = [field.name for field in dataclasses.fields(kind)]
        assert sorted(fields) == sorted({*names, *elsewhere}), kind
