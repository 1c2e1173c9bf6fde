"""How mental models are stored: a record each, and one more for the history.

kind                   id        body
mental_model           <model>   settings, the sections with the facts of each sentence, the watermark
mental_model_history   <model>   earlier versions, newest first, at most 50
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

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
from perdure.ports.store import Rows, Transaction

MENTAL_MODEL = "mental_model"
HISTORY = "mental_model_history"


def read_model(record: Record) -> MentalModel:
    return from_record(MentalModel, record)


def put_model(tx: Transaction, model: MentalModel) -> None:
    """Insert or replace a model."""
    tx.put_records([to_record(MENTAL_MODEL, model)])


def delete_models(tx: Transaction, ids: Sequence[str]) -> None:
    """Delete models with their history, and the pages that show them."""
    shown = [record.id for record in tx.records(KNOWLEDGE_NODE) if record.body["mental_model_id"] in ids]
    tx.delete_records(KNOWLEDGE_NODE, shown)
    for kind in (MENTAL_MODEL, HISTORY):
        tx.delete_records(kind, ids)


def every_model(rows: Rows) -> list[MentalModel]:
    """Return all models of a bank: newest refresh first, ties by id."""
    models = sorted(readable(rows.records(MENTAL_MODEL), read_model), key=lambda model: model.id)
    return sorted(models, key=_refreshed, reverse=True)


def _refreshed(model: MentalModel) -> float:
    moment = model.last_refreshed_at or model.created_at
    return 0.0 if moment is None else moment.timestamp()


def find_model(rows: Rows, model_id: str) -> MentalModel:
    """Return the model with an id. Raise `NotFound` if there is none."""
    for record in rows.records(MENTAL_MODEL, [model_id]):
        return read_model(record)
    raise NotFound("mental model", model_id)


# History


def read_history(rows: Rows, model_id: str) -> list[MentalModelVersion]:
    """Return earlier versions of a model, newest first."""
    return [version for record in rows.records(HISTORY, [model_id]) for version in read_versions(record)]


def read_versions(record: Record) -> list[MentalModelVersion]:
    """Return the versions in a record of a history, newest first."""
    body: Mapping[str, Any] = record.body
    return [_version(entry) for entry in body["entries"]]


def add_version(tx: Transaction, model: MentalModel, changed_at: datetime) -> None:
    """Add the present state of a model to its history."""
    entry = {
        "changed_at": changed_at.isoformat(),
        "generated": model.generated,
        "sections": to_plain(model.sections),
        "trace": model.trace,
        **({"written_by": model.written_by} if model.written_by else {}),
    }
    put_entries(tx, model.bank, model.id, [entry, *_entries(tx, model.id)][:MAX_HISTORY])


def put_entries(tx: Transaction, bank: str, model_id: str, entries: Sequence[Mapping[str, object]]) -> None:
    """Replace the history of a model."""
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


def read_sections(sections: Sequence[Mapping[str, Any]]) -> tuple[ModelSection, ...]:
    return from_plain(tuple[ModelSection, ...], sections)
