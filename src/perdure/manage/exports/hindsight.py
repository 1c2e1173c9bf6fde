"""Hindsight's transfer archive, schema 1: documents with chunks and facts."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from perdure.domain.fact import Chunk, Document, Fact, FactType
from perdure.domain.imported import HINDSIGHT_FIELDS
from perdure.manage.exports.bank import BankContent, iso, sure_time

SCHEMA_VERSION = 1
_CARRIED = {FactType.WORLD: "world", FactType.EXPERIENCE: "experience"}
"""Opinions and observations are derived again by Hindsight."""


def write_archive(bank: BankContent, path: Path) -> int:
    """Write the archive, without facts that are no longer believed, and return the number of facts."""
    documents = facts = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for document in bank.documents():
            own = [fact for fact in bank.facts_of(document_id=document.id) if _is_carried(fact)]
            body = _document(bank, document, own)
            archive.writestr(f"documents/{documents:06d}.json", json.dumps(body, ensure_ascii=False))
            documents += 1
            facts += len(own)
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "source_bank_id": bank.id,
            "exported_at": iso(bank.now),
            "document_count": documents,
            "fact_count": facts,
            "archive_type": "documents",
        }
        archive.writestr("manifest.json", json.dumps(manifest, indent=2))
    return facts


def _is_carried(fact: Fact) -> bool:
    return fact.retired_at is None and fact.type in _CARRIED


def _document(bank: BankContent, document: Document, facts: Sequence[Fact]) -> dict[str, object]:
    chunks = bank.chunks(document.id)
    ordered = sorted(facts, key=lambda fact: (fact.ordinal, fact.id))
    places = {fact.id: place for place, fact in enumerate(ordered)}
    causes: dict[str, list[int]] = {}
    for link in bank.causes(list(places)):
        if link.source in places and link.target in places:
            causes.setdefault(link.target, []).append(places[link.source])
    metadata = dict(document.metadata)
    if document.title:
        metadata[HINDSIGHT_FIELDS + "title"] = document.title
    return {
        "id": document.id,
        "original_text": "\n".join(chunk.text for chunk in chunks),
        "retain_params": {
            "context": document.context,
            "event_date": iso(_said_at(chunks)),
            "metadata": metadata,
        },
        "tags": sorted(document.tags),
        "created_at": iso(document.created_at),
        "chunks": [{"chunk_index": chunk.ordinal, "chunk_text": chunk.text} for chunk in chunks],
        "facts": [_fact(fact, chunks, causes.get(fact.id, [])) for fact in ordered],
    }


def _said_at(chunks: Sequence[Chunk]) -> datetime | None:
    said = [span.said_at for chunk in chunks for span in chunk.spans if span.said_at is not None]
    return min(said, default=None)


def _fact(fact: Fact, chunks: Sequence[Chunk], causes: Sequence[int]) -> dict[str, object]:
    occurred = sure_time(fact)
    ordinal = next((chunk.ordinal for chunk in chunks if chunk.id == fact.chunk_id), None)
    return {
        "text": fact.text,
        "source_id": fact.id,
        "fact_type": _CARRIED[fact.type],
        "context": fact.context or None,
        "event_date": None,
        "occurred_start": iso(occurred.start) if occurred else None,
        "occurred_end": iso(occurred.end) if occurred else None,
        "mentioned_at": iso(fact.mentioned_at),
        "metadata": {**fact.metadata, **_own_fields(fact)},
        "tags": sorted(fact.tags),
        "chunk_index": ordinal,
        "entities": list(fact.entities),
        "causal_relations": [
            {"relation_type": "caused_by", "target_fact_index": cause} for cause in sorted(causes)
        ],
        "created_at": iso(fact.recorded_at),
    }


def _own_fields(fact: Fact) -> Mapping[str, str]:
    """Return fields that Hindsight lacks, as metadata for our importer."""
    stated = {
        "speaker": fact.speaker,
        "subject": fact.subject if fact.relation else None,
        "relation": fact.relation,
        "object": fact.object if fact.relation else None,
        "valid_from": iso(fact.valid_from),
        "valid_to": iso(fact.valid_to),
        "topic": fact.topic,
    }
    return {HINDSIGHT_FIELDS + key: value for key, value in stated.items() if value}
