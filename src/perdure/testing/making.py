"""Short ways to make facts and batches for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.embedder import Vector
from perdure.ports.store import Features, NewFact, Store, WriteBatch

BANK = "bank"
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
MODEL = EmbeddingModel("model", 8)
EVERYTHING = Filter(now=NOW, any_time=True, include_expired=True)
CURRENT = Filter(now=NOW)


def day(number: int) -> datetime:
    """Midnight of a day counted from 2024."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def make_fact(ident: str, text: str = "", **fields: Any) -> Fact:
    """A fact of the bank."""
    return Fact(id=ident, bank=BANK, text=text or f"text of {ident}", **fields)


def unit(*values: float) -> Vector:
    """A unit vector of the model's dimensions."""
    vector = np.zeros(MODEL.dimensions, np.float32)
    vector[: len(values)] = values
    return vector / np.float32(np.linalg.norm(vector))


def new(fact: Fact, *, words: str = "", **features: Any) -> NewFact:
    """A fact with features; `words` become terms and vocabulary."""
    if words:
        held = words.split()
        features = {
            "terms": {word: float(held.count(word)) for word in held},
            "words": tuple(held),
        } | features
    return NewFact(fact, Features(**features))


def put(store: Store, *facts: NewFact | Fact, **parts: Any) -> None:
    """Write facts, bare ones without features."""
    made = [one if isinstance(one, NewFact) else NewFact(one, Features()) for one in facts]
    vectors = any(one.features.vectors for one in made)
    store.write(WriteBatch(bank=BANK, model=MODEL if vectors else None, facts=made, **parts))


def ids(hits: Sequence[Hit]) -> list[str]:
    """The facts of hits, in order."""
    return [hit.fact_id for hit in hits]


def scores(hits: Iterable[Hit]) -> Mapping[str, float]:
    """Fact id -> score."""
    return {hit.fact_id: hit.score for hit in hits}
