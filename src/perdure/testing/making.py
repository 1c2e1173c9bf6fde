"""Short ways to make facts and to write and search them in tests of stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.embedder import Vector
from perdure.ports.probe import Probe
from perdure.ports.store import FactPage, Features, KeyedEntity, NewFact, Proof, Selection, Store

BANK = "bank"
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
MODEL = EmbeddingModel("model", 8)
CURRENT = Filter(now=NOW)
EVERYTHING = Filter(now=NOW, include_closed=True, include_expired=True)


def day(number: int) -> datetime:
    """Midnight of a day counted from 2024."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def make_fact(fact_id: str, text: str = "", **fields: Any) -> Fact:
    """A fact of the bank."""
    return Fact(id=fact_id, bank=BANK, text=text or f"text of {fact_id}", **fields)


def make_chunk(chunk_id: str, document_id: str, text: str, ordinal: int = 0) -> Chunk:
    """A chunk of the bank."""
    return Chunk(
        id=chunk_id, bank=BANK, document_id=document_id, ordinal=ordinal, text=text, content_hash="h"
    )


def unit(*values: float) -> Vector:
    """A unit vector of the model's dimensions."""
    vector = np.zeros(MODEL.dimensions, np.float32)
    vector[: len(values)] = values
    return vector / np.float32(np.linalg.norm(vector))


def new(fact: Fact, *, words: str = "", **features: Any) -> NewFact:
    """A fact with features; `words` become terms and vocabulary."""
    if words:
        split = words.split()
        features = {
            "terms": {word: float(split.count(word)) for word in split},
            "words": tuple(split),
        } | features
    return NewFact(fact, Features(**features))


def put(
    store: Store,
    *facts: NewFact | Fact,
    documents: Sequence[Document] = (),
    chunks: Sequence[Chunk] = (),
    entities: Sequence[KeyedEntity] = (),
    links: Sequence[Link] = (),
    proofs: Sequence[Proof] = (),
) -> None:
    """Write rows in one transaction; bare facts are without features."""
    with_features = [one if isinstance(one, NewFact) else NewFact(one, Features()) for one in facts]
    with store.transaction(BANK) as tx:
        if any(one.features.vectors for one in with_features):
            tx.set_model(MODEL)
        tx.put_documents(documents)
        tx.put_chunks(chunks)
        tx.put_entities(entities)
        tx.insert_facts(with_features)
        tx.put_links(links)
        tx.add_proofs(proofs)


def search(store: Store, probe: Probe, where: Filter = CURRENT, limit: int = 10) -> list[Hit]:
    """The hits of a probe in the bank."""
    with store.reading(BANK) as reading:
        return reading.search(probe, where, limit)


def browse(store: Store, **selection: Any) -> FactPage:
    """A page of the bank's facts; without a filter, of all."""
    with store.reading(BANK) as reading:
        return reading.browse(Selection(**({"where": EVERYTHING} | selection)))


def facts(store: Store, *fact_ids: str) -> list[Fact]:
    """Facts of the bank."""
    with store.reading(BANK) as reading:
        return reading.facts(fact_ids)


def ids(hits: Iterable[Hit]) -> list[str]:
    """The facts of hits, in order."""
    return [hit.fact_id for hit in hits]


def scores(hits: Iterable[Hit]) -> Mapping[str, float]:
    """Fact id -> score."""
    return {hit.fact_id: hit.score for hit in hits}
