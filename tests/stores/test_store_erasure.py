"""Erasure is real: once traces are cleared, neither text nor vectors are anywhere in the files; and nothing else is harmed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Thread

import numpy as np
import pytest
import store_worker

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, Fact
from perdure.domain.filter import Filter
from perdure.domain.record import Record
from perdure.ports.probe import FuzzyProbe, SemanticProbe
from perdure.ports.store import FactsWhere, Features, KeyedEntity, NewFact, StagedVectors, Traces
from perdure.stores.sqlite import traces
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, NOW

LETTERS = "bcdfghjklmnpqrstvwxz"
MODEL = EmbeddingModel("model", 32)
WORKER = Path(store_worker.__file__)
QUICK, FULL = 6, 100


@dataclass(frozen=True)
class Content:
    """What can be searched for in the files."""

    words: list[str]
    vector: np.ndarray

    def in_bytes(self) -> list[bytes]:
        """Words, and the vector as float16 and as int8 codes."""
        codes = np.rint(self.vector * (127 / np.abs(self.vector).max())).astype(np.int8)
        return [*(word.encode() for word in self.words), self.vector.astype("<f2").tobytes(), codes.tobytes()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        yield store


READ = "import sys; [sys.stdout.buffer.write(open(path, 'rb').read()) for path in sys.argv[1:]]"


def bytes_of(folder: Path) -> bytes:
    """All files; read by another process, as closing them here would drop the locks of this one."""
    paths = [str(path) for path in sorted(folder.iterdir())]
    return subprocess.run([sys.executable, "-c", READ, *paths], check=True, capture_output=True).stdout


def draw(random: Random) -> Content:
    words = ["".join(random.choices(LETTERS, k=14)) for _ in range(4)]
    vector = np.array([random.gauss(0, 1) for _ in range(MODEL.dimensions)], np.float32)
    return Content(words, vector / np.float32(np.linalg.norm(vector)))


def write(store: SqliteStore, key: str, content: Content, size: int = 1) -> None:
    """A document with one fact whose words occur nowhere else; `size` makes its rows long."""
    words = content.words
    text = " ".join(words * size)
    fact = Fact(
        id=f"fact-{key}",
        bank=BANK,
        text=text,
        document_id=f"doc-{key}",
        chunk_id=f"chunk-{key}",
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
        vectors={"fact": content.vector},
        terms=dict.fromkeys(words, 1.0),
        words=tuple(words),
        dedupe_key=text,
        passage=text,
        passage_in_context=f"{text} {text}",
    )
    chunk = Chunk(
        id=f"chunk-{key}", bank=BANK, document_id=f"doc-{key}", ordinal=0, text=text, content_hash="h"
    )
    entity = Entity(id=f"entity-{words[0]}", bank=BANK, name=words[0], aliases=(words[1],))
    with store.transaction(BANK) as tx:
        tx.set_model(MODEL)
        tx.put_documents([Document(id=f"doc-{key}", bank=BANK, title=text, context=text)])
        tx.put_chunks([chunk])
        tx.put_entities([KeyedEntity(entity, (words[0], words[1]))])
        if tx.facts([fact.id]):
            tx.update_facts([fact])
            tx.put_features({fact.id: features})
        else:
            tx.insert_facts([NewFact(fact, features)])
        staged = StagedVectors(fact.id, {"fact": content.vector})
        tx.stage_vectors(EmbeddingModel("next", MODEL.dimensions), [staged])


def erase(store: SqliteStore, *keys: str) -> None:
    with store.transaction(BANK) as tx:
        facts = tx.find_facts(FactsWhere(document_ids=[f"doc-{key}" for key in keys]))
        tx.delete_facts([fact.id for fact in facts])
        tx.delete_documents([f"doc-{key}" for key in keys])
        tx.delete_chunks([f"chunk-{key}" for key in keys])
        tx.delete_entities([entity_id for fact in facts for entity_id in fact.entity_ids])
        tx.erased_content()


def fill(store: SqliteStore, random: Random, count: int) -> dict[str, Content]:
    """Documents of very different sizes, so that rows move between pages and spill over."""
    written = {str(number): draw(random) for number in range(count)}
    for key, content in written.items():
        write(store, key, content, random.choice((1, 1, 5, 60)))
    return written


def assert_erased(folder: Path, *erased: Content) -> None:
    held = bytes_of(folder)
    for content in erased:
        assert not [part for part in content.in_bytes() if part in held]


def test_the_test_can_see_what_is_written(store: SqliteStore, folder: Path) -> None:
    content = fill(store, Random(1), 3)["1"]
    held = bytes_of(folder)
    *parts, _ = content.in_bytes()
    assert all(part in held for part in parts)


@pytest.mark.parametrize("seed", [0])
def test_erased_documents_leave_no_byte(store: SqliteStore, folder: Path, seed: int) -> None:
    random = Random(seed)
    written = fill(store, random, 60)
    with store.reading(BANK) as reading:
        reading.search(SemanticProbe(np.ones(MODEL.dimensions, np.float32)), Filter(now=NOW), 5)
        reading.search(FuzzyProbe((written["3"].words[0],)), Filter(now=NOW), 5)
    for key in random.sample(sorted(written), 40):
        erase(store, key)
        assert store.clear_traces() is Traces.CLEARED
        assert_erased(folder, written.pop(key))
    held = bytes_of(folder)
    assert all(word.encode() in held for content in written.values() for word in content.words)


def test_an_erased_bank_leaves_no_byte(store: SqliteStore, folder: Path) -> None:
    written = fill(store, Random(7), 30)
    with store.transaction(BANK) as tx:
        tx.put_records([Record(kind="operation", id="o", body={"text": written["1"].words[0]})])
        tx.delete_bank()
        tx.erased_content()
    assert store.clear_traces() is Traces.CLEARED
    assert_erased(folder, *written.values())


def test_what_an_erased_fact_said_before_leaves_no_byte_either(store: SqliteStore, folder: Path) -> None:
    random = Random(9)
    written = fill(store, random, 20)
    after = draw(random)
    write(store, "5", after, 20)
    erase(store, "5")
    with store.transaction(BANK) as tx:
        tx.delete_entities([f"entity-{written['5'].words[0]}"])
    assert store.clear_traces() is Traces.CLEARED
    assert_erased(folder, written["5"], after)


def assert_sound(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_erasure_is_pending_until_it_is_cleared_in_whatever_process(folder: Path) -> None:
    random = Random(13)
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        written = fill(store, random, 30)
        erase(store, *written)
        assert store.traces() is Traces.PENDING
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        assert store.traces() is Traces.PENDING
        assert store.clear_traces() is Traces.CLEARED
        assert store.traces() is Traces.CLEARED
        assert_erased(folder, *written.values())


def test_a_reader_of_the_old_state_leaves_the_erasure_pending(folder: Path) -> None:
    with closing(SqliteStore.open(folder / "memory.db", busy_timeout_ms=100)) as store:
        written = fill(store, Random(15), 5)
        with closing(sqlite3.connect(folder / "memory.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM fact").fetchone()
            erase(store, "1")
            assert store.clear_traces() is Traces.PENDING
            reader.execute("COMMIT")
        assert store.clear_traces() is Traces.CLEARED
        assert_erased(folder, written["1"])


def test_clearing_a_large_file_gives_way_to_writers_until_it_was_interrupted_too_often(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vacuum, writers = traces._vacuum, []

    def vacuum_while_a_writer_waits(writer: sqlite3.Connection, connections: Connections) -> None:
        thread = Thread(target=lambda: write(store, len(writers)))
        writers.append(thread)
        thread.start()
        while not connections._waiting:
            time.sleep(0.001)
        vacuum(writer, connections)

    def write(store: SqliteStore, number: int) -> None:
        with store.transaction(BANK) as tx:
            tx.put_records([Record(kind="kind", id=str(number), bank=BANK)])

    with closing(SqliteStore.open(folder / "memory.db")) as store:
        written = fill(store, Random(17), 5)
        erase(store, "1")
        monkeypatch.setattr(traces, "SMALL_FILE", 0)
        monkeypatch.setattr(traces, "_vacuum", vacuum_while_a_writer_waits)
        monkeypatch.setattr("perdure.stores.sqlite.connections._STEPS_BETWEEN_LOOKS", 10)
        outcomes = [store.clear_traces() for _ in range(traces.MOST_INTERRUPTED + 1)]
        for thread in writers:
            thread.join()
        assert outcomes == [Traces.PENDING] * traces.MOST_INTERRUPTED + [Traces.CLEARED]
        with store.reading(BANK) as reading:
            assert len(reading.records("kind")) == len(writers)
        assert_erased(folder, written["1"])
    assert_sound(folder / "memory.db")


def run_kills(folder: Path, kills: int) -> None:
    """Kill a process that erases, at random moments: the file stays sound, and what counts as cleared is."""
    random, path = Random(kills), folder / "memory.db"
    begun, done = set[str](), set[str]()
    for turn in range(kills):
        with closing(SqliteStore.open(path)) as store:
            for number in range(8 * turn, 8 * turn + 8):
                store_worker.write_document(store, "e", number)
        process = subprocess.Popen(
            [sys.executable, str(WORKER), "erase", str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(1 + random.randrange(7))]
        time.sleep(random.random() * 0.03)
        process.send_signal(signal.SIGKILL)
        said += [line for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
        for line in said:
            word, _, key = line.strip().partition(" ")
            if key:
                (begun if word == "erasing" else done).add(key)
        check_after_kill(folder, begun, done)


def check_after_kill(folder: Path, begun: set[str], done: set[str]) -> None:
    assert_sound(folder / "memory.db")
    with closing(SqliteStore.open(folder / "memory.db")) as store:
        with store.reading(store_worker.BANK) as reading:
            living = {document.id for document in reading.documents()}
            assert reading.stats().facts == store_worker.FACTS * len(living), "a document is half there"
        assert not living & done, "an acknowledged erasure is undone"
        cleared = begun - living if store.traces() is Traces.CLEARED else done
        file_bytes = bytes_of(folder)
        assert not [key for key in cleared if f"{key} fact 0 ".encode() in file_bytes]


def test_an_erasure_killed_in_the_middle_harms_nothing(folder: Path) -> None:
    run_kills(folder, QUICK)


@pytest.mark.long
def test_an_erasure_killed_a_hundred_times_harms_nothing(folder: Path) -> None:
    run_kills(folder, FULL)
