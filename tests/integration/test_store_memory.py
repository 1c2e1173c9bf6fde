"""What a store keeps in memory, and for how long."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.errors import ModelMismatch
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import Selection, StagedVectors
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, CURRENT, browse, make_fact, new, put, search, unit


def test_banks_that_are_only_listed_leave_memory_too(tmp_path: Path) -> None:
    banks = [f"bank{number}" for number in range(5)]
    with closing(SqliteStore.open(tmp_path / "m.db", index_memory_mb=0)) as store:
        for bank in banks:
            with store.transaction(bank) as tx:
                tx.insert_facts([new(replace(make_fact("a"), bank=bank))])
        for bank in banks:
            with store.reading(bank) as reading:
                assert reading.browse(Selection(where=CURRENT)).total == 1
        assert [bank in store._indexes for bank in banks] == [False] * 4 + [True]


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


def test_rows_are_read_without_an_index(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "m.db")) as store:
        put(store, make_fact("a"))
        with store.reading(BANK) as reading:
            assert (
                len(reading.facts(["a"])) == len(reading.ranking_fields(["a"])) == reading.stats().facts == 1
            )
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


def test_vectors_that_were_replaced_meanwhile_are_a_mismatch(tmp_path: Path) -> None:
    other, vectors = EmbeddingModel("other", 4), np.eye(4, dtype=np.float32)
    path = tmp_path / "m.db"
    with closing(SqliteStore.open(path)) as store, closing(SqliteStore.open(path)) as second:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}) for name in "abcd"))
        with store.reading(BANK) as reading:
            with second.transaction(BANK) as tx:
                staged = [
                    StagedVectors(name, {"fact": v}, b"") for name, v in zip("abcd", vectors, strict=True)
                ]
                tx.stage_vectors(other, staged)
                assert tx.unstaged_facts(other) == []
                tx.switch_model(other)
            with pytest.raises(ModelMismatch):
                reading.search(SemanticProbe(unit(1)), CURRENT, 9)
        with pytest.raises(ModelMismatch):
            search(store, SemanticProbe(unit(1)))
        assert len(search(store, SemanticProbe(vectors[0]))) == 4
