"""Encrypted banks that go from one database to another, and banks that are encrypted where they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from perdure import Settings
from perdure.databases import copy_banks
from perdure.domain.fact import Document
from perdure.domain.record import Record
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.ports.store import Features, NewFact, Store, Traces
from perdure.stores.postgres import encrypting
from perdure.stores.postgres.content import COLUMNS
from perdure.stores.postgres.encrypting import encrypt
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql import copying
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, make_chunk, make_fact
from tests.stores.test_database_copy import fill
from tests.stores.test_postgres_encryption import SECRET, files_with, write_secret
from tests.support.agreement import assert_same_memory, assert_same_search
from tests.support.postgres import Server, new_database
from tests.support.sampler import Sampler

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
