"""A synthetic bank for `bench.store`, repeatable: clustered unit vectors of 384 dimensions, Zipf terms, entities, links, dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Fact, FactType, Link, LinkKind
from perdure.ports.store import Features, NewFact, Store

BANK = "bench"
MODEL = EmbeddingModel("synthetic", 384)
START = datetime(2020, 1, 1, tzinfo=UTC)
TERMS_PER_FACT = 14


@dataclass(frozen=True)
class World:
    """The parts that facts are drawn from."""

    vectors: NDArray[np.float32]
    terms: NDArray[np.int64]
    entities: NDArray[np.int64]
    days: NDArray[np.int64]


def make_world(count: int, vectors: NDArray[np.float32] | None = None) -> World:
    """Draw everything at once; the vectors may be given."""
    random = np.random.default_rng(7)
    if vectors is None:
        vectors = _clustered(random, count)
    terms = random.choice(60_000, (count, TERMS_PER_FACT), p=zipf(60_000, 20, 1.1))
    known = max(count // 10, 10)
    entities = random.choice(known, (count, 3), p=zipf(known, 1, 1.0))
    entities[random.random(count) < 0.4, 0] = 0
    return World(vectors, terms, entities, random.integers(0, 1800, count))


def _clustered(random: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Unit vectors around 200 centres."""
    centres = random.normal(size=(200, MODEL.dimensions)).astype(np.float32)
    shared = 0.7 * random.normal(size=MODEL.dimensions).astype(np.float32)
    cluster = random.integers(0, len(centres), count)
    noise = random.normal(size=(count, MODEL.dimensions)).astype(np.float32)
    vectors: NDArray[np.float32] = centres[cluster] + noise + shared
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def zipf(count: int, offset: int, exponent: float) -> NDArray[np.float64]:
    """Probabilities that fall with rank; with offset 20 the commonest of 14 terms is in 12% of the facts."""
    weights = 1.0 / np.arange(1 + offset, count + 1 + offset) ** exponent
    probabilities: NDArray[np.float64] = weights / weights.sum()
    return probabilities


def fact_at(world: World, place: int) -> tuple[NewFact, list[Link]]:
    """The fact at a place, with links to ten earlier ones."""
    words = [f"w{term}" for term in world.terms[place].tolist()]
    entities = tuple(f"e{number}" for number in dict.fromkeys(world.entities[place].tolist()))
    day = START + timedelta(days=int(world.days[place]))
    fact = Fact(
        id=id_at(place),
        bank=BANK,
        text=" ".join(words) + " and so it went on that day",
        type=list(FactType)[place % 3],
        document_id=f"d{place // 50}",
        chunk_id=f"d{place // 50}-{place // 10}",
        source_text=" ".join(words),
        speaker="Alice" if place % 2 else "Bob",
        occurred_start=day,
        occurred_end=day + timedelta(days=1),
        mentioned_at=day,
        recorded_at=day,
        entities=entities,
        entity_ids=entities,
        tags=frozenset({f"t{place % 20}"}),
        metadata={"turn": str(place % 100)},
    )
    terms: dict[str, float] = {}
    for word in words:
        terms[word] = terms.get(word, 0.0) + 1.0
    features = Features(
        vectors={"fact": world.vectors[place]},
        terms=terms,
        words=tuple(words),
        signature=bytes(32),
        dedupe_key=f"k{place}",
    )
    links = []
    for step in range(1, 6):
        if place > 7 * step:
            links.append(Link(fact.id, id_at(place - step), LinkKind.TEMPORAL, 1 / (1 + step)))
            links.append(Link(fact.id, id_at(place - 7 * step), LinkKind.SEMANTIC, 0.7 + 0.05 * step))
    if place > 50 and place % 10 == 0:
        links.append(Link(id_at(place - 50), fact.id, LinkKind.CAUSAL, 0.8))
    return NewFact(fact, features), links


def id_at(place: int) -> str:
    """The id of the fact at a place."""
    return f"{place * 2654435761 % 2**32:08x}-{place:08x}"


def write_facts(store: Store, drawn: Sequence[tuple[NewFact, list[Link]]]) -> None:
    """Write facts and their links in one transaction."""
    with store.transaction(BANK) as transaction:
        if transaction.bank() is None:
            transaction.set_model(MODEL)
        transaction.insert_facts([new for new, _ in drawn])
        transaction.put_links([link for _, links in drawn for link in links])
