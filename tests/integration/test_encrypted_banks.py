"""Encrypted banks that go from one database to another, and banks that are encrypted where they are."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from perdure import Conflict, NotFound, Perdure, Settings, Unavailable
from perdure.databases import abandon_copies, copy_banks, encrypt_bank
from perdure.domain.fact import Document
from perdure.domain.record import Record
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.ports.store import Features, NewFact, Store, Traces
from perdure.stores.postgres import encrypting
from perdure.stores.postgres.content import COLUMNS, Scope
from perdure.stores.postgres.encrypting import encrypt
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql import copying
from perdure.stores.sqlite.store import SqliteStore
from perdure.surfaces.cli.main import main
from perdure.testing import BANK, make_chunk, make_fact
from tests.integration.test_database_copy import fill
from tests.integration.test_postgres_encryption import SECRET, files_with, write_secret
from tests.postgres import Server, new_database
from tests.sampler import Sampler
from tests.support.agreement import assert_same_memory, assert_same_search

FACTS = 30


class Killed(Exception):
    """The end of the process."""


@pytest.fixture
def urls() -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(new_database()) for _ in range(2)]


@pytest.fixture
def url(urls: list[str]) -> str:
    return urls[0]


def write_facts(store: Store, *ids: str, bank: str = BANK) -> None:
    """Facts of a document and facts of their own by turns, whose texts all name the secret."""
    with store.transaction(bank) as tx:
        tx.put_documents([Document(id="d", bank=bank, title=SECRET)])
        chunk = replace(make_chunk("c", "d", f"all of the {SECRET}"), bank=bank)
        tx.put_chunks([chunk])
        facts = [
            replace(
                make_fact(one, f"{one} of the {SECRET}", document_id="d" if place % 2 else None), bank=bank
            )
            for place, one in enumerate(ids)
        ]
        tx.insert_facts([NewFact(fact, Features(passage=fact.text)) for fact in facts])
        tx.put_records([Record(kind="note", id=one, bank=bank, body={"about": SECRET}) for one in ids])


def texts(store: Store, bank: str = BANK, ids: list[str] | None = None) -> dict[str, str]:
    """What a reading gives of the facts, the chunk and the notes."""
    with store.reading(bank) as reading:
        facts = {fact.id: fact.text for fact in reading.facts(ids or [f"f{n}" for n in range(FACTS)])}
        chunks = {chunk.id: chunk.text for chunk in reading.chunks(document_id="d")}
        notes = {f"note {one.id}": str(one.body["about"]) for one in reading.records("note")}
        assert reading.damaged() == ()
    return facts | chunks | notes


def stored_content(url: str) -> list[str]:
    """Everything that is stored of content which is encrypted where a bank is, in all banks of a database."""
    plain = {"", "{}", "[]"}
    with closing(psycopg.connect(url)) as db:
        rows = [
            row
            for table, columns in COLUMNS.items()
            for row in db.execute(f"SELECT {', '.join(columns)} FROM perdure.{table}".encode())
        ]
    return [value for row in rows for value in row if value is not None and value not in plain]


def key_count(url: str) -> int:
    with closing(psycopg.connect(url)) as db:
        row = db.execute(b"SELECT count(*) FROM perdure.content_key").fetchone()
    assert row is not None
    return int(row[0])


def row_count(url: str) -> int:
    """Rows of all banks in a database, their keys among them."""
    with closing(psycopg.connect(url)) as db:
        counts = [
            db.execute(f"SELECT count(*) FROM perdure.{table}".encode()).fetchone()
            for table in ("content_key", *copying.KEYS)
        ]
    return sum(count[0] for count in counts if count)


# Copying


@pytest.fixture
def file(tmp_path: Path) -> Path:
    fill(tmp_path / "memory.db", "ann", "bob")
    return tmp_path / "memory.db"


def settings(database: str | Path, *, encrypt_content: bool = False) -> Settings:
    return Settings(database=str(database), encrypt_content=encrypt_content)


def copy(source: str | Path, target: str | Path, *, encrypt: bool, **options: Any) -> list[copying.BankCopy]:
    return list(copy_banks(str(target), settings=settings(source, encrypt_content=encrypt), **options))


def test_banks_arrive_encrypted_where_the_setting_says_so_and_come_back_as_they_were(
    file: Path, urls: list[str], tmp_path: Path
) -> None:
    there = copy(file, urls[0], encrypt=True)
    assert [(one.bank, one.encrypted, one.source_encrypted) for one in there] == [
        ("ann", True, False),
        ("bob", True, False),
    ]
    assert all(one.startswith("\x02") for one in stored_content(urls[0]))
    across = copy(urls[0], urls[1], encrypt=True)
    plain = copy(urls[1], tmp_path / "back.db", encrypt=True)
    assert [(one.encrypted, one.source_encrypted) for one in across] == [(True, True)] * 2
    assert [(one.encrypted, one.source_encrypted) for one in plain] == [(False, True)] * 2
    digests = [(one.rows, one.digest) for one in there]
    assert [(one.rows, one.digest) for one in across] == digests
    assert [(one.rows, one.digest) for one in plain] == digests
    assert not set(stored_content(urls[0])) & set(stored_content(urls[1])), "each has keys of its own"
    sampler = Sampler(Random(4), bank="bob")
    with (
        closing(SqliteStore.open(file)) as source,
        closing(PostgresStore.open(urls[1])) as server,
        closing(SqliteStore.open(tmp_path / "back.db")) as target,
    ):
        for store in (server, target):
            assert_same_memory(source, store, "bob", sampler.filter())
            for probe in sampler.probes():
                assert_same_search(source, store, "bob", probe, sampler.filter(), 50)
        assert server.verify().sound
        assert forget(server, "bob", Target(document_id="tagged")).keys_destroyed


def test_an_encrypted_bank_that_is_copied_without_the_setting_is_plain_and_it_says_so(
    file: Path, urls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    copy(file, urls[0], encrypt=True)
    assert main(["database", "copy", urls[1], "--bank", "ann", "--database", urls[0]]) == 0
    assert "READABLE here" in capsys.readouterr().out
    assert not any(one.startswith("\x02") for one in stored_content(urls[1]))
    assert key_count(urls[1]) == 0
    assert copy(urls[0], urls[1], encrypt=False)[0].was_there


@pytest.mark.parametrize("table", ["document", "chunk", "fact", "fact_features", "vector", "record"])
def test_an_interrupted_copy_into_an_encrypting_database_is_made_again(
    tmp_path: Path, url: str, table: str
) -> None:
    file = tmp_path / "memory.db"
    fill(file, "ann")

    def die(bank: str, of: str, rows: int) -> None:
        if of == table:
            raise Killed

    with pytest.raises(Killed):
        copy(file, url, encrypt=True, banks=["ann"], progress=die)
    assert all(one.startswith("\x02") for one in stored_content(url))
    with closing(SqliteStore.open(file)) as source, source.transaction("ann") as tx:
        tx.delete_documents(["tagged"])
        tx.delete_chunks(["spoken"])
    (one,) = copy(file, url, encrypt=True, banks=["ann"])
    assert one.encrypted
    assert one.rows["document"] > 0
    assert all(stored.startswith("\x02") for stored in stored_content(url))
    with closing(PostgresStore.open(url)) as target, closing(SqliteStore.open(file)) as source:
        sampler = Sampler(Random(4), bank="ann")
        assert_same_memory(source, target, "ann", sampler.filter())
        assert target.verify().sound
        assert any("destroyed keys" in told for told in target.pending_traces()), "the document's"
        with target.tables(writing=False) as tables:
            scopes = {scope for (scope,) in tables.select("SELECT scope FROM content_key")}
        assert Scope("document", "tagged").stored not in scopes


@pytest.mark.parametrize("first", [False, True])
def test_a_copy_that_is_made_again_under_another_setting_is_stored_in_one_way(
    file: Path, url: str, first: bool
) -> None:
    def die(bank: str, of: str, rows: int) -> None:
        if of == "vector":
            raise Killed

    with pytest.raises(Killed):
        copy(file, url, encrypt=first, banks=["ann"], progress=die)
    (one,) = copy(file, url, encrypt=not first, banks=["ann"])
    assert one.encrypted is not first
    assert {stored.startswith("\x02") for stored in stored_content(url)} == {not first}


def test_an_abandoned_copy_leaves_no_key(file: Path, url: str) -> None:
    def die(bank: str, of: str, rows: int) -> None:
        if of == "vector":
            raise Killed

    with pytest.raises(Killed):
        copy(file, url, encrypt=True, banks=["ann"], progress=die)
    assert abandon_copies(url, ["ann"], settings=settings(file)) == ["ann"]
    assert (row_count(url), key_count(url)) == (0, 0)
    with closing(PostgresStore.open(url)) as target:
        assert any("destroyed keys" in told for told in target.pending_traces())


# Encrypting where it is


@pytest.fixture
def plain(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(url)) as plain:
        write_facts(plain, *(f"f{number}" for number in range(FACTS)))
        yield plain


def test_a_bank_is_encrypted_where_it_is_and_says_what_is_left(plain: PostgresStore, url: str) -> None:
    before = texts(plain)
    assert SECRET in " ".join(stored_content(url))
    done = encrypt(plain, BANK, wait=0.0)
    assert not done.was_encrypted
    assert done.rows == {"fact": FACTS, "fact_features": FACTS, "document": 1, "chunk": 1, "record": FACTS}
    assert any(one.startswith("erased texts in dead rows") for one in done.pending)
    assert all(one.startswith("\x02") for one in stored_content(url))
    assert texts(plain) == before
    assert plain.verify().sound
    again = encrypt(plain, BANK, wait=0.0)
    assert again.was_encrypted
    assert again.rows == {}
    write_facts(plain, "later")
    assert all(one.startswith("\x02") for one in stored_content(url))
    forgotten = forget(plain, BANK, Target(fact_id="f1"))
    assert not forgotten.keys_destroyed, "dead rows have it as it was"
    assert any(one.startswith("erased texts in dead rows") for one in forgotten.pending)
    assert plain.clear_traces() is Traces.CLEARED
    assert forget(plain, BANK, Target(document_id="d")).keys_destroyed


def test_the_servers_files_lose_what_was_written_before_with_the_traces() -> None:
    own = Server()
    own.start()
    try:
        own.execute("CREATE DATABASE memory")
        holding = files_with(own)
        with closing(PostgresStore.open(own.url("memory"))) as store:
            write_secret(store)
            assert holding(SECRET.encode())
            encrypt(store, BANK, wait=0.0)
            assert holding(SECRET.encode()), "in dead rows and the log"
            assert store.clear_traces() is Traces.CLEARED
            assert holding(SECRET.encode()) == []
            with store.reading(BANK) as reading:
                assert SECRET in reading.facts(["a"])[0].text
    finally:
        own.remove()


@pytest.mark.parametrize("table", list(COLUMNS))
def test_an_interrupted_encryption_leaves_the_bank_usable_and_goes_on(
    plain: PostgresStore, url: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encrypting, "BLOCK", 7)
    before = texts(plain)

    def die(bank: str, of: str, rows: int) -> None:
        if of == table:
            raise Killed

    with pytest.raises(Killed):
        encrypt(plain, BANK, wait=0.0, progress=die)
    assert texts(plain) == before
    with closing(PostgresStore.open(url)) as other:
        assert texts(other) == before
        write_facts(other, "between")
        forgotten = forget(other, BANK, Target(fact_id="f0"))
        assert not forgotten.keys_destroyed, "it may not have been encrypted yet"
        assert any(one.startswith("erased texts") for one in forgotten.pending)
    done = encrypt(plain, BANK, wait=0.0)
    assert not done.was_encrypted
    assert all(one.startswith("\x02") for one in stored_content(url))
    assert texts(plain, ids=["f1", "between"]).keys() >= {"f1", "between"}
    assert plain.verify().sound
    assert plain.clear_traces() is Traces.CLEARED
    assert forget(plain, BANK, Target(fact_id="f1")).keys_destroyed


def test_a_bank_is_read_and_written_while_it_is_encrypted(
    plain: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encrypting, "BLOCK", 10)
    stop = threading.Event()
    written, wrong = ["f1"], list[str]()

    def keep_writing() -> None:
        with closing(PostgresStore.open(url)) as own:
            while not stop.is_set():
                write_facts(own, f"w{len(written)}")
                written.append(f"w{len(written)}")
                time.sleep(0.05)

    def keep_reading() -> None:
        with closing(PostgresStore.open(url)) as own:
            while not stop.is_set():
                asked = written[-5:]
                read = texts(own, ids=asked)
                wrong.extend(one for one in asked if read.get(one) != f"{one} of the {SECRET}")
                wrong.extend(value for value in read.values() if SECRET not in value)

    threads = [threading.Thread(target=keep_writing), threading.Thread(target=keep_reading)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.3)
        encrypt(plain, BANK, wait=1.0)
        time.sleep(0.3)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert wrong == []
    assert len(written) > 5
    assert all(one.startswith("\x02") for one in stored_content(url))
    assert texts(plain, ids=written).keys() >= set(written)


def test_a_bank_that_is_made_anew_meanwhile_is_not_mixed_up(plain: PostgresStore) -> None:
    def make_anew(bank: str, of: str, rows: int) -> None:
        if of == "document":
            with plain.transaction(BANK) as tx:
                tx.delete_bank()
            write_facts(plain, "new")

    with pytest.raises(Conflict, match="deleted and made again"):
        encrypt(plain, BANK, wait=0.0, progress=make_anew)
    assert texts(plain, ids=["new"])["new"] == f"new of the {SECRET}"


def test_text_that_looks_as_if_it_were_encrypted_is_encrypted_too(url: str) -> None:
    with closing(PostgresStore.open(url)) as store:
        with store.transaction(BANK) as tx:
            tx.insert_facts([NewFact(make_fact("a", "\x02abc:AAAA"), Features())])
        encrypt(store, BANK, wait=0.0)
        assert "\x02abc:AAAA" not in stored_content(url)
        with store.reading(BANK) as reading:
            assert reading.facts(["a"])[0].text == "\x02abc:AAAA"


def test_the_command_encrypts(
    plain: PostgresStore,
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encrypting, "WAIT", 0.0)
    assert main(["database", "encrypt", BANK, "--database", url]) == 0
    told = capsys.readouterr().out
    assert f"bank {BANK}: encrypted, {3 * FACTS + 2} rows" in told
    assert "may still hold erased texts in dead rows" in told
    assert main(["database", "encrypt", BANK, "--database", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["encrypt"]["was_encrypted"]
    with pytest.raises(NotFound):
        encrypt_bank("nobody", settings=settings(url))
    with pytest.raises(Unavailable, match="a file has none"):
        encrypt_bank("ann", settings=settings(tmp_path / "memory.db"))


def test_a_memory_that_was_encrypted_later_is_used_as_any_other(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Perdure.open(url, embedder="hashing", reranker="none", tagger="rules") as memory:
        memory.retain("ann", "I am allergic to walnuts. I live in Lisbon.", speaker="Ann", document_id="d")
        question = "What is Ann allergic to?"
        before = memory.recall("ann", question).recollections[0].text
        monkeypatch.setattr(encrypting, "WAIT", 0.0)
        encrypt_bank("ann", settings=settings(url))
        assert memory.recall("ann", question).recollections[0].text == before
        memory.retain("ann", "I play the piano.", speaker="Ann")
        assert "piano" in memory.recall("ann", "Who plays the piano?").recollections[0].text
        assert not memory.forget("ann", document_id="d").keys_destroyed, "dead rows have it as it was"
    assert not any("walnut" in one for one in stored_content(url))
