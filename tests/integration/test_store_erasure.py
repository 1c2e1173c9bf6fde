"""Erasure is real: after forget, neither the text nor its words are anywhere in the files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest

from perdure.domain.fact import Chunk, Document, Entity, Fact
from perdure.domain.filter import Filter
from perdure.ports.probe import FuzzyProbe, SemanticProbe
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, Target, WriteBatch
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import BANK, MODEL, NOW

LETTERS = "bcdfghjklmnpqrstvwxz"


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
