"""Write the golden file of a new schema: what its JSON file says, through the store's own transactions.

    PYTHONPATH=src python -m tests.golden.write

makes schema_N.sql, a dump of the file, and schema_N.json: what is read back from it. The golden file of a released
schema is never written again.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier, TurnSpan
from perdure.domain.record import Record
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, StagedVectors
from perdure.stores.sqlite.schema import SCHEMA
from perdure.stores.sqlite.store import SqliteStore
from tests.golden.reading import NEXT, read_store

HERE = Path(__file__).parent
_TIMES = ("_at", "_start", "_end", "_seen", "valid_from", "valid_to")
_TUPLES = ("entities", "entity_ids", "emotion_tags", "flags", "source_fact_ids", "aliases", "words")


def fields(read: Mapping[str, Any]) -> dict[str, Any]:
    """Field values of a JSON object."""
    values = dict(read)
    for name, value in read.items():
        if value is not None and name.endswith(_TIMES):
            values[name] = datetime.fromisoformat(value)
        elif name in _TUPLES:
            values[name] = tuple(value)
        elif name == "tags":
            values[name] = frozenset(value)
    return values


def read_fact(read: Mapping[str, Any]) -> Fact:
    times = tuple(map(datetime.fromisoformat, read["recall_times"]))
    dates = tuple((words, date) for words, date in read["dates"])
    kinds = {"type": FactType(read["type"]), "tier": Tier(read["tier"])}
    return Fact(**fields(read) | kinds | {"recall_times": times, "dates": dates})


def read_features(read: Mapping[str, Any]) -> Features:
    vectors = {view: np.array(values, np.float32) for view, values in read["vectors"].items()}
    return Features(**fields(read) | {"signature": bytes.fromhex(read["signature"]), "vectors": vectors})


def write_bank(store: SqliteStore, bank: str, read: Mapping[str, Any]) -> None:
    with store.transaction(bank) as tx:
        for one in read["bank"]:
            model = one.pop("model")
            disposition = Disposition(**one.pop("disposition"))
            tx.put_bank(Bank(**fields(one), disposition=disposition))
            if model:
                tx.set_model(EmbeddingModel(**model))
        tx.put_documents([Document(**fields(one)) for one in read["documents"]])
        for one in read["chunks"]:
            turns = tuple(TurnSpan(**fields(turn)) for turn in one.pop("spans"))
            tx.put_chunks([Chunk(**one, spans=turns)])
        features = {fact_id: read_features(one) for fact_id, one in read["features"].items()}
        tx.insert_facts([NewFact(read_fact(one), features[one["id"]]) for one in read["facts"]])
        tx.put_links([Link(**one | {"kind": LinkKind(one["kind"])}) for one in read["links"]])
        tx.add_proofs([Proof(**fields(one)) for one in read["proofs"]])
        tx.put_entities(
            [KeyedEntity(Entity(**fields(one["entity"])), tuple(one["keys"])) for one in read["entities"]]
        )
        tx.put_records([Record(**fields(one)) for one in read["records"]])


def fill(store: SqliteStore, read: Mapping[str, Any]) -> None:
    for bank, one in read["banks"].items():
        write_bank(store, bank, one)
    store.put_shared_records([Record(**fields(one)) for one in read["shared_records"]])
    staged = {view: np.array(values, np.float32) for view, values in read["staged"]["f-full"].items()}
    with store.transaction("home") as tx:
        tx.stage_vectors(NEXT, [StagedVectors("f-full", staged), StagedVectors("f-plain", {})])
        tx.insert_facts([NewFact(Fact(id="f-doomed", bank="home", text="to be erased"), Features())])
    with store.transaction("home") as tx:
        tx.delete_facts(["f-doomed"])
        tx.erased_content()


def main() -> None:
    read = json.loads((HERE / f"schema_{SCHEMA}.json").read_text(encoding="utf-8"))
    now = datetime.fromisoformat("2024-05-01T12:00:00.123456+02:00")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with closing(SqliteStore.open(path, clock=lambda: now)) as store:
            fill(store, read)
            written = read_store(store) | {"staged": read["staged"]}
        with closing(sqlite3.connect(path)) as raw:
            (application,) = raw.execute("PRAGMA application_id").fetchone()
            pragmas = [f"PRAGMA application_id = {application};", f"PRAGMA user_version = {SCHEMA};"]
            dump = "\n".join([*raw.iterdump(), *pragmas, ""])
    (HERE / f"schema_{SCHEMA}.sql").write_text(dump, encoding="utf-8")
    text = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
    (HERE / f"schema_{SCHEMA}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
