"""Files that cannot be used: each a clear error, and nothing damaged by trying."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from perdure.domain.bank import Bank
from perdure.domain.filter import Filter
from perdure.errors import (
    InvalidInput,
    StoreCorrupt,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreVersion,
)
from perdure.ports.probe import KeywordProbe
from perdure.ports.store import Reading, Selection, Transaction
from perdure.stores.sqlite.schema import SCHEMA
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, CURRENT, NOW, browse, facts, make_fact, new, put, search


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one fact, cleanly closed."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        put(store, new(make_fact("a", "the first"), words="first"))
    return path


def assert_intact(path: Path) -> None:
    with closing(SqliteStore.open(path)) as store:
        assert [fact.text for fact in browse(store).facts] == ["the first"]


def edit(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(statement)
        raw.commit()


@pytest.mark.parametrize(
    ("version", "told"), [(999, "999.*upgrade"), (5, "commit 046389f"), (1, "commit 046389f")]
)
def test_a_file_of_another_schema_is_refused_and_left_alone(path: Path, version: int, told: str) -> None:
    edit(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(StoreVersion, match=told):
        SqliteStore.open(path)
    assert path.read_bytes() == before
    edit(path, f"PRAGMA user_version = {SCHEMA}")
    assert_intact(path)


def test_another_applications_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    edit(path, "CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another application"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


def test_a_damaged_file_is_an_error_and_not_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        put(store, *(new(make_fact(f"f{place}", "text " * 50), words="text") for place in range(300)))
    content = bytearray(path.read_bytes())
    for start in range(4096 * 30, len(content) - 4096, 4096):
        content[start : start + 2048] = b"\xa5" * 2048
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt), closing(SqliteStore.open(path)) as store:
        search(store, KeywordProbe({"text": 1.0}), Filter(now=NOW), 1000)
        facts(store, *(f"f{place}" for place in range(300)))


@pytest.mark.parametrize(
    "body", ["substr(body, 1, 40)", "cast(body || zeroblob(8) AS BLOB)", "substr(body, 1, length(body) - 8)"]
)
def test_a_damaged_index_cache_costs_nothing_and_is_mended(path: Path, body: str) -> None:
    edit(path, f"UPDATE index_cache SET body = {body}")
    with closing(SqliteStore.open(path)) as store:
        assert len(search(store, KeywordProbe({"first": 1.0}), Filter(now=NOW), 5)) == 1
        assert [fact.text for fact in facts(store, "a")] == ["the first"]
        (damage,) = store.verify().damage
        assert (damage.kind, damage.name, damage.repaired) == ("cache", "a", False)
        assert store.verify(repair=True).sound
        assert not store.verify().damage


def test_a_locked_file_is_an_error_after_the_wait(path: Path) -> None:
    with closing(SqliteStore.open(path, busy_timeout_ms=50)) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreLocked):
                put(store, make_fact("b"))
            assert len(facts(store, "a")) == 1
            other.execute("ROLLBACK")
        put(store, make_fact("b"))
        assert len(facts(store, "a", "b")) == 2


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A small file system of its own; the test is skipped where mounting is not allowed."""
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    if mount.returncode:
        pytest.skip("mounting a file system is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system")
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m") as disk:
        path = disk / "memory.db"
        with closing(SqliteStore.open(path)) as store:
            put(store, make_fact("a", "the first"))
            with pytest.raises(StoreFull):
                for number in range(100):
                    put(store, make_fact(f"b{number}", "long " * 20_000))
            assert facts(store, "a")[0].text == "the first"
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system")
def test_a_file_on_read_only_media_is_read_and_not_changed(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=4m") as disk:
        path = disk / "memory.db"
        with closing(SqliteStore.open(path)) as store:
            put(store, make_fact("a", "the first"))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        before = path.read_bytes()
        with closing(SqliteStore.open(path)) as store:
            assert store.read_only
            assert [fact.text for fact in browse(store).facts] == ["the first"]
            assert store.verify().sound
            with pytest.raises(StoreReadOnly, match="cannot be written"):
                put(store, make_fact("b"))
        assert path.read_bytes() == before
        with pytest.raises(StoreReadOnly):
            SqliteStore.open(disk / "new.db")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        assert_intact(path)


def test_text_that_is_no_unicode_is_refused_everywhere(path: Path) -> None:
    broken = "a\ud800"
    with closing(SqliteStore.open(path)) as store:
        reads: list[Callable[[Reading], object]] = [
            lambda reading: reading.facts([broken]),
            lambda reading: reading.documents([broken]),
            lambda reading: reading.search(KeywordProbe({broken: 1.0}), CURRENT, 5),
            lambda reading: reading.browse(Selection(where=CURRENT, subject=broken)),
        ]
        writes: list[Callable[[Transaction], object]] = [
            lambda tx: tx.put_bank(Bank(id=BANK, name=broken)),
            lambda tx: tx.delete_facts([broken]),
            lambda tx: tx.insert_facts([new(make_fact("b", context=broken))]),
            lambda tx: tx.insert_facts([new(make_fact("b", metadata={"k": broken}))]),
            lambda tx: tx.insert_facts([new(make_fact("b"), words=broken)]),
        ]
        for read in reads:
            with pytest.raises(InvalidInput, match="surrogates"), store.reading(BANK) as reading:
                read(reading)
        for write in writes:
            with pytest.raises(InvalidInput, match="surrogates"), store.transaction(BANK) as tx:
                write(tx)
        with pytest.raises(InvalidInput, match="surrogates"), store.reading(broken):
            pass
        assert [fact.id for fact in browse(store).facts] == ["a"]


FORKED = """
import os, sys
from perdure.errors import StoreError
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import facts, make_fact, put

store = SqliteStore.open(sys.argv[1])
facts(store, "a")
child = os.fork()
if child == 0:
    refused = 0
    for call in (lambda: facts(store, "a"), lambda: put(store, make_fact("b"))):
        try:
            call()
        except StoreError as error:
            refused += "fork" in str(error)
    store.close()
    os._exit(refused)
refused = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
put(store, make_fact("c"))
print(refused, [fact.id for fact in facts(store, "a", "b", "c")])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_opens_its_own_store(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKED, path], capture_output=True, text=True)
    assert done.stdout.split(maxsplit=1) == ["2", "['a', 'c']\n"], done.stderr
