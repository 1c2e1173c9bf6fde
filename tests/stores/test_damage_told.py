"""Damage is told and contained: what cannot be read costs itself, and what was changed is never taken for what was written."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from starlette.testclient import TestClient

from perdure import DamagedRow, NotFound, Perdure
from perdure.domain.damage import Damage
from perdure.domain.fact import Chunk, Document, Link, LinkKind
from perdure.errors import PerdureError
from perdure.stores.sqlite.store import SqliteStore
from perdure.surfaces.rest.app import create_app
from perdure.testing import BANK, browse, make_fact, new, put
from tests.support.rest_server import open_quick

TEXTS = (
    "Ann Hale grows tomatoes in Lisbon.",
    "Ben Stone grows tulips in Porto.",
    "Cleo Marsh grows tea in Faro.",
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        for place, text in enumerate(TEXTS):
            engine.retain("main", text, document_id=f"d{place}")
        yield engine


def edit(engine: Perdure, statement: str, *parameters: object) -> None:
    """Change the file behind the back of everybody."""
    with closing(sqlite3.connect(engine.settings.database)) as raw:
        raw.execute(statement, parameters)
        raw.commit()


def fact_of(engine: Perdure, word: str) -> str:
    (fact,) = engine.facts.list("main", text=word).facts
    return fact.id


DAMAGE = {
    "another text": "UPDATE fact SET text = replace(text, 'tulips', 'turnips') WHERE id = ?",
    "no UTF-8": "UPDATE fact SET text = cast(x'ff' || text AS TEXT) WHERE id = ?",
    "another date": "UPDATE fact SET recorded_at = '1999-01-01T00:00:00+00:00' WHERE id = ?",
    "another name": "UPDATE fact_entity SET name = 'Bob' WHERE fact = (SELECT no FROM fact WHERE id = ?)",
    "a lost tag": "INSERT INTO fact_tag SELECT bank, no, 'planted' FROM fact WHERE id = ?",
    "a count that is none": "UPDATE fact SET proof_count = -3 WHERE id = ?",
    "times that are none": "UPDATE fact SET recall_times = '[17' WHERE id = ?",
}


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_fact_costs_itself_and_is_named(engine: Perdure, statement: str) -> None:
    fact_id = fact_of(engine, "tulips")
    edit(engine, statement, fact_id)
    result = engine.recall("main", "Who grows what in the garden?", track=False)
    assert fact_id not in {one.fact.id for one in result.recollections}
    assert {"tomatoes", "tea"} <= set(" ".join(one.text for one in result.recollections).split())
    assert [part.part for part in result.degraded if fact_id in part.part]
    with pytest.raises(DamagedRow, match="perdure verify") as error:
        engine.facts.get("main", fact_id)
    assert (error.value.kind, error.value.name) == ("fact", fact_id)
    assert len(list(engine.facts.iterate("main"))) == len(TEXTS) - 1
    assert fact_id in {damage.name for damage in engine.database.verify().left}


def test_an_erasure_that_would_pass_over_a_damaged_row_is_refused(engine: Perdure) -> None:
    fact_id = fact_of(engine, "tulips")
    edit(engine, DAMAGE["another text"], fact_id)
    with pytest.raises(DamagedRow):
        engine.forget("main", document_id="d1")
    with pytest.raises(DamagedRow):
        engine.forget("main", fact_id=fact_id)
    assert engine.documents.list("main", ["d1"])
    done = engine.database.verify(repair=True, drop=True)
    assert done.sound
    assert [(one.name, one.repair) for one in done.damage if one.kind == "fact"] == [(fact_id, "deleted")]
    with pytest.raises(NotFound):
        engine.facts.get("main", fact_id)
    engine.forget("main", document_id="d1")
    assert engine.database.verify().sound


def test_no_path_and_no_stored_text_is_in_an_error_over_rest(engine: Perdure) -> None:
    fact_id = fact_of(engine, "tulips")
    edit(engine, DAMAGE["no UTF-8"], fact_id)
    with TestClient(create_app(engine, engine.settings), base_url="http://localhost") as client:
        memory = client.get(f"/v1/default/banks/main/memories/{fact_id}")
        recalled = client.post(
            "/v1/default/banks/main/memories/recall", json={"query": "tulips", "trace": True}
        )
        assert recalled.status_code == 200
        edit(engine, "DROP TABLE fact_features")
        broken = client.post("/v1/default/banks/main/memories/recall", json={"query": "tea"})
        failed = client.delete("/v1/default/banks/main/memories")
        for response in (memory, broken, failed):
            assert engine.settings.database not in response.text
            assert str(Path(engine.settings.database).parent) not in response.text
            assert "tulips" not in response.text
        assert memory.status_code == 500
        assert memory.json()["error"]["code"] == "damaged_row"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with facts, documents, chunks and links."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        numbers = range(60)
        put(
            store,
            *(
                new(
                    make_fact(f"f{n}", f"fact {n} " + "text " * (n * 7 % 400), speaker=f"s{n}", tags=frozenset({f"t{n}"})),
                    words="text",
                )
                for n in numbers
            ),
            documents=[Document(id=f"d{n}", bank=BANK, title=f"title {n}") for n in numbers],
            chunks=[
                Chunk(id=f"c{n}", bank=BANK, document_id=f"d{n}", ordinal=0, text=f"chunk {n} " * (n + 1), content_hash="h")
                for n in numbers
            ],
            links=[Link(f"f{n}", f"f{n - 1}", LinkKind.SEMANTIC, 0.5) for n in numbers if n],
        )  # fmt: skip
    return path


Content = tuple[dict[str, object], dict[str, object], tuple[Damage, ...]]


def content(path: Path) -> Content:
    """What can be read of the facts and chunks, and what is told to be damaged."""
    numbers = range(60)
    with closing(SqliteStore.open(path)) as store, store.reading(BANK) as reading:
        read = {fact.id: fact for fact in reading.facts([f"f{n}" for n in numbers])}
        chunks = {chunk.id: chunk for chunk in reading.chunks(ids=[f"c{n}" for n in numbers])}
        return read, chunks, reading.damaged()


def damage_at_random(data: bytes, random: Random, kind: str) -> bytes:
    damaged = bytearray(data)
    if kind == "bit":
        damaged[random.randrange(100, len(damaged))] ^= 1 << random.randrange(8)
    else:
        page = random.randrange(1, len(damaged) // 4096)
        damaged[page * 4096 : (page + 1) * 4096] = bytes(4096)
    return bytes(damaged)


@pytest.mark.parametrize(("kind", "tries"), [("bit", 40), ("page", 25)])
def test_flipped_bits_and_zeroed_pages_are_never_silent(path: Path, kind: str, tries: int) -> None:
    right, data, random = content(path), path.read_bytes(), Random(kind)
    assert not right[2]
    told = 0
    for _ in range(tries):
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(damage_at_random(data, random, kind))
        try:
            read = content(path)
            with closing(SqliteStore.open(path)) as store:
                verification = store.verify()
        except PerdureError:
            told += 1
            continue
        for before, after in zip(right[:2], read[:2], strict=True):
            assert all(before[name] == one for name, one in after.items()), "changed and taken for true"
            assert len(after) == len(before) or read[2], "lost and not told"
        told += bool(read[2])
        if read[2]:
            assert not verification.sound
    assert told > tries // 5


def write_log(tmp_path: Path) -> Path:
    """A file whose last transactions are in its log alone, as a killed process leaves it."""
    path, left = tmp_path / "memory.db", tmp_path / "left.db"
    with closing(SqliteStore.open(path)) as store:
        put(store, make_fact("a", "the first"))
    with closing(SqliteStore.open(path)) as store:
        for number in range(6):
            put(store, make_fact(f"b{number}", f"text {number}"))
        shutil.copy(path, left)
        shutil.copy(f"{path}-wal", f"{left}-wal")
    return left


def frames(log: bytes) -> list[tuple[int, bool]]:
    """Where each frame of a log starts, and whether it ends a transaction."""
    (page,) = struct.unpack(">I", log[8:12])
    starts = range(32, len(log) - page, 24 + page)
    return [(start, log[start + 4 : start + 8] != bytes(4)) for start in starts]


def test_a_log_that_lost_its_end_to_damage_is_told(tmp_path: Path) -> None:
    path = write_log(tmp_path)
    log = bytearray(Path(f"{path}-wal").read_bytes())
    ends = [start for start, is_end in frames(log) if is_end]
    log[ends[2] + 100] ^= 4
    Path(f"{path}-wal").write_bytes(log)
    with closing(SqliteStore.open(path)) as store:
        assert [fact.id for fact in browse(store).facts] == ["b1", "b0", "a"]
        (damage,) = store.verify(quick=True).damage
        assert damage.kind == "log"
        assert "last 3 transactions" in damage.problem
    with closing(SqliteStore.open(path)) as store:
        put(store, make_fact("c"))
        assert not store.verify().sound
        assert store.verify(repair=True).sound
        assert store.verify().damage == ()


@pytest.mark.parametrize("how", ["whole", "cut off", "half written"])
def test_a_log_whose_writer_was_killed_lost_nothing(tmp_path: Path, how: str) -> None:
    path = write_log(tmp_path)
    log = bytearray(Path(f"{path}-wal").read_bytes())
    last = [start for start, is_end in frames(log) if is_end][-1]
    if how == "cut off":
        log = log[: last + 1000]
    if how == "half written":
        log[last + 1000 :] = os_noise(len(log) - last - 1000)
    Path(f"{path}-wal").write_bytes(log)
    with closing(SqliteStore.open(path)) as store:
        assert len(browse(store).facts) == (7 if how == "whole" else 6)
        assert store.verify().damage == ()


def os_noise(count: int) -> bytes:
    return Random(count).randbytes(count)
