"""What a store holds, as JSON: the form in which the golden files say what they must read as."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.domain.filter import Filter
from perdure.ports.store import Order, Selection, Store

KINDS = ("operation", "directive", "api_key")
NEXT = EmbeddingModel("next", 4)
"""The model of the staged vectors."""


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


def read_store(store: Store) -> dict[str, Any]:
    """Everything but staged vectors, which can only be seen by switching over."""
    return {
        "banks": {bank.id: read_bank(store, bank.id) for bank in store.banks()},
        "shared_records": plain(store.shared_records("api_key")),
    }


def read_bank(store: Store, bank: str) -> dict[str, Any]:
    """Everything of a bank; facts in the order of recording."""
    where = Filter(include_closed=True, include_expired=True).at(datetime.fromisoformat("2024-06-01T00:00Z"))
    with store.reading(bank) as reading:
        facts = reading.browse(Selection(where=where, order=Order.OLDEST_RECORDED, limit=1000)).facts
        ids = [fact.id for fact in facts]
        return {
            "bank": [plain(reading.bank())],
            "facts": plain(facts),
            "features": plain(reading.features(ids)),
            "links": plain(reading.links(ids)),
            "proofs": plain([proof for proofs in reading.proofs(ids).values() for proof in proofs]),
            "documents": plain(reading.documents()),
            "chunks": plain([one for d in ("d1", "d2", "d3") for one in reading.chunks(document_id=d)]),
            "entities": plain(reading.entities()),
            "records": plain([record for kind in KINDS for record in reading.records(kind)]),
        }


def read_staged(store: Store, bank: str, fact_id: str) -> dict[str, Any]:
    """The staged vectors of a fact, after the bank was switched over to them."""
    with store.transaction(bank) as tx:
        tx.switch_model(NEXT)
        features = tx.features([fact_id])[fact_id]
        return {"model": plain(NEXT), fact_id: plain(features.vectors)}
