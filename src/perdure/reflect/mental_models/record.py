"""How mental models are stored: one record each, one more for its history and one for its vector.

kind                   id        body
mental_model           <model>   settings, the sections with the facts of each sentence, the watermark
mental_model_history   <model>   what it said before, newest first, at most 50 entries
mental_model_vector    <model>   the vector of the document, with the name of its model and a digest of the text
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from perdure.domain.knowledge import KNOWLEDGE_NODE
from perdure.domain.mental_model import (
    MAX_HISTORY,
    PLACEHOLDER,
    MentalModel,
    MentalModelVersion,
    ModelSection,
    cited_ids,
    render_sections,
)
from perdure.domain.plain import from_plain, from_record, readable, to_plain, to_record
from perdure.domain.record import Record
from perdure.errors import NotFound
from perdure.ports.embedder import Embedder, Vector
from perdure.ports.store import Rows, Transaction
from perdure.retain.identity import digest

MENTAL_MODEL = "mental_model"
HISTORY = "mental_model_history"
VECTOR = "mental_model_vector"


def read_model(record: Record) -> MentalModel:
    return from_record(MentalModel, record)


def put_model(tx: Transaction, model: MentalModel) -> None:
    """Insert or replace a model."""
    tx.put_records([to_record(MENTAL_MODEL, model)])


def delete_models(tx: Transaction, ids: Sequence[str]) -> None:
    """Delete models with their history and vectors, and the pages that show them."""
    shown = [record.id for record in tx.records(KNOWLEDGE_NODE) if record.body["mental_model_id"] in ids]
    tx.delete_records(KNOWLEDGE_NODE, shown)
    for kind in (MENTAL_MODEL, HISTORY, VECTOR):
        tx.delete_records(kind, ids)


def every_model(rows: Rows) -> list[MentalModel]:
    """All models of a bank: newest refresh first, ties by id."""
    models = sorted(readable(rows.records(MENTAL_MODEL), read_model), key=lambda model: model.id)
    return sorted(models, key=_refreshed, reverse=True)


def _refreshed(model: MentalModel) -> float:
    moment = model.last_refreshed_at or model.created_at
    return 0.0 if moment is None else moment.timestamp()


def find_model(rows: Rows, model_id: str) -> MentalModel:
    """The model of an id."""
    for record in rows.records(MENTAL_MODEL, [model_id]):
        return read_model(record)
    raise NotFound("mental model", model_id)


# History


def read_history(rows: Rows, model_id: str) -> list[MentalModelVersion]:
    """What a model said before, newest first."""
    return [version for record in rows.records(HISTORY, [model_id]) for version in read_versions(record)]


def read_versions(record: Record) -> list[MentalModelVersion]:
    """The entries of a history, newest first."""
    body: Mapping[str, Any] = record.body
    return [_version(entry) for entry in body["entries"]]


def add_version(tx: Transaction, model: MentalModel, changed_at: datetime) -> None:
    """Keep what the model says before it is written anew."""
    entry = {
        "changed_at": changed_at.isoformat(),
        "generated": model.generated,
        "sections": to_plain(model.sections),
        "trace": model.trace,
        **({"written_by": model.written_by} if model.written_by else {}),
    }
    put_entries(tx, model.bank, model.id, [entry, *_entries(tx, model.id)][:MAX_HISTORY])


def put_entries(tx: Transaction, bank: str, model_id: str, entries: Sequence[Mapping[str, object]]) -> None:
    """Replace a model's history."""
    tx.put_records([Record(kind=HISTORY, id=model_id, bank=bank, body={"entries": list(entries)})])


def _entries(rows: Rows, model_id: str) -> list[Mapping[str, Any]]:
    records = rows.records(HISTORY, [model_id])
    body: Mapping[str, Any] = records[0].body if records else {"entries": []}
    return list(body["entries"])


def _version(entry: Mapping[str, Any]) -> MentalModelVersion:
    sections = read_sections(entry["sections"])
    return MentalModelVersion(
        content=render_sections(sections) if entry["generated"] else PLACEHOLDER,
        fact_ids=cited_ids(sections),
        changed_at=datetime.fromisoformat(entry["changed_at"]),
        trace=entry["trace"],
        written_by=entry.get("written_by", ""),
    )


# Vectors


def searched_text(model: MentalModel) -> str:
    """What a search looks at of a model: its name, its question and, once there is one, its document."""
    content = render_sections(model.sections)
    return "\n".join(part for part in (model.name, model.source_query, content) if part)


def put_vector(tx: Transaction, model: MentalModel, embedder: Embedder, vector: Vector) -> None:
    """Keep the vector of a model's text."""
    packed = base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
    body = {"model": embedder.model.name, "digest": digest(searched_text(model)), "vector": packed}
    tx.put_records([Record(kind=VECTOR, id=model.id, bank=model.bank, body=body)])


def read_vectors(rows: Rows, models: Sequence[MentalModel], embedder: Embedder) -> dict[str, Vector]:
    """Model id -> its vector, where it was made by this embedder of the text as it is."""
    digests = {model.id: digest(searched_text(model)) for model in models}
    vectors: dict[str, Vector] = {}
    for record in rows.records(VECTOR, [model.id for model in models]):
        body: Mapping[str, Any] = record.body
        if body["model"] == embedder.model.name and body["digest"] == digests[record.id]:
            vectors[record.id] = np.frombuffer(base64.b64decode(body["vector"]), dtype="<f4").astype(
                np.float32
            )
    return vectors


def read_sections(sections: Sequence[Mapping[str, Any]]) -> tuple[ModelSection, ...]:
    return from_plain(tuple[ModelSection, ...], sections)
