"""What a store keeps in memory, and for how long."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, CURRENT, browse, make_fact, new, put, search, unit


def test_a_bank_that_another_process_erased_leaves_memory(tmp_path: Path) -> None:
    with (
        closing(SqliteStore.open(tmp_path / "m.db")) as store,
        closing(SqliteStore.open(tmp_path / "m.db")) as other,
    ):
        put(store, make_fact("a"))
        assert browse(store).total == 1
        with other.transaction(BANK) as tx:
            tx.delete_bank()
        assert browse(store).total == 0
        assert BANK not in store._indexes


def test_a_reading_sees_one_state_of_the_index(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "m.db")) as store:
        put(store, new(make_fact("a"), words="word"))
        probe = KeywordProbe({"word": 1.0})
        with store.reading(BANK) as reading:
            assert len(reading.search(probe, CURRENT, 9)) == 1
            put(store, new(make_fact("b"), words="word"))
            assert len(reading.search(probe, CURRENT, 9)) == 1
            assert len(search(store, probe)) == 2


def test_no_reading_holds_a_transaction_open(tmp_path: Path) -> None:
    """A long reader would keep the log from being taken into the file."""
    with closing(SqliteStore.open(tmp_path / "m.db", busy_timeout_ms=50)) as store:
        put(store, new(make_fact("a"), words="word", vectors={"fact": unit(1)}))
        with store.reading(BANK) as reading:
            assert len(reading.search(SemanticProbe(unit(1)), CURRENT, 9)) == 1
            assert len(reading.facts(["a"])) == 1
            assert not store._connections.reader().connection.in_transaction
            put(store, make_fact("b"))
            with closing(sqlite3.connect(tmp_path / "m.db")) as raw:
                assert raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
