"""Row-level security: a role that is not the owner sees one bank per transaction, whatever it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

from perdure import Settings
from perdure.databases import secure_database
from perdure.domain.record import Record
from perdure.errors import Unavailable
from perdure.ports.probe import KeywordProbe
from perdure.stores.postgres.store import PostgresStore
from perdure.testing import CURRENT, ids, make_fact, new
from tests.contract.test_store_contract import PGBOUNCER
from tests.support.postgres import new_database, server

TEA = KeywordProbe({"tea": 1.0})


@pytest.fixture
def secured() -> Iterator[str]:
    """The URL of a database with two banks, for a role that is not the owner."""
    with new_database(empty=True) as url:
        with closing(PostgresStore.open(url)) as store:
            write(store, "ann", "a")
            write(store, "bob's", "b")
        server().execute("DROP ROLE IF EXISTS app")
        server().execute("CREATE ROLE app LOGIN")
        secure_database("app", settings=Settings(database=url))
        yield url.replace("postgres@", "app@")
        with closing(psycopg.connect(url, autocommit=True)) as db:
            db.execute(b"DROP OWNED BY app")
            db.execute(b"DROP ROLE app")


def write(store: PostgresStore, bank: str, *fact_ids: str) -> None:
    with store.transaction(bank) as tx:
        tx.insert_facts([new(replace(make_fact(one), bank=bank), words="tea") for one in fact_ids])


def rows_seen(url: str, setting: str | None) -> dict[str, int]:
    """Table -> rows that a raw connection of the role sees under a setting."""
    with closing(psycopg.connect(url)) as db:
        if setting is not None:
            db.execute(f"SET LOCAL perdure.bank = '{setting}'".encode())
        return {
            table: db.execute(f"SELECT count(*) FROM perdure.{table}".encode()).fetchone()[0]  # type: ignore[index]
            for table in ("fact", "fact_features", "index_cache", "bank")
        }


def test_a_raw_query_with_a_wrong_bank_or_none_reads_nothing(secured: str) -> None:
    nothing = dict.fromkeys(("fact", "fact_features", "index_cache", "bank"), 0)
    assert rows_seen(secured, None) == nothing
    assert rows_seen(secured, "nobody") == nothing
    assert rows_seen(secured, "ann") == dict.fromkeys(nothing, 1)
    assert rows_seen(secured, "/") == nothing | {"bank": 2}
    assert rows_seen(secured.replace("app@", "postgres@"), None) == dict.fromkeys(nothing, 2)


def test_a_raw_write_to_another_bank_is_refused(secured: str) -> None:
    with closing(psycopg.connect(secured)) as db:
        db.execute(b"SET LOCAL perdure.bank = 'ann'")
        assert db.execute(b"DELETE FROM perdure.fact WHERE id = 'b'").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(b"INSERT INTO perdure.change VALUES (2, 99, 1, 2)")


def test_a_raw_query_without_a_name_neither_reads_nor_changes_api_keys(secured: str) -> None:
    with closing(PostgresStore.open(secured)) as store:
        store.put_shared_records([Record(kind="api_key", id="k", body={"hash": "h"})])
        for setting in (None, "ann", "/"):
            with closing(psycopg.connect(secured)) as db:
                if setting is not None:
                    db.execute(f"SET LOCAL perdure.bank = '{setting}'".encode())
                assert db.execute(b"SELECT * FROM perdure.shared_record").fetchall() == []
                assert db.execute(b"UPDATE perdure.shared_record SET body = '{}'").rowcount == 0
                assert db.execute(b"DELETE FROM perdure.shared_record").rowcount == 0
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute(b"INSERT INTO perdure.shared_record VALUES ('api_key', 'mine', '{}', '', '')")
        (key,) = store.shared_records("api_key")
        assert key.body == {"hash": "h"}
        store.delete_shared_records("api_key", ["k"])
        assert store.shared_records("api_key", ["k"]) == []


def test_every_table_that_holds_memory_or_keys_has_a_policy(secured: str) -> None:
    query = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'perdure'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relrowsecurity AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE')"
    )
    with closing(psycopg.connect(secured)) as db:
        assert {table for (table,) in db.execute(query.encode())} == {"erasure", "schema_version"}


def use(url: str, **options: bool) -> None:
    with closing(PostgresStore.open(url, **options)) as store:  # type: ignore[arg-type]
        assert [bank.id for bank in store.banks()] == ["ann", "bob's"]
        for bank, fact_id in (("ann", "a"), ("bob's", "b"), ("carla", None)):
            with store.reading(bank) as reading:
                assert ids(reading.search(TEA, CURRENT, 9)) == ([fact_id] if fact_id else [])
        write(store, "carla", *(f"c{number}" for number in range(70)))
        with store.reading("carla") as reading:
            assert len(reading.search(TEA, CURRENT, 99)) == 70
            assert reading.stats().facts == 70
        with store.transaction("carla") as tx:
            tx.delete_bank()


def test_perdure_works_under_the_policies(secured: str) -> None:
    use(secured)


@pytest.mark.skipif(PGBOUNCER is None, reason="needs PgBouncer")
def test_perdure_works_under_the_policies_behind_a_pooler(secured: str) -> None:
    assert PGBOUNCER is not None
    with server().pooler(PGBOUNCER, user="app") as folder:
        use(secured.replace(str(server().folder), folder), prepared=False)


def test_policies_can_be_taken_away_and_a_file_has_none(secured: str) -> None:
    owner = Settings(database=secured.replace("app@", "postgres@"))
    secure_database("app", off=True, settings=owner)
    assert rows_seen(secured, None)["fact"] == 2
    with pytest.raises(Unavailable, match="a file has none"):
        secure_database("app", settings=Settings(database="memory.db"))
