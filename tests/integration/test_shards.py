"""Several databases share the banks: each bank is in one of them, and moves to another while it is in use."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from perdure import Conflict, InvalidInput, NotFound, Perdure, Settings, Unavailable, copy_banks
from perdure.compose import open_shards, open_store
from perdure.domain.bank import Bank
from perdure.domain.record import Record
from perdure.errors import StoreError
from perdure.ports.probe import KeywordProbe
from perdure.ports.store import Traces
from perdure.stores.postgres import bank_map, moving
from perdure.stores.postgres.distribute import distribute
from perdure.stores.postgres.moving import move
from perdure.stores.postgres.shards import ShardedStore
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql.copying import INCOMING, KEYS, bank_row
from perdure.surfaces.cli.main import main
from perdure.testing.making import CURRENT, make_fact, new
from tests.postgres import new_database

QUICK = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "extractor": "verbatim"}
AT_ONCE = {"known_after": 0.0, "erase_after": 0.0}


@pytest.fixture
def urls() -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(new_database()) for _ in range(2)]


def open_both(urls: list[str]) -> ShardedStore:
    return open_shards(Settings(database=" ".join(urls)))


@pytest.fixture
def store(urls: list[str]) -> Iterator[ShardedStore]:
    with closing(open_both(urls)) as store:
        yield store


def write(store: ShardedStore, bank: str, *ids: str) -> None:
    with store.transaction(bank) as tx:
        tx.insert_facts([new(replace(make_fact(one), bank=bank), words="tea") for one in ids])


def recalled(store: ShardedStore, bank: str) -> set[str]:
    with store.reading(bank) as reading:
        return {hit.fact_id for hit in reading.search(KeywordProbe({"tea": 1.0}), CURRENT, 100)}


def rows(url: str) -> int:
    """Rows of all banks in a database."""
    with closing(psycopg.connect(url)) as db:
        counts = [db.execute(f"SELECT count(*) FROM perdure.{table}".encode()).fetchone() for table in KEYS]
    return sum(count[0] for count in counts if count)


def place(store: ShardedStore, bank: str) -> int:
    """The number of the database that has the bank's row."""
    (number,) = [n for n, shard in enumerate(store.shards) if shard.store.banks([bank])]
    return number


def test_banks_are_spread_and_each_is_found_where_it_is(store: ShardedStore, urls: list[str]) -> None:
    banks = [f"bank-{number}" for number in range(24)]
    for bank in banks:
        write(store, bank, f"{bank}-a")
    assert {place(store, bank) for bank in banks} == {0, 1}
    assert [bank.id for bank in store.banks()] == sorted(banks)
    assert [bank.id for bank in store.banks(["bank-3", "nothing", "bank-1"])] == ["bank-1", "bank-3"]
    with closing(open_both(urls)) as other:
        assert all(recalled(other, bank) == {f"{bank}-a"} for bank in banks)
        assert recalled(other, "nothing") == set()
    assert sum(store.bank_counts().values()) == 24
    assert store.verify().sound
    assert store.index_usage().banks == 0
    store.record_recalls("bank-1", [("bank-1-a", datetime.now(UTC))])
    store.record_recalls("nothing", [("x", datetime.now(UTC))])
    with store.transaction("bank-2") as tx:
        tx.put_records([Record(kind="k", id="1")])
        tx.erased_content()
    assert store.banks_with_records("k") == ["bank-2"]
    assert store.traces() is Traces.PENDING
    with pytest.raises(Unavailable):
        store.backup("file")


def test_an_engine_works_on_several_databases_as_on_one(urls: list[str]) -> None:
    with Perdure.open(" ".join(urls), **QUICK) as memory:
        for name in ("ann", "bob", "cid", "dan"):
            memory.retain(name, f"{name.title()} is allergic to walnuts.")
            assert "walnuts" in memory.recall(name, "allergic to what?").recollections[0].text
        assert [bank.id for bank in memory.banks()] == ["ann", "bob", "cid", "dan"]
        assert memory.forget("ann", everything=True).facts == 1
        memory.retain("ann", "Ann likes figs.")
        assert "figs" in memory.recall("ann", "What does Ann like?").recollections[0].text


@pytest.mark.parametrize("target", [1, 2])
def test_a_bank_moves_with_all_its_rows_and_leaves_none(
    store: ShardedStore, urls: list[str], target: int
) -> None:
    write(store, "ann", "a", "b")
    write(store, "bob", "c")
    with store.transaction("ann") as tx:
        tx.put_records([Record(kind="k", id="1", body={"text": "ü"})])
        tx.put_bank(Bank(id="ann", name="Ann"))
    before = place(store, "ann") + 1
    moved = move(store, "ann", str(target), **AT_ONCE)
    assert moved.rows == {} if before == target else moved.rows["fact"] == 2
    assert place(store, "ann") + 1 == target
    assert recalled(store, "ann") == {"a", "b"}
    back = move(store, "ann", str(3 - target), **AT_ONCE)
    assert back.rows["record"] == 1
    assert recalled(store, "ann") == {"a", "b"}
    (bank,) = store.banks(["ann"])
    assert bank.name == "Ann"
    write(store, "ann", "later")
    assert recalled(store, "ann") == {"a", "b", "later"}
    move(store, "bob", str(target), **AT_ONCE)
    move(store, "ann", str(target), **AT_ONCE)
    assert rows(urls[2 - target]) == 0
    assert store.shard(str(3 - target)).store.traces() is Traces.PENDING


def test_nothing_is_lost_while_others_write_and_read(store: ShardedStore, urls: list[str]) -> None:
    write(store, "ann", "first")
    stop = threading.Event()
    acknowledged: list[str] = ["first"]
    missed: list[str] = []

    def keep_writing(name: str) -> None:
        with closing(open_both(urls)) as own:
            number = 0
            while not stop.is_set():
                write(own, "ann", f"{name}{number}")
                acknowledged.append(f"{name}{number}")
                number += 1

    def keep_reading() -> None:
        with closing(open_both(urls)) as own:
            while not stop.is_set():
                before = set(acknowledged[-20:])
                with own.reading("ann") as reading:
                    hits = reading.search(KeywordProbe({"tea": 1.0}), CURRENT, 100_000)
                    facts = {fact.id for fact in reading.facts([hit.fact_id for hit in hits])}
                missed.extend(before - facts)

    threads = [threading.Thread(target=keep_writing, args=(name,)) for name in "xy"]
    threads += [threading.Thread(target=keep_reading) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for target in ("1", "2"):
            move(store, "ann", target, known_after=0.3, erase_after=0.3)
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    assert missed == []
    assert len(acknowledged) > 10
    with store.reading("ann") as reading:
        assert {fact.id for fact in reading.facts(acknowledged)} == set(acknowledged)
        assert reading.stats().facts == len(acknowledged)
    assert rows(urls[0]) == 0


class Killed(Exception):
    """The end of the process."""


@pytest.mark.parametrize("step", ["_bring_over", "_switch", "insert", "after the switch", "_erase_source"])
def test_a_move_that_was_killed_goes_on(
    store: ShardedStore, urls: list[str], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, "ann", *(f"f{number}" for number in range(30)))
    source, target = place(store, "ann"), 1 - place(store, "ann")

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if step == "insert":  # the row is in the target, and still in the source

            def insert_and_die(source, target, bank, number, source_no, columns, progress):  # type: ignore[no-untyped-def]
                with source.store.tables(writing=False) as here, target.store.tables(writing=True) as there:
                    described = bank_row(here, bank, columns["bank"])
                    there.insert("bank", ("no", *columns["bank"]), [(number, *described[1])])
                    there.execute("DELETE FROM shared_record WHERE kind = ? AND id = ?", INCOMING, bank)
                raise Killed

            patch.setattr(moving, "_switch", insert_and_die)
        elif step == "after the switch":
            change = store.map.replace
            patch.setattr(
                store.map, "replace", lambda bank, place: die() if place.left_in else change(bank, place)
            )
        else:
            patch.setattr(moving, step, die)
        with pytest.raises(Killed):
            move(store, "ann", str(target + 1), **AT_ONCE)
    # Whoever comes next finds the bank, wherever it is, and may write.
    with closing(open_both(urls)) as other:
        assert len(recalled(other, "ann")) == 30
        write(other, "ann", "between")
        assert [bank.id for bank in other.banks()] == ["ann"]
        answers = place_of(other, "ann")
        assert [other.bank_counts()[shard.id] for shard in other.shards] == [1 - answers, answers]
    move(store, "ann", str(target + 1), **AT_ONCE)
    assert len(recalled(store, "ann")) == 31
    assert place(store, "ann") == target
    assert rows(urls[source]) == 0


def place_of(store: ShardedStore, bank: str) -> int:
    """The number of the database that answers for the bank."""
    there = store.store_of(bank)
    return next(number for number, shard in enumerate(store.shards) if shard.store is there)


def test_what_cannot_be_moved_is_named(store: ShardedStore, urls: list[str]) -> None:
    with pytest.raises(NotFound):
        move(store, "nobody", "1", **AT_ONCE)
    write(store, "ann", "a")
    with pytest.raises(InvalidInput, match="one of 1: postgresql://"):
        move(store, "ann", "3", **AT_ONCE)
    with pytest.raises(InvalidInput, match="several URLs"):
        open_shards(Settings(database=urls[0]))


def test_a_process_with_an_old_map_finds_the_bank(
    store: ShardedStore, urls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank_map, "KEEP_SECONDS", 1000.0)
    write(store, "ann", "a")
    with closing(open_both(urls)) as old:
        assert recalled(old, "ann") == {"a"}
        move(store, "ann", str(2 - place(store, "ann")), **AT_ONCE)
        assert recalled(old, "ann") == {"a"}
        write(old, "ann", "b")
    assert recalled(store, "ann") == {"a", "b"}


def test_databases_that_do_not_belong_together_are_refused(urls: list[str]) -> None:
    open_both(urls).close()
    for alone in urls:
        with pytest.raises(InvalidInput, match="all databases of the set"):
            open_store(Settings(database=alone))
    with pytest.raises(InvalidInput, match="first one first"):
        open_both(urls[::-1])
    with pytest.raises(InvalidInput, match="each database once"):
        open_both([urls[0], urls[0]])
    with new_database() as third, pytest.raises(InvalidInput, match="databases of one set"):
        open_both([third, urls[0]])


def test_banks_that_a_database_brings_along_are_entered(urls: list[str]) -> None:
    for url, bank in zip(urls, ("ann", "bob"), strict=True):
        with closing(PostgresStore.open(url)) as store, store.transaction(bank) as tx:
            tx.insert_facts([new(replace(make_fact("a"), bank=bank), words="tea")])
    with closing(open_both(urls)) as both:
        assert [bank.id for bank in both.banks()] == ["ann", "bob"]
        assert recalled(both, "bob") == {"a"}
        # A process that knows the first database alone makes a bank there.
        with closing(PostgresStore.open(urls[0])) as alone, alone.transaction("zoe") as tx:
            tx.insert_facts([new(replace(make_fact("z"), bank="zoe"), words="tea")])
        assert recalled(both, "zoe") == {"z"}
        write(both, "zoe", "y")
        assert recalled(both, "zoe") == {"y", "z"}


def test_two_databases_with_a_bank_of_one_name_are_refused(urls: list[str]) -> None:
    for url in urls:
        with closing(PostgresStore.open(url)) as store, store.transaction("ann") as tx:
            tx.put_records([Record(kind="k", id="1")])
    with pytest.raises(Conflict, match="another database"):
        open_both(urls)


def test_a_database_that_holds_banks_cannot_be_left_out(urls: list[str]) -> None:
    with new_database() as third:
        with closing(open_both([*urls, third])) as three:
            write(three, "ann", "a")
            move(three, "ann", "3", **AT_ONCE)
        with pytest.raises(InvalidInput, match="which holds banks of this set"):
            open_both(urls)


def test_banks_are_copied_in_and_out_of_several_databases(urls: list[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = str(tmp_path / "memory.db")
    both = Settings(database=" ".join(urls))
    with closing(open_store(both)) as store:
        for bank in ("ann", "bob", "cid", "dan"):
            write(store, bank, "a")  # type: ignore[arg-type]
    assert [one.bank for one in copy_banks(file, settings=both)] == ["ann", "bob", "cid", "dan"]
    with ExitStack() as stack:
        others = [stack.enter_context(new_database()) for _ in range(2)]
        copies = copy_banks(" ".join(others), settings=Settings(database=file))
        assert len(copies) == 4
        with closing(open_both(others)) as store:
            assert recalled(store, "cid") == {"a"}


def test_the_command_line_lists_and_moves(
    urls: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving.time, "sleep", lambda seconds: None)
    database = " ".join(urls)
    with closing(open_both(urls)) as store:
        write(store, "ann", "a")
        source = place(store, "ann")
    target = str(2 - source)
    assert main(["database", "move", "ann", target, "--database", database, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["move"]["rows"]["fact"] == 1
    assert main(["database", "shards", "--database", database, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["shards"]
    assert [one["banks"] for one in listed] == ([0, 1] if source == 0 else [1, 0])
    assert main(["database", "move", "ann", target, "--database", database]) == 0
    assert f"bank ann: is in {listed[int(target) - 1]['address']}" in capsys.readouterr().out


def test_passwords_of_several_urls_are_not_shown() -> None:
    settings = Settings(database="postgresql://ann:hush@a,b/x  postgresql://bob:hushed@c/y?password=secret")
    assert settings.databases == (
        "postgresql://ann:hush@a,b/x",
        "postgresql://bob:hushed@c/y?password=secret",
    )
    assert "hush" not in settings.shown_database
    assert "secret" not in settings.shown_database
    assert "@a,b/x" in settings.shown_database
    wrong = Settings(database="postgresql://ann:hu sh@a/x")
    assert wrong.databases == ("postgresql://ann:hu sh@a/x",)
    assert "sh@" not in wrong.shown_database
    assert Settings(database="my memory.db").databases == ("my memory.db",)


def test_distribute_needs_citus(urls: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with closing(PostgresStore.open(urls[0])) as store, pytest.raises(Unavailable, match="citus"):
        distribute(store)
    assert main(["database", "distribute"]) == 0
    printed = capsys.readouterr().out
    assert "create_distributed_table('perdure.fact', 'bank', colocate_with => 'none');" in printed
    assert all(f"'perdure.{table}'" in printed for table in KEYS)
    assert main(["database", "distribute", "--run", "--database", "memory.db"]) != 0


def test_a_map_that_names_an_unknown_database_is_an_error(store: ShardedStore) -> None:
    store.map.add({"ann": bank_map.Place(database="elsewhere")})
    with pytest.raises(StoreError, match="does not name"), store.reading("ann"):
        pass
