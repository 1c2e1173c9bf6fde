"""Wrote the golden files of schemas 1 to 3, with the code of these commits and no other:

    schema 1  db4f4a4      schema 2  cf70053      schema 3  889ad4c

    git archive db4f4a4 src | tar -x -C OLD && PYTHONPATH=OLD/src python tests/golden/write_old.py tests/golden/schema_1

makes schema_1.sql, a dump of the file, and schema_1.json: what that code reads back from it, in the words of today. Three things
are said otherwise today: the flag "invalidated: reason" is `invalidated_at` and `invalid_reason`, the joined passage is
`passage` and `passage_in_context`, and a fact that another ended has `end_recorded_at` instead of `retired_at`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np

from perdure.domain import fact as domain
from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier
from perdure.domain.record import Record
from perdure.ports.store import Closure, Features, KeyedEntity, NewFact, Proof, Target, WriteBatch
from perdure.stores.sqlite.migrate import SCHEMA
from perdure.stores.sqlite.store import SqliteStore

BANK = "home"
NOW = datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
MODEL, NEXT = EmbeddingModel("tiny", 8), EmbeddingModel("next", 4)
KINDS = ("operation", "directive", "api_key")


def vector(seed: int, size: int = 8) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=size).astype(np.float32)
    return (drawn / np.linalg.norm(drawn)).astype(np.float16).astype(np.float32)


FULL = Fact(
    id="f-full",
    bank=BANK,
    text="Ünïcode \U0001f600 “quotes”\nand a second line",
    type=FactType.OPINION,
    document_id="d1",
    chunk_id="c1",
    ordinal=7,
    source_text="what was said",
    speaker="Ann",
    context="at lunch",
    occurred_start=NOW - timedelta(days=2),
    occurred_end=NOW - timedelta(days=1),
    mentioned_at=NOW,
    valid_from=NOW - timedelta(days=2),
    valid_to=NOW + timedelta(days=900),
    recorded_at=NOW.astimezone(UTC),
    subject="Ann",
    relation="lives_in",
    object="Oslo",
    entities=("Ann", "Oslo"),
    entity_ids=("ann", "oslo"),
    tags=frozenset({"place", "home"}),
    metadata={"turn": "2", "k ": ""},
    topic="travel",
    tier=Tier.CORE,
    classification=3,
    trust=1,
    credibility=6,
    relevance=0.75,
    emotion=-4.5,
    emotion_tags=("fear", "joy"),
    confidence=0.25,
    expires_at=NOW + timedelta(days=400),
    language="no",
    original_text="det som ble sagt",
    flags=("odd", "negated"),
    proof_count=3,
)
FACTS = [
    FULL,
    Fact(id="f-plain", bank=BANK, text="a fact of defaults"),
    Fact(id="f-old", bank=BANK, text="Ann lives in Rome", recorded_at=NOW, document_id="d1", chunk_id="c1"),
    Fact(id="f-new", bank=BANK, text="Ann lives in Bern", recorded_at=NOW, document_id="d2", chunk_id="c2"),
    Fact(
        id="f-wrong",
        bank=BANK,
        text="declared wrong",
        recorded_at=NOW,
        retired_at=NOW + timedelta(hours=3),
        flags=("kept", "invalidated: no: never so"),
    ),
    Fact(
        id="f-observed",
        bank=BANK,
        text="Ann moves often",
        type=FactType.OBSERVATION,
        source_fact_ids=("f-old", "f-new", "f-full"),
        proof_count=3,
        confidence=1.0,
        recorded_at=NOW,
    ),
    Fact(id="f-names", bank=BANK, text="names without ids", entities=("Ann", "Bo"), entity_ids=("ann",)),
    Fact(id="f-ids", bank=BANK, text="ids without names", entity_ids=("ann", "bo")),
    Fact(id="f-recalled", bank=BANK, text="recalled often"),
    Fact(id="f-doomed", bank=BANK, text="to be erased", document_id="d3", chunk_id="c3"),
    Fact(id="f-last", bank=BANK, text="the last one", mentioned_at=NOW, emotion=1, relevance=1),
]


def features(number: int, fact: Fact) -> Features:
    vectors = {"fact": vector(number), "context": vector(100 + number)}
    return Features(
        vectors={} if fact.id == "f-plain" else {"fact": vector(number)} if number % 2 else vectors,
        terms=dict.fromkeys(fact.text.split(), 1.5),
        words=tuple(fact.text.lower().split()),
        signature=bytes(range(number, number + 32)) if number % 3 else b"",
        tokens=b"\x00\xfftok" if number % 2 else b"",
        dedupe_key="" if fact.id == "f-plain" else f"key {fact.id}",
        passage=("", f"Ann: {fact.text}", f"Bo: hm?\nAnn: {fact.text}\x1fAnn: {fact.text}")[number % 3],
    )


def chunk(number: int) -> Chunk:
    turns: dict[str, Any] = {}
    if hasattr(domain, "TurnSpan") and number == 1:
        spans = (
            domain.TurnSpan(start=0, end=4, speaker="Ann", said_at=NOW),
            domain.TurnSpan(start=5, end=9, speaker="bot", is_agent=True),
        )
        turns = {"spans": spans}
    text = f"Ann: chunk {number} \U0001f600"
    return Chunk(
        id=f"c{number}",
        bank=BANK,
        document_id=f"d{number}",
        ordinal=number,
        text=text,
        content_hash=f"h{number}",
        **turns,
    )


def fill(store: SqliteStore) -> None:
    gone, other = (Fact(id="f-full", bank=bank, text=f"of bank {bank}") for bank in ("gone", "other"))
    store.write(WriteBatch(bank="gone", facts=[NewFact(gone, Features())]))
    store.save_bank(
        Bank(
            id=BANK,
            name="Home",
            mission="to remember",
            disposition=Disposition(1, 5, 2, 0.75),
            settings={"recipe": "fast", "depth": {"low": [1, 2.5, None, True]}},
            created_at=NOW,
        )
    )
    documents = [
        Document(id="d1", bank=BANK, title="Talk", context="at lunch", tags=frozenset({"b", "a"}), metadata={"k": "v"},
                 content_hash="h", characters=31, created_at=NOW, updated_at=NOW + timedelta(hours=1)),
        Document(id="d2", bank=BANK, title="Note"),
        Document(id="d3", bank=BANK),
    ]  # fmt: skip
    entities = [
        KeyedEntity(
            Entity(id="ann", bank=BANK, name="Ann", type="person", aliases=("Annie", "A."), mentions=5,
                   first_seen=NOW, last_seen=NOW + timedelta(days=1)),
            ("ann", "annie"),
        ),
        KeyedEntity(Entity(id="oslo", bank=BANK, name="Oslo"), ("oslo",)),
    ]  # fmt: skip
    for first in range(0, len(FACTS), 4):
        batch = [NewFact(fact, features(number, fact)) for number, fact in enumerate(FACTS)][
            first : first + 4
        ]
        store.write(WriteBatch(bank=BANK, model=MODEL, facts=batch))
        store.write(WriteBatch(bank="other", facts=[NewFact(replace(other, id=f"o{first}"), Features())]))
    again = Fact(id="f-again", bank=BANK, text="said again", document_id="d2", chunk_id="c2", recorded_at=NOW)
    store.write(
        WriteBatch(
            bank=BANK,
            documents=documents,
            chunks=[chunk(number) for number in (1, 2, 3)],
            entities=entities,
            facts=[NewFact(again, Features(dedupe_key="key f-full"))],
            proofs=[
                Proof(fact_id="f-full", document_id=None, chunk_id=None, seen_at=None),
                Proof(fact_id="f-last", document_id="d2", chunk_id="c2", seen_at=NOW),
            ],
            closures=[Closure(fact_id="f-old", retired_at=NOW, valid_to=NOW, superseded_by="f-new")],
            links=[
                Link("f-full", "f-plain", LinkKind.SEMANTIC, 0.7),
                Link("f-plain", "f-full", LinkKind.CAUSAL, 1.0),
                Link("f-old", "f-new", LinkKind.TEMPORAL, 1 / 3),
                Link("f-last", "f-doomed", LinkKind.SEMANTIC, 0.5),
                Link("f-last", "f-old", LinkKind.CAUSAL, 0.9),
            ],
            records=[
                Record(kind="operation", id="o1", bank=BANK, body={"state": "done", "items": [{"text": "ü"}]})
            ],
        )
    )
    store.save_records(
        [
            Record(kind="api_key", id="k1", body={"hash": "00ff"}, created_at=NOW),
            Record(kind="api_key", id="k0", created_at=NOW),
            Record(kind="directive", id="r", bank="ghost", body={"text": "be kind"}),
        ]
    )
    for number in range(25):
        store.record_recalls(BANK, ["f-recalled"], NOW + timedelta(minutes=number))
    store.record_recalls(BANK, ["f-full"], NOW)
    store.stage_vectors(
        BANK,
        NEXT,
        [("f-full", {"fact": vector(1, 4), "context": vector(2, 4)}, b"new"), ("f-plain", {}, b"")],
    )
    store.forget("gone", Target(bank=True))
    store.forget(BANK, Target(document_id="d3"))


def plain(value: Any) -> Any:
    """What JSON can hold."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.hex() if isinstance(value, bytes) else value


def fact_today(fact: Fact) -> dict[str, Any]:
    read = plain(fact)
    reasons = [flag.removeprefix("invalidated: ") for flag in fact.flags if flag.startswith("invalidated: ")]
    read["flags"] = [flag for flag in fact.flags if not flag.startswith("invalidated: ")]
    read["invalidated_at"] = read["retired_at"] if reasons else None
    read["invalid_reason"] = reasons[0] if reasons else None
    return read


def features_today(stored: Features) -> dict[str, Any]:
    read = plain(stored)
    read["passage_in_context"], _, read["passage"] = stored.passage.rpartition("\x1f")
    return read


def chunk_today(stored: Chunk) -> dict[str, Any]:
    return {"spans": []} | plain(stored)


def read_bank(store: SqliteStore, bank: str, ids: list[str], proofs: list[Any]) -> dict[str, Any]:
    return {
        "bank": [plain(one) for one in store.banks([bank])],
        "facts": [fact_today(fact) for fact in store.facts(bank, ids)],
        "features": {fact_id: features_today(one) for fact_id, one in store.features(bank, ids).items()},
        "links": plain(store.links(bank, ids)),
        "proofs": proofs,
        "documents": plain(store.documents(bank)),
        "chunks": [chunk_today(one) for d in ("d1", "d2", "d3") for one in store.chunks(bank, document_id=d)],
        "entities": [{"entity": plain(one.entity), "keys": list(one.keys)} for one in store.entities(bank)],
        "records": [plain(record) for kind in KINDS for record in store.records(kind, bank=bank)],
    }


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        store = SqliteStore.open(path, clock=lambda: NOW)
        fill(store)
        store.close()
        raw = sqlite3.connect(path)
        raw.execute("PRAGMA journal_mode = DELETE")
        ids: dict[str, list[str]] = {"ghost": []}
        for bank, fact_id in raw.execute(
            "SELECT bank.id, fact.id FROM fact JOIN bank ON bank.no = bank ORDER BY fact.no"
        ):
            ids.setdefault(bank, []).append(fact_id)
        proofs: dict[str, list[Any]] = {bank: [] for bank in ids}
        for bank, *proof in raw.execute(
            "SELECT bank.id, fact.id, proof.document_id, proof.chunk_id, seen_at FROM proof JOIN fact ON fact.no = proof.fact"
            " JOIN bank ON bank.no = fact.bank ORDER BY fact.no, proof.no"
        ):
            names = ("fact_id", "document_id", "chunk_id", "seen_at")
            proofs[bank].append(dict(zip(names, proof, strict=True)))
        (application,) = raw.execute("PRAGMA application_id").fetchone()
        pragmas = [f"PRAGMA application_id = {application};", f"PRAGMA user_version = {SCHEMA};"]
        target.with_suffix(".sql").write_text("\n".join([*raw.iterdump(), *pragmas, ""]), encoding="utf-8")
        raw.close()
        store = SqliteStore.open(path, clock=lambda: NOW)
        read = {
            "banks": {
                bank: read_bank(store, bank, facts, proofs[bank]) for bank, facts in sorted(ids.items())
            },
            "shared_records": plain(store.records("api_key")),
            "staged": {
                "model": plain(NEXT),
                "f-full": {"fact": plain(vector(1, 4)), "context": plain(vector(2, 4))},
            },
        }
        store.close()
    target.with_suffix(".json").write_text(
        json.dumps(read, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
