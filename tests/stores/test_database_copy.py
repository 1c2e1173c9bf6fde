"""Banks go from SQLite to PostgreSQL and back, whole, however often the way is interrupted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from perdure import Conflict, NotFound, Settings
from perdure.databases import copy_banks
from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Document, TurnSpan
from perdure.domain.record import Record
from perdure.ports.store import Proof, StagedVectors
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql import copying
from perdure.stores.sql.transaction import BANK_TABLES
from perdure.stores.sqlite.store import SqliteStore
from perdure.surfaces.cli.main import main
from perdure.testing import make_chunk
from tests.support.agreement import assert_same_memory, assert_same_search
from tests.support.postgres import new_database
from tests.support.sampler import MODEL, START, Sampler

OTHER = EmbeddingModel("other", MODEL.dimensions)


def fill(path: Path, *banks: str) -> Sampler:
    """A file whose banks have rows in every table."""
    with closing(SqliteStore.open(path, clock=lambda: START)) as store:
        for bank in banks:
            sampler = Sampler(Random(3), bank=bank)
            facts = [sampler.new_fact() for _ in range(60)]
            tagged = Document(id="tagged", bank=bank, tags=frozenset({"a", "ä"}))
            spoken = replace(
                make_chunk("spoken", "tagged", "Ann: hi"),
                bank=bank,
                spans=(TurnSpan(start=0, end=7, speaker="Ann", is_agent=True),),
            )
            with store.transaction(bank) as tx:
                tx.set_model(MODEL)
                tx.put_documents([*sampler.documents(), tagged])
                tx.put_chunks([*sampler.chunks(), spoken])
                tx.put_entities(sampler.entities())
                tx.insert_facts(facts)
                tx.put_links(sampler.links(80))
                tx.update_facts([replace(facts[5].fact, source_fact_ids=(facts[6].fact.id,))])
            with store.transaction(bank) as tx:
                tx.delete_facts([facts[7].fact.id])
                tx.add_proofs([Proof(facts[8].fact.id, "tagged", "spoken", START)])
                tx.stage_vectors(OTHER, [StagedVectors(facts[0].fact.id, {"fact": sampler.vector()})])
                tx.put_records(
                    [Record(kind="a kind that nobody knows", id="1", body={"text": "日本 \u2028"})]
                )
            store.record_recalls(bank, [(facts[1].fact.id, START)])
        store.put_shared_records([Record(kind="api_key", id="k", body={"digest": "x"})])
    return sampler


@pytest.fixture
def file(tmp_path: Path) -> Path:
    fill(tmp_path / "memory.db", "ann", "bob")
    return tmp_path / "memory.db"


@pytest.fixture
def url() -> Iterator[str]:
    with new_database() as url:
        yield url


def settings(database: str | Path) -> Settings:
    return Settings(database=str(database))


def test_every_table_of_a_bank_is_copied() -> None:
    assert set(copying.KEYS) == set(BANK_TABLES)


def test_there_and_back_gives_the_same_banks(file: Path, url: str, tmp_path: Path) -> None:
    there = copy_banks(url, settings=settings(file))
    back = copy_banks(str(tmp_path / "back.db"), settings=settings(url))
    assert [copy.bank for copy in there] == ["ann", "bob"]
    assert [(copy.rows, copy.digest) for copy in back] == [(copy.rows, copy.digest) for copy in there]
    assert there[0].facts == 59
    assert min(there[0].rows.values()) > 0
    assert not any(copy.was_there or copy.changed_meanwhile for copy in (*there, *back))
    sampler = Sampler(Random(4), bank="bob")
    with (
        closing(SqliteStore.open(file)) as source,
        closing(PostgresStore.open(url)) as server,
        closing(SqliteStore.open(tmp_path / "back.db")) as target,
    ):
        for store in (server, target):
            assert store.banks() == source.banks()
            assert_same_memory(source, store, "bob", sampler.filter())
            for probe in sampler.probes():
                assert_same_search(source, store, "bob", probe, sampler.filter(), 50)
            kind = "a kind that nobody knows"
            with source.reading("ann") as ours, store.reading("ann") as theirs:
                assert theirs.records(kind) == ours.records(kind)
            assert store.shared_records("api_key") == source.shared_records("api_key")
            with store.transaction("bob") as tx:
                assert len(tx.unstaged_facts(OTHER)) == 58
                tx.insert_facts([sampler.new_fact()])


class Interrupted(Exception):
    pass


def test_an_interrupted_copy_is_invisible_and_is_made_again(
    file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BLOCK", 1)

    def stop_at_vectors(bank: str, table: str, rows: int) -> None:
        if table == "vector":
            raise Interrupted

    with pytest.raises(Interrupted):
        copy_banks(url, banks=["ann"], settings=settings(file), progress=stop_at_vectors)
    with closing(PostgresStore.open(url)) as store:
        assert store.banks() == []
    (copy,) = copy_banks(url, banks=["ann"], settings=settings(file))
    assert copy.facts == 59
    with closing(PostgresStore.open(url)) as store:
        assert [bank.id for bank in store.banks()] == ["ann"]
        assert store.shared_records(copying.INCOMING) == []


def test_copying_again_changes_nothing_and_another_bank_of_the_name_is_refused(
    file: Path, url: str, tmp_path: Path
) -> None:
    first = copy_banks(url, settings=settings(file))
    again = copy_banks(url, settings=settings(file))
    assert [copy.was_there for copy in again] == [True, True]
    assert [copy.digest for copy in again] == [copy.digest for copy in first]
    fill(tmp_path / "other.db", "carl", "ann")
    with (
        closing(SqliteStore.open(tmp_path / "other.db")) as store,
        store.transaction("ann") as tx,
    ):
        tx.delete_facts([tx.unstaged_facts(OTHER)[0]])
    with pytest.raises(Conflict, match="'ann'"):
        copy_banks(url, banks=["ann"], settings=settings(tmp_path / "other.db"))
    with pytest.raises(NotFound):
        copy_banks(url, banks=["nobody"], settings=settings(file))


def test_the_command_copies(file: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["database", "copy", url, "--bank", "ann", "--database", str(file), "--json"]) == 0
    (copy,) = json.loads(capsys.readouterr().out)["banks"]
    assert (copy["bank"], copy["rows"]["fact"], copy["was_there"]) == ("ann", 59, False)
    assert main(["database", "copy", url, "--database", str(file)]) == 0
    told = capsys.readouterr().out
    assert "bank ann: 59 facts, was there already" in told
    assert "bank bob: 59 facts, copied" in told
    assert main(["database", "copy", url, "--abandon", "--database", str(file)]) == 2
