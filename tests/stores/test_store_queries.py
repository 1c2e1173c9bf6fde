"""Statements about certain rows find them by an index, however large the bank is."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Document, Entity, Link, LinkKind
from perdure.domain.record import Record
from perdure.ports.store import FactsWhere, Features, KeyedEntity, Proof, Reading, StagedVectors, Transaction
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, NOW, make_chunk, make_fact, new, put, unit

OTHER = EmbeddingModel("other", 8)
SCANS_A_BANK = re.compile(r"SCAN|AUTOMATIC|\(bank=\?\)|\(bank=\? AND view=\?\)|\(bank=\? AND \w+[<>]\?")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        put(store, *(new(make_fact(f"f{place}"), vectors={"fact": unit(1)}) for place in range(9)))
    return path


def read_some(rows: Reading | Transaction) -> None:
    rows.facts(["f1", "f2"])
    rows.features(["f1", "f2"])
    rows.documents(["d1", "d2"])
    rows.chunks(ids=["c1", "c2"])
    rows.chunks(document_id="d1")
    rows.entities(ids=["e1", "e2"])
    rows.entities(keys=["k1", "k2"])
    rows.links(["f1", "f2"])
    rows.proofs(["f1", "f2"])
    rows.facts_by_dedupe_key(["k1", "k2"])
    rows.records("kind", ["r1", "r2"])
    rows.find_facts(
        FactsWhere(
            document_ids=["d1"],
            chunk_ids=["c1"],
            entity_ids=["e1"],
            source_fact_ids=["f1"],
            superseded_by=["f1"],
        )
    )


def write_some(tx: Transaction) -> None:
    tx.put_documents([Document(id="d1", bank=BANK, tags=frozenset("ab"))])
    tx.put_chunks([make_chunk("c1", "d1", "text")])
    tx.put_entities([KeyedEntity(Entity(id="e1", bank=BANK, name="E"), ("e1",))])
    tx.put_records([Record(kind="kind", id="r1")])
    tx.insert_facts([new(make_fact("x"), words="x", vectors={"fact": unit(1)})])
    tx.put_links([Link("x", "f1", LinkKind.CAUSAL, 1.0), Link("f3", "f2", LinkKind.CAUSAL, 1.0)])
    (fact,) = tx.facts(["f5"])
    tx.update_facts([replace(fact, retired_at=NOW, tags=frozenset("ab"), entity_ids=("e1",))])
    tx.put_features({"f6": Features(vectors={"fact": unit(0, 1)})})
    tx.add_proofs([Proof("f1", "d1", "c1", NOW)])
    tx.proofs_from(document_ids=["d1"], chunk_ids=["c1"])
    tx.replace_proofs({"f1": [Proof("f1", "d1", "c1", NOW)]})
    tx.stage_vectors(OTHER, [StagedVectors("f1", {"fact": unit(1)})])
    tx.delete_facts(["f1", "f7"])
    tx.delete_documents(["d1"])
    tx.delete_chunks(["c1"])
    tx.delete_entities(["e1"])
    tx.delete_records("kind", ["r1"])


def scanning(path: Path, statements: list[str]) -> list[tuple[str, str]]:
    """(statement, what it does) of those that look at all rows of a bank."""
    with closing(sqlite3.connect(path)) as raw:
        plans = [
            (statement, row[3])
            for statement in statements
            if statement.startswith(("SELECT", "UPDATE", "DELETE"))
            for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]
    return [plan for plan in plans if SCANS_A_BANK.search(plan[1]) and "min(view)" not in plan[0]]


def test_reads_of_certain_rows_scan_no_bank(path: Path) -> None:
    statements: list[str] = []
    with closing(SqliteStore.open(path)) as store, store.reading(BANK) as reading:
        store._connections.reader().connection.set_trace_callback(statements.append)
        read_some(reading)
        reading.ranking_fields(["f1", "f2"])
        reading.passages(["f1", "f2"])
    assert len(statements) > 20
    assert scanning(path, statements) == []
