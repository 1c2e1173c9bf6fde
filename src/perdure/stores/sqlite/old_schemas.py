"""Takes the rows of schemas 1 to 5 over into schema 6. Everything about the old formats is written down here.

Schema 5 had no checksums. Schema 4 had no `end_recorded_at`: a fact that another superseded was retired, whether it had been true or not. Schemas 1 to 3
numbered facts for the whole file, later ones number them per bank in the same order. Schema 2 added the turns
of chunks; schema 3 put the table `segment` in the place of `vector_code`, both only copies for a quick start.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

import numpy as np

_BODY: dict[str, object] = {
    "occurred_start": None, "occurred_end": None, "mentioned_at": None, "valid_from": None, "valid_to": None,
    "recorded_at": None, "retired_at": None, "expires_at": None,
    "entities": (), "entity_ids": (), "emotion_tags": (), "flags": (), "source_fact_ids": (), "tags": (),
    "type": "world", "tier": "general",
    "document_id": None, "chunk_id": None, "ordinal": 0, "source_text": "", "speaker": "", "context": "",
    "superseded_by": None, "subject": None, "relation": None, "object": None, "metadata": {}, "topic": None,
    "classification": 0, "trust": 2, "credibility": 3, "relevance": 0.0, "emotion": 0.0, "confidence": None,
    "language": "en", "original_text": None, "proof_count": 1,
}  # fmt: skip
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

OldRow = dict[str, Any]
"""Values by column."""
NewRows = Iterator[tuple[str, dict[str, object]]]
"""(table of schema 6, values by column) each. Checksums are filled in at the end."""


WITHOUT_CHECKSUM = {"fact": "bank, no", "document": "bank, id", "chunk": "bank, rowid"}
"""The tables of schemas 4 and 5 that schema 6 defines otherwise, and the order in which their rows are taken over."""


def set_aside(db: sqlite3.Connection) -> None:
    """Rename the tables of schemas 4 and 5 that have no checksums."""
    for index in ("fact_document", "fact_chunk", "fact_superseded_by", "chunk_document"):
        db.execute(f"DROP INDEX {index}")
    for table in WITHOUT_CHECKSUM:
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")


def copy_rows(db: sqlite3.Connection, version: int) -> None:
    """Fill these tables from those of schema 4 or 5, which are dropped."""
    for table, order in WITHOUT_CHECKSUM.items():
        names = ", ".join(f'"{name}"' for _, name, *_ in db.execute(f"PRAGMA table_info(old_{table})"))
        db.execute(
            f"INSERT INTO {table} ({names}, checksum) SELECT {names}, 0 FROM old_{table} ORDER BY {order}"
        )
        _drop(db, table)
    db.execute("DELETE FROM index_cache")
    if version == 4:
        part_axes(db)
    db.execute("INSERT INTO erasure (erased_at) VALUES (?)", (datetime.now(UTC).isoformat(),))


def part_axes(db: sqlite3.Connection) -> None:
    """A fact that a later one ended was true before, and is believed for its period; only its end became known then.

    No pointer leads to a fact that was erased: such a fact stays closed, by nothing that could still be named.
    """
    db.execute(
        "UPDATE fact SET end_recorded_at = retired_at, retired_at = NULL WHERE superseded_by IS NOT NULL"
        " AND valid_to IS NOT NULL AND retired_at IS NOT NULL AND invalidated_at IS NULL"
    )
    db.execute(
        "UPDATE fact SET superseded_by = NULL WHERE superseded_by IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM fact AS other WHERE other.bank = fact.bank AND other.id = fact.superseded_by)"
    )


def set_old_tables_aside(db: sqlite3.Connection) -> dict[str, int]:
    """Rename the tables to old_...; returns the highest number ever given to a row, by name of the table."""
    highest = dict(db.execute("SELECT name, seq FROM sqlite_sequence"))
    objects = db.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for kind, name in sorted(objects):
        db.execute(f"DROP INDEX {name}" if kind == "index" else f"ALTER TABLE {name} RENAME TO old_{name}")
    return highest


def copy_old_rows(db: sqlite3.Connection, highest: dict[str, int]) -> None:
    """Fill the tables of schema 6 and drop the old ones, each as soon as it has been read: its pages are used again."""
    _drop(db, "segment", "vector_code", "change", "derived")
    db.execute("CREATE TABLE old_number (fact INTEGER PRIMARY KEY, no INTEGER NOT NULL)")
    db.execute(
        "INSERT INTO old_number SELECT no, row_number() OVER (PARTITION BY bank ORDER BY no) FROM old_fact ORDER BY no"
    )
    _copy(db, "SELECT * FROM old_bank", _bank)
    _copy(
        db,
        "SELECT DISTINCT bank FROM old_record WHERE bank <> '' AND bank NOT IN (SELECT id FROM bank)",
        _bare_bank,
    )
    _drop(db, "bank")
    _copy(db, "SELECT * FROM old_document", _document)
    _drop(db, "document")
    _copy(db, "SELECT * FROM old_chunk", _chunk)
    _drop(db, "chunk")
    _copy_facts(db)
    db.execute(
        "INSERT INTO vector (bank, view, fact, value)"
        " SELECT bank, view, no, value FROM old_vector_original JOIN old_number USING (fact)"
    )
    _drop(db, "vector_original")
    _copy(db, "SELECT * FROM old_staged JOIN old_number USING (fact)", _staged)
    db.execute(
        "INSERT INTO proof (bank, fact, ordinal, document_id, chunk_id, seen_at)"
        " SELECT bank, old_number.no, row_number() OVER (PARTITION BY fact ORDER BY old_proof.no) - 1,"
        " document_id, chunk_id, seen_at FROM old_proof JOIN old_number USING (fact)"
    )
    _copy(db, "SELECT * FROM old_entity", _entity)
    db.execute("INSERT INTO entity_key (bank, key, entity_id) SELECT bank, key, entity FROM old_entity_key")
    _copy(db, "SELECT old_record.*, no FROM old_record LEFT JOIN bank ON bank.id = old_record.bank", _record)
    _drop(db, "number", "staged", "proof", "entity", "entity_key", "record", "residue")
    part_axes(db)
    # Numbers of banks are never used twice; and what the old tables leave in the file has to be cleared.
    db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'bank'", (highest.get("bank", 0),))
    db.execute("INSERT INTO erasure (erased_at) VALUES (?)", (datetime.now(UTC).isoformat(),))


def _copy_facts(db: sqlite3.Connection) -> None:
    """Facts with their features and links; a link with a fact that was erased is left out."""
    db.execute("CREATE TABLE old_link (bank INTEGER, source INTEGER, target INTEGER, kind TEXT, weight REAL)")
    _copy(
        db,
        "SELECT old_fact.*, old_number.no AS number, dedupe_key, old_detail.terms AS index_terms, words, passage,"
        " tokens, signature, links FROM old_fact JOIN old_number ON old_number.fact = old_fact.no"
        " JOIN old_detail ON old_detail.fact = old_fact.no"
        " JOIN old_feature ON old_feature.bank = old_fact.bank AND old_feature.fact = old_fact.no"
        " ORDER BY old_fact.no",
        _fact,
    )
    _drop(db, "fact", "detail", "feature")
    db.execute(
        "INSERT INTO link (bank, source, target, kind, weight)"
        " SELECT bank, source.no, target.no, kind, weight FROM old_link"
        " JOIN old_number AS source ON source.fact = old_link.source"
        " JOIN old_number AS target ON target.fact = old_link.target"
    )
    _drop(db, "link")
    db.execute("UPDATE bank SET last_fact = (SELECT coalesce(max(no), 0) FROM fact WHERE bank = bank.no)")


def _drop(db: sqlite3.Connection, *tables: str) -> None:
    for table in tables:
        db.execute(f"DROP TABLE IF EXISTS old_{table}")


def _copy(db: sqlite3.Connection, query: str, convert: Callable[[OldRow], NewRows]) -> None:
    """Insert what old rows become, a block at a time."""
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


def _bank(old: OldRow) -> NewRows:
    kept = _take(old, "no id name mission settings model dimensions created_at updated_at version")
    yield "bank", kept | json.loads(old["disposition"])


def _bare_bank(old: OldRow) -> NewRows:
    """A bank that has records only."""
    traits = {"skepticism": 3, "literalism": 3, "empathy": 3, "bias_strength": 0.5}
    yield "bank", {"id": old["bank"], "name": "", "mission": "", "settings": "{}"} | traits


def _document(old: OldRow) -> NewRows:
    names = "title context tags metadata content_hash characters created_at updated_at"
    new = dict(zip(names.split(), json.loads(old["body"]), strict=True))
    tags = new.pop("tags")
    yield "document", _take(old, "bank id") | new | {"metadata": _json(new["metadata"]), "checksum": 0}
    for tag in tags:
        yield "document_tag", {"bank": old["bank"], "document_id": old["id"], "tag": tag}


def _chunk(old: OldRow) -> NewRows:
    yield "chunk", _take(old, "bank id document_id ordinal text content_hash") | {"checksum": 0}
    for ordinal, turn in enumerate(json.loads(old.get("spans") or "[]")):
        key = {"bank": old["bank"], "chunk_id": old["id"], "ordinal": ordinal}
        yield "chunk_turn", key | dict(zip("start end speaker is_agent said_at".split(), turn, strict=True))


def _fact(old: OldRow) -> NewRows:
    body = _body(json.loads(old["body"]))
    entity_ids, names, tags, sources = (
        body.pop(name) for name in ("entity_ids", "entities", "tags", "source_fact_ids")
    )
    flags = [flag for flag in body["flags"] if not flag.startswith(_INVALIDATED)]
    reasons = [flag.removeprefix(_INVALIDATED) for flag in body["flags"] if flag not in flags]
    times = json.loads(old["recall_times"] or "[]")
    new = _take(old, "bank id text") | body | {"checksum": 0}
    new |= {
        "no": old["number"],
        "metadata": _json(body["metadata"]),
        "emotion_tags": _json(body["emotion_tags"]),
    }
    new |= {"flags": _json(flags), "invalidated_at": body["retired_at"] if reasons else None}
    new |= {"invalid_reason": reasons[-1] if reasons else None, "recall_count": old["recalls"]}
    yield "fact", new | {"last_recalled_at": times[-1] if times else None, "recall_times": _json(times)}
    key = {"bank": old["bank"], "fact": old["number"]}
    for ordinal, (entity_id, name) in enumerate(zip_longest(entity_ids, names)):
        yield "fact_entity", key | {"ordinal": ordinal, "entity_id": entity_id, "name": name}
    for tag in tags:
        yield "fact_tag", key | {"tag": tag}
    for ordinal, source_id in enumerate(sources):
        yield "fact_source", key | {"ordinal": ordinal, "source_id": source_id}
    in_context, _, passage = old["passage"].rpartition(_PASSAGES)
    features = _take(old, "dedupe_key words signature tokens") | {"terms": old["index_terms"]}
    yield "fact_features", key | features | {"passage": passage, "passage_in_context": in_context}
    for other, kind, outgoing, weight in np.frombuffer(old["links"], _LINK).tolist():
        source, target = (old["no"], other) if outgoing else (other, old["no"])
        ends = {"bank": old["bank"], "source": source, "target": target}
        yield "old_link", ends | {"kind": _LINK_KINDS[kind], "weight": round(weight, 6)}


def _body(stored: list[Any]) -> dict[str, Any]:
    """The fields of a fact's body by name."""
    if not isinstance(stored[0], int):
        return dict(zip(_BODY, stored, strict=True))
    present, *values = stored
    names = [name for place, name in enumerate(_BODY) if present >> place & 1]
    return _BODY | dict(zip(names, values, strict=True))


def _staged(old: OldRow) -> NewRows:
    """`views` was the length of a JSON list of names (4 bytes), that list, and the vectors as float16."""
    key = _take(old, "bank model dimensions") | {"fact": old["no"]}
    yield "staged", key | {"tokens": old["tokens"]}
    end = 4 + int.from_bytes(old["views"][:4], "little")
    size = 2 * old["dimensions"]
    for place, view in enumerate(json.loads(old["views"][4:end])):
        start = end + place * size
        yield "staged_vector", key | {"view": view, "value": old["views"][start : start + size]}


def _entity(old: OldRow) -> NewRows:
    body = dict(zip("name type aliases first_seen last_seen".split(), json.loads(old["body"]), strict=True))
    yield "entity", _take(old, "bank id mentions") | body | {"aliases": _json(body["aliases"])}


def _record(old: OldRow) -> NewRows:
    body, created_at, updated_at = json.loads(old["body"])
    new = _take(old, "kind id") | {"body": _json(body), "created_at": created_at, "updated_at": updated_at}
    yield ("record", new | {"bank": old["no"]}) if old["bank"] else ("shared_record", new)


def _take(old: OldRow, names: str) -> dict[str, Any]:
    return {name: old[name] for name in names.split()}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
