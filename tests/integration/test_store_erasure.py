"""Erasure is real: after forget, neither the text nor its words are anywhere in the files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from io import FileIO
from pathlib import Path
from random import Random

import numpy as np
import pytest
from perdure.stores.sqlite.secure_erase import clear_gaps

from perdure.domain.fact import Chunk, Document, Entity, Fact
from perdure.domain.filter import Filter
from perdure.errors import StoreLocked
from perdure.ports.probe import FuzzyProbe, SemanticProbe
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, Target, WriteBatch
from perdure.stores.sqlite import connections, segments
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import BANK, MODEL, NOW

LETTERS = "bcdfghjklmnpqrstvwxz"


@pytest.fixture(autouse=True, params=[segments.SEGMENT, 7], ids=["rows", "packed"])
def segment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts are rows alone, or packed in segments too."""
    monkeypatch.setattr(segments, "SEGMENT", request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        yield store


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def unique_words(random: Random, count: int) -> list[str]:
    return ["".join(random.choices(LETTERS, k=14)) for _ in range(count)]


def batch(random: Random, ident: str, words: list[str], size: int = 1) -> WriteBatch:
    """A document with one fact whose words occur nowhere else; `size` makes its rows long."""
    text = " ".join(words * size)
    vector = np.array([random.gauss(0, 1) for _ in range(MODEL.dimensions)], np.float32)
    fact = Fact(
        id=f"fact-{ident}",
        bank=BANK,
        text=text,
        document_id=f"doc-{ident}",
        chunk_id=f"chunk-{ident}",
        source_text=text,
        original_text=text,
        speaker=words[0],
        context=words[1],
        subject=words[0],
        relation=words[1],
        object=words[2],
        entities=(words[0],),
        entity_ids=(f"entity-{words[0]}",),
        tags=frozenset({words[3]}),
        metadata={words[2]: words[3]},
        topic=words[1],
    )
    features = Features(
        vectors={"fact": vector / np.float32(np.linalg.norm(vector))},
        terms=dict.fromkeys(words, 1.0),
        words=tuple(words),
        tokens=words[0].encode(),
        dedupe_key=text,
        passage=text,
    )
    return WriteBatch(
        bank=BANK,
        model=MODEL,
        documents=[Document(id=f"doc-{ident}", bank=BANK, title=text, context=text)],
        chunks=[
            Chunk(
                id=f"chunk-{ident}",
                bank=BANK,
                document_id=f"doc-{ident}",
                ordinal=0,
                text=f"so it began: {text} and ended",
                content_hash="h",
            )
        ],
        entities=[
            KeyedEntity(
                Entity(id=f"entity-{words[0]}", bank=BANK, name=words[0], aliases=(words[1],)),
                (words[0], words[1]),
            )
        ],
        facts=[NewFact(fact, features)],
    )


def assert_erased(folder: Path, words: list[str]) -> None:
    held = bytes_of(folder)
    for word in words:
        assert word.encode() not in held, word


def fill(store: SqliteStore, random: Random, count: int) -> dict[str, list[str]]:
    """Documents of very different sizes, so that rows move between pages and spill over."""
    written = {}
    for number in range(count):
        words = unique_words(random, 4)
        written[str(number)] = words
        store.write(batch(random, str(number), words, random.choice((1, 1, 5, 60))))
    return written


def test_the_test_can_see_what_is_written(store: SqliteStore, folder: Path) -> None:
    words = fill(store, Random(1), 3)["1"]
    held = bytes_of(folder)
    assert all(word.encode() in held for word in words)


@pytest.mark.parametrize("seed", range(3))
def test_forgotten_documents_leave_no_byte(store: SqliteStore, folder: Path, seed: int) -> None:
    random = Random(seed)
    written = fill(store, random, 60)
    store.search(BANK, SemanticProbe(np.ones(MODEL.dimensions, np.float32)), Filter(now=NOW), 5)
    store.search(BANK, FuzzyProbe((written["3"][0],)), Filter(now=NOW), 5)
    for ident in random.sample(sorted(written), 40):
        assert store.forget(BANK, Target(document_id=f"doc-{ident}")) == 1
        assert_erased(folder, written.pop(ident))
    held = bytes_of(folder)
    for words in written.values():
        assert all(word.encode() in held for word in words)


@pytest.mark.parametrize("seed", range(3))
def test_forgotten_facts_leave_no_byte(store: SqliteStore, folder: Path, seed: int) -> None:
    random = Random(100 + seed)
    written = fill(store, random, 40)
    for ident in random.sample(sorted(written), 20):
        assert store.forget(BANK, Target(fact_id=f"fact-{ident}")) == 1
        assert_erased(folder, written[ident])


def test_a_forgotten_bank_leaves_no_byte(store: SqliteStore, folder: Path) -> None:
    written = fill(store, Random(7), 30)
    store.save_bank(store.banks()[0])
    assert store.forget(BANK, Target(bank=True)) == 30
    for words in written.values():
        assert_erased(folder, words)


def test_what_a_forgotten_fact_said_before_leaves_no_byte_either(store: SqliteStore, folder: Path) -> None:
    random = Random(9)
    written = fill(store, random, 20)
    before, after = written["5"], unique_words(random, 4)
    anew = batch(random, "5", after, 20)
    store.write(
        WriteBatch(
            bank=BANK,
            model=MODEL,
            documents=anew.documents,
            chunks=anew.chunks,
            entities=anew.entities,
            removed_entities=[f"entity-{before[0]}"],
            updates=[new.fact for new in anew.facts],
            features={new.fact.id: new.features for new in anew.facts},
        )
    )
    assert store.forget(BANK, Target(document_id="doc-5")) == 1
    assert_erased(folder, before + after)


def test_an_interrupted_erasure_is_finished_by_the_next_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(13)
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        written = fill(store, random, 30)
        monkeypatch.setattr(store._connections, "expunge", lambda: None)
        for ident in sorted(written):
            store.forget(BANK, Target(document_id=f"doc-{ident}"))
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        assert store.forget(BANK, Target(document_id="doc-1")) == 0
        for words in written.values():
            assert_erased(folder, words)


def test_a_fact_that_two_documents_prove_survives_one_of_them(store: SqliteStore, folder: Path) -> None:
    random = Random(11)
    written = fill(store, random, 3)
    proof = Proof(fact_id="fact-1", document_id="doc-2", chunk_id="chunk-2", seen_at=NOW)
    store.write(WriteBatch(bank=BANK, proofs=[proof]))
    assert store.forget(BANK, Target(document_id="doc-1")) == 0
    assert store.facts(BANK, ["fact-1"])[0].document_id == "doc-2"
    assert b"so it began: " + " ".join(written["1"]).encode() not in bytes_of(folder)


def leave_traces(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], dict[str, list[str]]]:
    """Erase documents without removing traces; returns the words that are gone and those that are not."""
    random = Random(2)
    written = fill(store, random, 60)
    with monkeypatch.context() as patched:
        patched.setattr(store._connections, "expunge", lambda: None)
        erased = []
        for ident in random.sample(sorted(written), 40):
            store.forget(BANK, Target(document_id=f"doc-{ident}"))
            erased += written.pop(ident)
    return erased, written


def rows_of(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as raw:
        return [line for line in raw.iterdump() if "residue" not in line]


def test_clearing_traces_changes_no_row(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    erased, _ = leave_traces(store, monkeypatch)
    store._connections._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    traces = bytes_of(folder)
    assert any(word.encode() in traces for word in erased)
    before = rows_of(folder / "memory.db")
    store._connections.expunge()
    assert_erased(folder, erased)
    assert rows_of(folder / "memory.db") == before
    with closing(sqlite3.connect(folder / "memory.db")) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def touch_every_page(store: SqliteStore) -> None:
    """Write rows where they are, so that pages go to the file as this store's writer holds them."""
    with store._connections.writing() as db:
        db.execute("UPDATE document SET created_at = created_at + 1")
        db.execute("UPDATE entity SET mentions = mentions + 1")
        db.execute("UPDATE entity_key SET entity = upper(entity)")
        db.execute("UPDATE feature SET signature = zeroblob(length(signature))")
        db.execute("UPDATE fact SET open_key = upper(open_key), document_id = upper(document_id)")


@pytest.mark.parametrize("toucher", ["the same", "another"])
def test_pages_that_a_connection_holds_do_not_come_back(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch, toucher: str
) -> None:
    with closing(SqliteStore.open(folder / "memory.db")) as other:
        erased, _ = leave_traces(store, monkeypatch)
        holder = other if toucher == "another" else store
        store._connections._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert holder._connections._writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        store._connections.expunge()
        assert_erased(folder, erased)
        touch_every_page(holder)
        assert_erased(folder, erased)


def test_pages_that_are_read_just_before_gaps_are_cleared_do_not_come_back(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit after clearing is what makes the other connection read them again before it writes."""
    read: list[bytes] = []
    with closing(SqliteStore.open(folder / "memory.db")) as other:
        erased, _ = leave_traces(store, monkeypatch)

        def read_then_clear(file: FileIO | None) -> bool:
            assert other._connections._writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            read.append(bytes_of(folder))
            return clear_gaps(file)

        monkeypatch.setattr(connections, "clear_gaps", read_then_clear)
        store._connections.expunge()
        assert any(word.encode() in read[0] for word in erased)
        assert_erased(folder, erased)
        touch_every_page(other)
        assert_erased(folder, erased)


@pytest.mark.parametrize("obstacle", ["unfit file", "busy log"])
def test_where_traces_cannot_be_cleared_the_file_is_built_anew(
    store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    erased, kept = leave_traces(store, monkeypatch)
    if obstacle == "unfit file":
        monkeypatch.setattr(connections, "clear_gaps", lambda file: False)
    else:
        monkeypatch.setattr(store._connections, "_log_size", lambda: 1)
    first = next(iter(kept))
    assert store.forget(BANK, Target(document_id=f"doc-{first}")) == 1
    assert_erased(folder, erased + kept.pop(first))
    assert len(store.facts(BANK, [f"fact-{ident}" for ident in kept])) == len(kept)


def test_a_file_with_pages_of_unknown_form_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        fill(store, Random(5), 20)
    content = bytearray(path.read_bytes())
    content[4096 * 7] = 77
    path.write_bytes(content)
    with FileIO(path, "r+") as file:
        assert not clear_gaps(file)
    assert path.read_bytes() == content


def test_erasing_keeps_the_locks_of_every_store_on_the_file(store: SqliteStore, folder: Path) -> None:
    """A process that lost its locks would have its log deleted by the next one that closes the file."""
    path = folder / "memory.db"
    random = Random(17)
    words = fill(store, random, 5)
    with closing(SqliteStore.open(path)) as other:
        assert other.forget(BANK, Target(document_id="doc-1")) == 1
        assert store.forget(BANK, Target(document_id="doc-2")) == 1
        other.write(batch(random, "x", unique_words(random, 4)))
    store.write(batch(random, "y", unique_words(random, 4)))
    look = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM fact').fetchone()[0])"
    seen = subprocess.run([sys.executable, "-c", look, str(path)], check=True, capture_output=True, text=True)
    assert int(seen.stdout) == len(words) - 2 + 2
    assert (folder / "memory.db-wal").exists()


EMPTYING = """
import fcntl, sys, time
with open(sys.argv[1] + "-shm", "r+b") as shared:
    fcntl.lockf(shared, fcntl.LOCK_EX, 1, 121)
    print("locked", flush=True)
    time.sleep(float(sys.argv[2]))
"""
"""Holds the lock of a process that is emptying the log: byte 121 of the shared memory (sqlite.org/walformat.html)."""


def emptying_elsewhere(folder: Path, seconds: float) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", EMPTYING, str(folder / "memory.db"), str(seconds)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    return process


def test_erasing_waits_for_another_process_that_empties_the_log(store: SqliteStore, folder: Path) -> None:
    words = fill(store, Random(21), 3)["1"]
    with emptying_elsewhere(folder, 0.5):
        store.forget(BANK, Target(document_id="doc-1"))
    assert_erased(folder, words)


def test_erasing_does_not_wait_forever_for_the_log(folder: Path) -> None:
    with closing(SqliteStore.open(folder / "memory.db", busy_timeout_ms=100)) as store:
        fill(store, Random(22), 3)
        with emptying_elsewhere(folder, 2.0), pytest.raises(StoreLocked, match="call forget again"):
            store.forget(BANK, Target(document_id="doc-1"))
        store.forget(BANK, Target(document_id="doc-2"))
