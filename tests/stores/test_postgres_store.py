"""What only a server can do to a store: other machines write, it restarts, refuses, is full, or is somebody else's."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from perdure import Perdure, Settings
from perdure.databases import open_store
from perdure.domain.record import Record
from perdure.errors import (
    InvalidInput,
    StoreCorrupt,
    StoreLocked,
    StoreUnreachable,
    StoreVersion,
    Unavailable,
)
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import NewFact, Store, Traces
from perdure.stores.postgres import traces
from perdure.stores.postgres.connections import Connections
from perdure.stores.postgres.distribute import distribute
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql.copying import KEYS
from perdure.surfaces.cli.main import main
from perdure.testing import BANK, CURRENT, NOW, browse, ids, make_fact, new, put, search, unit
from tests.stores.test_store_queries import read_some, write_some
from tests.support.postgres import LargeBanksStore, Server, new_database

TEA = KeywordProbe({"tea": 1.0})


@pytest.fixture
def url() -> Iterator[str]:
    with new_database() as url:
        yield url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(url)) as store:
        yield store


def raw(url: str, statement: str) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute(statement.encode())


# Opening


def test_processes_that_open_a_new_database_at_once_make_one_schema() -> None:
    with new_database(empty=True) as url:
        with ThreadPoolExecutor(4) as threads:
            stores = list(threads.map(lambda _: PostgresStore.open(url), range(4)))
        put(stores[0], make_fact("a"))
        assert [browse(store).total for store in stores] == [1, 1, 1, 1]
        for store in stores:
            store.close()


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("UPDATE perdure.schema_version SET version = 999", StoreVersion),
        ("UPDATE perdure.schema_version SET version = 1", StoreVersion),
        ("UPDATE perdure.schema_version SET version = 0", StoreCorrupt),
        ("DROP TABLE perdure.schema_version", StoreCorrupt),
    ],
)
def test_a_schema_of_another_version_or_not_ours_is_refused_and_left_alone(
    statement: str, error: type[Exception]
) -> None:
    with new_database(empty=True) as url:
        PostgresStore.open(url).close()
        raw(url, statement)
        with pytest.raises(error):
            PostgresStore.open(url)


def test_a_database_of_the_settings_is_opened_and_remembers(url: str) -> None:
    with Perdure.open(url, embedder="hashing", reranker="none", tagger="rules") as memory:
        memory.retain("ann", "I am allergic to walnuts.", speaker="Ann")
    with Perdure.open(url, embedder="hashing", reranker="none", tagger="rules") as memory:
        assert "walnuts" in memory.recall("ann", "What is Ann allergic to?").recollections[0].text
        forgotten = memory.forget("ann", everything=True)
        assert forgotten.facts == 1
        assert forgotten.traces is Traces.PENDING


# Errors


@pytest.mark.parametrize(
    "url", ["postgresql://ann:hu/sh@host/db", "postgresql://h/db?hush=1", "postgresql://h:hush/db"]
)
def test_a_wrong_url_is_an_error_that_repeats_nothing_of_it(url: str) -> None:
    with pytest.raises(InvalidInput, match="postgresql://USER") as caught:
        open_store(Settings(database=url))
    assert "hu/sh" not in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_writer_that_waits_too_long_for_a_bank_is_told(url: str) -> None:
    with (
        closing(PostgresStore.open(url)) as store,
        closing(PostgresStore.open(url, busy_timeout_ms=50)) as other,
    ):
        put(store, make_fact("a"))
        with store.transaction(BANK) as tx:
            tx.put_records([Record(kind="k", id="1")])
            with pytest.raises(StoreLocked, match="holds the lock"), other.transaction(BANK):
                pass
            with other.transaction("another bank") as free:
                free.put_records([Record(kind="k", id="1")])


def test_a_statement_that_takes_too_long_is_ended(url: str) -> None:
    connections = Connections(url, timeout=0.2)
    with closing(connections), connections.errors, pytest.raises(psycopg.errors.QueryCanceled):
        connections.select("SELECT pg_sleep(5)")


# Several processes


def test_no_number_is_given_twice_and_no_index_misses_a_fact(url: str) -> None:
    """Writers on stores of their own, into a bank that none of them finds; a reader follows all the while."""
    writers, each = 6, 8
    with closing(PostgresStore.open(url)) as reader:
        stores = [PostgresStore.open(url) for _ in range(writers)]
        seen: list[int] = []
        ended = threading.Event()

        def follow() -> None:
            while not ended.is_set():
                seen.append(len(search(reader, TEA, CURRENT, 1000)))

        def write(number: int) -> None:
            for place in range(each):
                put(stores[number], new(make_fact(f"f{number}-{place}"), words="tea"))
                assert f"f{number}-{place}" in ids(search(stores[number], TEA, CURRENT, 1000))

        follower = threading.Thread(target=follow)
        follower.start()
        with ThreadPoolExecutor(writers) as threads:
            list(threads.map(write, range(writers)))
        ended.set()
        follower.join()
        assert len(search(reader, TEA, CURRENT, 1000)) == writers * each
        assert seen == sorted(seen)
        with reader.tables(writing=False) as tables:
            numbers = [no for (no,) in tables.select("SELECT no FROM fact ORDER BY no")]
        assert numbers == list(range(1, writers * each + 1))
        for store in stores:
            store.close()


def test_two_processes_never_both_take_what_was_free_in_a_bank_that_did_not_exist(url: str) -> None:
    stores = [PostgresStore.open(url) for _ in range(4)]

    def take(store: Store) -> bool:
        with store.transaction("new") as tx:
            if tx.records("lease"):
                return False
            time.sleep(0.02)
            tx.put_records([Record(kind="lease", id="lease")])
            return True

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(take, stores)) == [False, False, False, True]
    for store in stores:
        store.close()


def test_a_bank_that_is_deleted_and_made_again_is_another_one_everywhere(url: str) -> None:
    with closing(PostgresStore.open(url)) as store, closing(PostgresStore.open(url)) as other:
        put(store, new(make_fact("a"), words="tea"))
        assert ids(search(other, TEA)) == ["a"]
        with store.transaction(BANK) as tx:
            tx.delete_bank()
            tx.insert_facts([make_fact_with_tea("b")])
        assert ids(search(other, TEA)) == ["b"]


def make_fact_with_tea(fact_id: str) -> NewFact:
    return new(make_fact(fact_id), words="tea")


def test_every_commit_of_another_process_is_found_at_once(url: str) -> None:
    with closing(PostgresStore.open(url)) as writer, closing(PostgresStore.open(url)) as other:
        put(writer, make_fact_with_tea("a"), make_fact_with_tea("b"))
        assert ids(search(other, TEA)) == ["a", "b"]
        put(writer, make_fact_with_tea("c"))
        with writer.transaction(BANK) as tx:
            tx.delete_facts(["a"])
        assert ids(search(other, TEA)) == ["b", "c"]


# A server that goes and comes back


@pytest.fixture
def own_server() -> Iterator[Server]:
    own = Server()
    own.start()
    own.execute("CREATE DATABASE memory")
    yield own
    own.remove()


def test_a_restart_is_bridged_and_a_server_that_stays_away_is_told(own_server: Server) -> None:
    with closing(PostgresStore.open(own_server.url("memory"), patience=20.0)) as store:
        put(store, make_fact_with_tea("a"))
        raw(
            own_server.url("postgres"),
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'memory'",
        )
        assert ids(search(store, TEA)) == ["a"]
        with pytest.raises(StoreUnreachable), store.transaction(BANK) as tx:
            tx.insert_facts([make_fact_with_tea("lost")])
            own_server.stop("fast")
            tx.put_records([Record(kind="k", id="1")])
        restart = threading.Timer(1.0, own_server.start)
        restart.start()
        assert ids(search(store, TEA)) == ["a"]
        put(store, make_fact_with_tea("b"))
        restart.join()
        assert ids(search(store, TEA)) == ["a", "b"]
    with closing(PostgresStore.open(own_server.url("memory"), patience=0.3)) as store:
        own_server.stop("fast")
        began = time.monotonic()
        with pytest.raises(StoreUnreachable, match="no primary answers"):
            store.banks()
        assert 0.1 < time.monotonic() - began < 10
        own_server.start()
        assert ids(search(store, TEA)) == ["a", "b"]


# Erasure


def test_erased_content_stays_pending_until_tables_and_log_are_written_anew(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, make_fact("a", "the secret walnut"), make_fact("b"))
    with store.transaction(BANK) as tx:
        tx.delete_facts(["a"])
        tx.erased_content()
    assert store.traces() is Traces.PENDING
    monkeypatch.setattr(traces, "SMALL_DATABASE", 0)
    assert store.clear_traces() is Traces.PENDING, "large tables are left to the administrator"
    with closing(psycopg.connect(url)) as looker:
        looker.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        looker.execute("SELECT 1 FROM perdure.fact")
        monkeypatch.setattr(traces, "SMALL_DATABASE", 1 << 40)
        put(store, make_fact("c"))
        with store.transaction(BANK) as tx:
            tx.delete_facts(["c"])
            tx.erased_content()
        assert store.clear_traces() is Traces.PENDING, "somebody still sees what was erased"
    assert store.clear_traces() is Traces.CLEARED
    with store.reading(BANK) as reading:
        assert [fact.id for fact in reading.facts(["a", "b", "c"])] == ["b"]


def test_no_byte_of_erased_content_is_left_in_the_servers_files(own_server: Server) -> None:
    secret = "xylophone-of-quartz"

    def holding() -> list[str]:
        return sorted(
            path.name
            for path in own_server.data.rglob("*")
            if path.is_file() and path.parent.name != "log" and secret.encode() in path.read_bytes()
        )

    with closing(PostgresStore.open(own_server.url("memory"))) as store:
        put(store, make_fact("a", f"the {secret}"), make_fact("b"))
        own_server.execute("CHECKPOINT")
        assert holding()
        with store.transaction(BANK) as tx:
            tx.delete_facts(["a"])
            tx.erased_content()
        assert store.traces() is Traces.PENDING
        assert holding()
        assert store.clear_traces() is Traces.CLEARED
        assert holding() == []


# Statements


def test_every_statement_names_the_bank_and_none_leaves_anything_in_the_session(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Citus, and a pooler that gives each transaction another connection, ask of statements."""
    statements: list[str] = []

    def noting(original: Callable[..., object]) -> Callable[..., object]:
        def call(self: object, query: bytes, *args: object, **options: object) -> object:
            statements.append(bytes(query).decode())
            return original(self, query, *args, **options)

        return call

    with closing(PostgresStore.open(url)) as store:
        put(store, *(new(make_fact(f"f{place}"), vectors={"fact": unit(1)}) for place in range(9)))
        for name in ("execute", "executemany", "copy"):
            monkeypatch.setattr(psycopg.Cursor, name, noting(getattr(psycopg.Cursor, name)))
        with store.reading(BANK) as reading:
            read_some(reading)
            reading.search(TEA, CURRENT, 9)
            reading.stats()
        with store.transaction(BANK) as tx:
            read_some(tx)
            write_some(tx)
        store.record_recalls(BANK, [("f2", NOW)])
        monkeypatch.undo()
    asked = [one for one in statements if re.match("SELECT|UPDATE|DELETE|INSERT|COPY", one)]
    unnamed = [
        one
        for one in asked
        if not re.search(
            r"\bbank = %s|\(\"?bank\"?, |FROM bank WHERE (id|no) = %s|UPDATE bank .* WHERE no = %s|INTO bank",
            one,
        )
        and "set_config" not in one
        and "pg_" not in one
    ]
    assert len(asked) > 60
    assert unnamed == []
    assert not [
        one for one in statements if re.search(r"\bSET (?!LOCAL)(?!\w+ = )|LISTEN|PREPARE|CREATE TEMP", one)
    ]


def test_a_standby_that_becomes_primary_goes_on_where_the_old_one_ended(own_server: Server) -> None:
    with closing(PostgresStore.open(own_server.url("memory"))) as store:
        put(store, make_fact_with_tea("a"))
    standby = own_server.standby()
    both = f"postgresql://postgres@/memory?host={own_server.folder},{standby.folder}"
    try:
        with closing(PostgresStore.open(both, patience=30.0)) as store:
            put(store, make_fact_with_tea("b"))
            assert ids(search(store, TEA)) == ["a", "b"]
            own_server.stop("fast")  # waits until the standby has everything
            promotion = threading.Timer(0.5, standby.run, ("pg_ctl", "-w", "promote"))
            promotion.start()
            assert ids(search(store, TEA)) == ["a", "b"]
            put(store, make_fact_with_tea("c"))
            promotion.join()
            assert ids(search(store, TEA)) == ["a", "b", "c"]
    finally:
        standby.remove()
        own_server.start()


# Damage


def test_a_row_that_is_not_what_was_written_is_left_out_and_named(store: PostgresStore, url: str) -> None:
    put(store, make_fact("a"), make_fact("b"))
    assert store.verify().sound
    raw(url, "UPDATE perdure.fact SET text = 'another' WHERE id = 'a'")
    with store.reading(BANK) as reading:
        assert [fact.id for fact in reading.facts(["a", "b"])] == ["b"]
        assert [damage.name for damage in reading.damaged()] == ["a"]
    assert [damage.name for damage in store.verify(repair=True).left] == ["a"], "there is no second copy"
    assert store.verify(drop=True).sound
    assert [fact.id for fact in browse(store).facts] == ["b"]


# Large banks


def test_a_bank_that_grows_is_searched_in_sql_and_one_that_shrinks_in_memory_again(url: str) -> None:
    with closing(PostgresStore.open(url, large_bank_facts=5)) as store:
        put(store, *(make_fact_with_tea(f"f{number}") for number in range(5)))
        assert not store.search_tables_due(BANK)
        put(store, make_fact_with_tea("f5"))
        assert store.search_tables_due(BANK)
        shares: list[float] = []
        assert store.build_search_tables(BANK, shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        assert not store.search_tables_due(BANK)
        put(store, make_fact_with_tea("f6"))
        assert len(search(store, TEA)) == 7
        assert BANK not in store._indexes
        with store.transaction(BANK) as tx:
            tx.delete_facts([f"f{number}" for number in range(4)])
        assert ids(search(store, TEA)) == ["f4", "f5", "f6"]
        assert store.search_tables_due(BANK)
        store.build_search_tables(BANK)
        assert ids(search(store, TEA)) == ["f4", "f5", "f6"]
        assert BANK in store._indexes


def test_the_nearest_vectors_come_from_the_index_of_the_bank(url: str) -> None:
    with closing(LargeBanksStore.open(url, large_bank_facts=0)) as store:
        put(store, *(new(make_fact(f"f{n}"), vectors={"fact": unit(1, n / 50)}) for n in range(200)))
        assert ids(search(store, SemanticProbe(unit(1)), CURRENT, 3)) == ["f0", "f1", "f2"]
        with store._connections.reading() as db:
            (index,) = db.execute(
                b"SELECT indexdef FROM pg_indexes WHERE indexname ~ '^large_vector_[0-9]+_'"
            ).fetchall()
        assert "USING hnsw" in index[0]


def test_distribute_needs_citus(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(PostgresStore.open(url)) as store, pytest.raises(Unavailable, match="citus"):
        distribute(store)
    assert main(["database", "distribute"]) == 0
    printed = capsys.readouterr().out
    assert "create_distributed_table('perdure.fact', 'bank', colocate_with => 'none');" in printed
    assert all(f"'perdure.{table}'" in printed for table in KEYS)
    assert main(["database", "distribute", "--run", "--database", "memory.db"]) != 0
