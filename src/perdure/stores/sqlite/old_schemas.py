"""Takes the rows of schemas 1, 2 and 3 over into schema 4. Everything about the old formats is written down here.

Schemas 1 to 3 numbered facts for the whole file; these numbers are kept, as they rise within each bank. Schema 2 added the
turns of chunks; schema 3 the table `segment` in the place of `vector_code`, both only copies for a quick start.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

_BODY: dict[str, object] = {
    "occurred_start": None,
    "occurred_end": None,
    "mentioned_at": None,
    "valid_from": None,
    "valid_to": None,
    "recorded_at": None,
    "retired_at": None,
    "expires_at": None,
    "entities": (),
    "entity_ids": (),
    "emotion_tags": (),
    "flags": (),
    "source_fact_ids": (),
    "tags": (),
    "type": "world",
    "tier": "general",
    "document_id": None,
    "chunk_id": None,
    "ordinal": 0,
    "source_text": "",
    "speaker": "",
    "context": "",
    "superseded_by": None,
    "subject": None,
    "relation": None,
    "object": None,
    "metadata": {},
    "topic": None,
    "classification": 0,
    "trust": 2,
    "credibility": 3,
    "relevance": 0.0,
    "emotion": 0.0,
    "confidence": None,
    "language": "en",
    "original_text": None,
    "proof_count": 1,
}
"""The fields of `fact.body` in their order there, with their defaults.

A body is a JSON array of all fields, or (written by schema 3) of a number and some of them: where bit n of the number is set,
the array has the nth field next, else the field has its default.
"""
_LINK = np.dtype([("other", "<i8"), ("kind", "u1"), ("outgoing", "u1"), ("weight", "<f4")])
"""A link in `feature.links`; the other fact has a lower number."""
_LINK_KINDS = ("temporal", "semantic", "causal")
_PASSAGES = "\x1f"
"""`detail.passage` was the passage, or the passage in context, this character and the passage."""
_INVALIDATED = "invalidated: "
"""The flag of a fact that somebody declared wrong; the reason followed."""
_BLOCK = 500
"""Rows in memory at a time."""

NewRows = Iterator[tuple[str, dict[str, object]]]
"""(table of schema 4, values by column) each."""


def set_old_tables_aside(db: sqlite3.Connection) -> dict[str, int]:
    """Rename the tables to old_...; returns the highest number ever given to a row, by name of the table."""
    highest = dict(db.execute("SELECT name, seq FROM sqlite_sequence"))
    objects = db.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for kind, name in sorted(objects):
        db.execute(f"DROP INDEX {name}" if kind == "index" else f"ALTER TABLE {name} RENAME TO old_{name}")
    return highest


def copy_old_rows(db: sqlite3.Connection, highest: dict[str, int]) -> None:
    """Fill the tables of schema 4 and drop the old ones, each as soon as it has been read: its pages are used again."""
    _drop(db, "segment", "vector_code", "change", "derived")
    _copy(db, "SELECT * FROM old_bank", partial(_bank, last_fact=highest.get("fact", 0)))
    _copy(
        db,
        "SELECT DISTINCT bank FROM old_record WHERE bank NOT IN (SELECT id FROM old_bank) AND bank <> ''",
        _unnamed_bank,
    )
    _drop(db, "bank")
    _copy(db, "SELECT bank, id, body FROM old_document", _document)
    _drop(db, "document")
    _copy(db, "SELECT * FROM old_chunk", _chunk)
    _drop(db, "chunk")
    _copy(
        db,
        "SELECT old_fact.*, dedupe_key, old_detail.terms AS index_terms, words, passage, tokens, signature, links"
        " FROM old_fact JOIN old_detail ON old_detail.fact = no"
        " JOIN old_feature ON old_feature.bank = old_fact.bank AND old_feature.fact = no ORDER BY no",
        _fact,
    )
    _drop(db, "fact", "detail", "feature")
    for end in ("source", "target"):
        db.execute(
            f"DELETE FROM link WHERE NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = link.bank AND no = {end})"
        )
    db.execute(
        "INSERT INTO vector (bank, view, fact, value) SELECT bank, view, fact, value FROM old_vector_original"
    )
    _drop(db, "vector_original")
    _copy(db, "SELECT * FROM old_staged", _staged)
    db.execute(
        "INSERT INTO proof (bank, fact, ordinal, document_id, chunk_id, seen_at)"
        " SELECT bank, fact, row_number() OVER (PARTITION BY bank, fact ORDER BY no) - 1, document_id, chunk_id, seen_at"
        " FROM old_proof"
    )
    _copy(db, "SELECT * FROM old_entity", _entity)
    db.execute("INSERT INTO entity_key (bank, key, entity_id) SELECT bank, key, entity FROM old_entity_key")
    _copy(db, "SELECT old_record.*, no FROM old_record LEFT JOIN bank ON bank.id = old_record.bank", _record)
    _drop(db, "staged", "proof", "entity", "entity_key", "record", "residue")
    # Numbers of banks are never used twice; and what the old tables leave in the file has to be cleared.
    db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'bank'", (highest.get("bank", 0),))
    db.execute("INSERT INTO erasure (erased_at) VALUES (?)", (datetime.now(UTC).isoformat(),))


def _drop(db: sqlite3.Connection, *tables: str) -> None:
    for table in tables:
        db.execute(f"DROP TABLE IF EXISTS old_{table}")


def _copy(db: sqlite3.Connection, query: str, convert: Callable[[dict[str, Any]], NewRows]) -> None:
    """Insert what old rows (values by column) become, a block at a time."""
    cursor = db.execute(query)
    names = [column[0] for column in cursor.description]
    while block := cursor.fetchmany(_BLOCK):
        rows: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
        for old in block:
            for table, new in convert(dict(zip(names, old, strict=True))):
                rows[table].append(new)
        for table, group in rows.items():
            columns = ", ".join(f'"{name}"' for name in group[0])
            values = ", ".join(f":{name}" for name in group[0])
            db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({values})", group)


def _bank(old: dict[str, Any], last_fact: int) -> NewRows:
    kept = (
        "no",
        "id",
        "name",
        "mission",
        "settings",
        "model",
        "dimensions",
        "created_at",
        "updated_at",
        "version",
    )
    yield (
        "bank",
        {name: old[name] for name in kept} | json.loads(old["disposition"]) | {"last_fact": last_fact},
    )


def _unnamed_bank(old: dict[str, Any]) -> NewRows:
    """A bank that has records only."""
    traits = {"skepticism": 3, "literalism": 3, "empathy": 3, "bias_strength": 0.5}
    yield "bank", {"id": old["bank"], "name": "", "mission": "", "settings": "{}"} | traits


def _document(old: dict[str, Any]) -> NewRows:
    title, context, tags, metadata, content_hash, characters, created_at, updated_at = json.loads(old["body"])
    yield (
        "document",
        {
            "bank": old["bank"],
            "id": old["id"],
            "title": title,
            "context": context,
            "metadata": _json(metadata),
            "content_hash": content_hash,
            "characters": characters,
            "created_at": created_at,
            "updated_at": updated_at,
        },
    )
    for tag in tags:
        yield "document_tag", {"bank": old["bank"], "document_id": old["id"], "tag": tag}


def _chunk(old: dict[str, Any]) -> NewRows:
    kept = ("bank", "id", "document_id", "ordinal", "text", "content_hash")
    yield "chunk", {name: old[name] for name in kept}
    for ordinal, turn in enumerate(json.loads(old.get("spans") or "[]")):
        names = ("start", "end", "speaker", "is_agent", "said_at")
        key = {"bank": old["bank"], "chunk_id": old["id"], "ordinal": ordinal}
        yield "chunk_turn", key | dict(zip(names, turn, strict=True))


def _fact(old: dict[str, Any]) -> NewRows:
    body = _body(json.loads(old["body"]))
    lists = {name: body.pop(name) for name in ("entities", "entity_ids", "tags", "source_fact_ids")}
    reasons = [flag.removeprefix(_INVALIDATED) for flag in body["flags"] if flag.startswith(_INVALIDATED)]
    if reasons and body["retired_at"] is not None:
        body |= {"invalidated_at": body["retired_at"], "invalid_reason": reasons[-1]}
        body["flags"] = [flag for flag in body["flags"] if not flag.startswith(_INVALIDATED)]
    else:
        body |= {"invalidated_at": None, "invalid_reason": None}
    times = json.loads(old["recall_times"] or "[]")
    yield (
        "fact",
        {
            **{name: old[name] for name in ("bank", "no", "id", "text")},
            **body,
            **{name: _json(body[name]) for name in ("metadata", "emotion_tags", "flags")},
            "recall_count": old["recalls"],
            "last_recalled_at": times[-1] if times else None,
            "recall_times": _json(times),
        },
    )
    key = {"bank": old["bank"], "fact": old["no"]}
    for ordinal, (entity_id, name) in enumerate(zip_longest(lists["entity_ids"], lists["entities"])):
        yield "fact_entity", key | {"ordinal": ordinal, "entity_id": entity_id, "name": name}
    for tag in lists["tags"]:
        yield "fact_tag", key | {"tag": tag}
    for ordinal, source_id in enumerate(lists["source_fact_ids"]):
        yield "fact_source", key | {"ordinal": ordinal, "source_id": source_id}
    in_context, _, passage = old["passage"].rpartition(_PASSAGES)
    yield (
        "fact_features",
        key
        | {
            **{name: old[name] for name in ("dedupe_key", "words", "signature", "tokens")},
            "terms": old["index_terms"],
            "passage": passage,
            "passage_in_context": in_context,
        },
    )
    for other, kind, outgoing, weight in np.frombuffer(old["links"], _LINK).tolist():
        source, target = (old["no"], other) if outgoing else (other, old["no"])
        ends = {"bank": old["bank"], "source": source, "target": target}
        yield "link", ends | {"kind": _LINK_KINDS[kind], "weight": round(weight, 6)}


def _body(stored: list[Any]) -> dict[str, Any]:
    """The fields of a fact's body by name."""
    if not isinstance(stored[0], int):
        return dict(zip(_BODY, stored, strict=True))
    present, *held = stored
    names = [name for place, name in enumerate(_BODY) if present >> place & 1]
    return _BODY | dict(zip(names, held, strict=True))


def _staged(old: dict[str, Any]) -> NewRows:
    """`views` was the length of a JSON list of names (4 bytes), that list, and the vectors as float16."""
    key = {name: old[name] for name in ("bank", "model", "dimensions", "fact")}
    yield "staged", key | {"tokens": old["tokens"]}
    end = 4 + int.from_bytes(old["views"][:4], "little")
    views, size = json.loads(old["views"][4:end]), 2 * old["dimensions"]
    for place, view in enumerate(views):
        start = end + place * size
        yield "staged_vector", key | {"view": view, "value": old["views"][start : start + size]}


def _entity(old: dict[str, Any]) -> NewRows:
    name, kind, aliases, first_seen, last_seen = json.loads(old["body"])
    yield (
        "entity",
        {
            **{name: old[name] for name in ("bank", "id", "mentions")},
            "name": name,
            "type": kind,
            "aliases": _json(aliases),
            "first_seen": first_seen,
            "last_seen": last_seen,
        },
    )


def _record(old: dict[str, Any]) -> NewRows:
    body, created_at, updated_at = json.loads(old["body"])
    row = {"kind": old["kind"], "id": old["id"], "body": _json(body)}
    row |= {"created_at": created_at, "updated_at": updated_at}
    yield ("record", row | {"bank": old["no"]}) if old["bank"] else ("shared_record", row)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
