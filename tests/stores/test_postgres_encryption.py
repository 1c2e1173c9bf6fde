"""Encrypted content on PostgreSQL: what the server's files hold, and what becomes of it when its keys are destroyed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from perdure.domain.fact import Document
from perdure.domain.record import Record
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.ports.store import Features, NewFact, Traces
from perdure.stores.postgres.store import PostgresStore
from perdure.testing import BANK, make_chunk, make_fact
from tests.support.postgres import Server, new_database

SECRET = "xylophone of quartz"


@pytest.fixture
def own_server() -> Iterator[Server]:
    own = Server()
    own.start()
    own.execute("CREATE DATABASE memory")
    yield own
    own.remove()


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    with new_database() as url, closing(PostgresStore.open(url, encrypt_content=True)) as store:
        yield store


def files_with(server: Server) -> Callable[[bytes], list[str]]:
    """Names of the server's files that hold some bytes, after all of them were written."""

    def holding(content: bytes) -> list[str]:
        server.execute("CHECKPOINT")
        paths = (path for path in server.data.rglob("*") if path.is_file())
        return sorted(path.name for path in paths if content in path.read_bytes())

    return holding


def write_secret(store: PostgresStore) -> None:
    """The secret in everything that quotes a fact, beside a fact of the same document that stays."""
    secret = make_fact("a", f"the {SECRET}", document_id="d", chunk_id="c", source_text=SECRET, object=SECRET)
    other = make_fact("b", "tea at five", document_id="d", chunk_id="c")
    features = Features(words=tuple(SECRET.split()), terms={SECRET: 1.0}, passage=SECRET)
    with store.transaction(BANK) as tx:
        tx.put_documents([Document(id="d", bank=BANK, title=f"On the {SECRET}", metadata={"of": SECRET})])
        tx.put_chunks([make_chunk("c", "d", f"the {SECRET}. tea at five.")])
        tx.insert_facts([NewFact(secret, features), NewFact(other, Features(passage="tea"))])
        tx.put_records([Record(kind="note", id="n", bank=BANK, body={"about": SECRET})])


def keys_of(store: PostgresStore) -> set[bytes]:
    with store.tables(writing=False) as tables:
        return {key for (key,) in tables.select("SELECT key FROM content_key WHERE scope <> ''")}


def test_the_servers_files_never_hold_content_and_lose_the_keys_with_an_erasure(own_server: Server) -> None:
    holding = files_with(own_server)
    with closing(PostgresStore.open(own_server.url("memory"), encrypt_content=True)) as store:
        write_secret(store)
        before = keys_of(store)
        assert holding(SECRET.encode()) == []
        assert all(holding(key) for key in before)
        forgotten = forget(store, BANK, Target(fact_id="a"))
        assert forgotten.keys_destroyed
        assert forgotten.traces is Traces.PENDING
        assert any("destroyed keys in old versions of the key table" in one for one in forgotten.pending)
        assert any("the texts are unreadable" in one for one in forgotten.pending)
        assert not any("erased texts" in one for one in forgotten.pending)
        gone = before - keys_of(store)
        assert gone, "the key of the document"
        assert store.clear_traces() is Traces.CLEARED
        assert store.pending_traces() == ()
        assert [holding(key) for key in gone] == [[] for _ in gone]
        with store.reading(BANK) as reading:
            (other,) = reading.facts(["a", "b"])
            assert other.text == "tea at five"
            assert reading.chunks(document_id="d")[0].text.strip().endswith("tea at five.")
            assert SECRET not in reading.documents()[0].title
            assert reading.damaged() == ()
        assert store.verify().sound


def test_a_bank_that_was_made_before_is_not_encrypted_and_an_erasure_says_so() -> None:
    with new_database() as url:
        with closing(PostgresStore.open(url)) as plain:
            write_secret(plain)
        with closing(PostgresStore.open(url, encrypt_content=True)) as store:
            forgotten = forget(store, BANK, Target(document_id="d"))
            assert not forgotten.keys_destroyed
            assert any(one.startswith("erased texts in dead rows") for one in forgotten.pending)
            assert "copies on replicas" in forgotten.pending[-1]


def test_an_encrypted_bank_stays_so_for_a_process_without_the_setting(store: PostgresStore) -> None:
    write_secret(store)
    with closing(PostgresStore.open(store._connections.address.conninfo)) as other:
        with other.transaction(BANK) as tx:
            tx.insert_facts([NewFact(make_fact("later", f"more on the {SECRET}"), Features())])
        with other.reading(BANK) as reading:
            assert reading.containing(SECRET.upper()) == [1, 3]
    with store._connections.reading() as db:
        stored = db.execute(b"SELECT text FROM fact").fetchall()
    assert len(stored) == 3
    assert all(text.startswith("\x02") for (text,) in stored)
