"""Retain's time a fact in banks of growing size, stage by stage: used by `python -m bench.retain DATA.json --growth 1000 10000 100000`.

A bank is filled through the store: recombined real texts, made-up vectors of the model's size that are as near each other as e5's, two
entities a fact of which a fifth are new. The same real turns are then retained on top with every stage on.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from pathlib import Path

import numpy as np

from perdure.databases import open_store
from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, Fact
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledItem
from perdure.models.onnx_embedder import DEFAULT_EMBEDDER, OnnxEmbedder
from perdure.ports.store import Features, KeyedEntity, NewFact, Store
from perdure.retain.commit import FactChanges, commit
from perdure.retain.entities import keyed
from perdure.retain.features import weigh_terms
from perdure.retain.identity import dedupe_key
from perdure.retain.index_text import index_text
from perdure.settings import Settings
from perdure.text.signature import signature
from perdure.text.terms import plain_words

BLOCK = 2_000
TURNS_A_DOCUMENT = 20
FIRST = "Ann Bob Carla David Elif Femi Grace Hugo Ines Jonas Karim Lena Maria Nora Omar Priya Quinn Rosa Sven Tomas".split()
LAST = [
    a + b
    for a in ("Al", "Ber", "Cor", "Dal", "Fen", "Gar", "Hol", "Kar")
    for b in ("ton", "berg", "ini", "sen")
]
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)


def growth(items: Sequence[LabelledItem], sizes: Sequence[int], settings: Settings) -> None:
    """Print the milliseconds a new fact of every stage at each size."""
    batch = [list(group) for _, group in groupby(items, key=lambda item: item.session)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        _fill_banks(path, sizes, items)
        with Perdure.open(path, settings=settings) as engine:
            engine.retain("warm", "Warm up the models, please.", speaker="Ann")
            rows = [(size, *_measure(engine, f"bank-{size}", batch)) for size in sizes]
    stages = list(rows[0][2])
    print(f"{'facts':>8} {'new':>5} " + " ".join(f"{stage:>8}" for stage in stages) + "   ms a new fact")
    for size, facts, spent in rows:
        print(f"{size:>8} {facts:>5} " + " ".join(f"{spent[stage] / facts:8.2f}" for stage in stages))
    first, last = rows[0], rows[-1]
    print(
        f"{'growth':>14} "
        + " ".join(
            f"{(last[2][stage] / last[1]) / max(first[2][stage] / first[1], 1e-9):8.2f}" for stage in stages
        )
    )


def _measure(
    engine: Perdure, bank: str, batch: Sequence[Sequence[LabelledItem]]
) -> tuple[int, dict[str, float]]:
    """New facts and milliseconds by stage; the first session brings the bank's indexes into memory and is not counted."""
    spent: dict[str, float] = {}
    facts = 0
    for number, session in enumerate(batch):
        turns = [
            {"content": i.text, "speaker": i.speaker, "timestamp": i.date, "document_id": f"new-{number}"}
            for i in session
        ]
        result = engine.retain(bank, turns)
        if number:
            facts += len(result.fact_ids)
            for stage in result.timings:
                spent[stage.stage] = spent.get(stage.stage, 0.0) + stage.milliseconds
    return facts, spent


def _fill_banks(path: Path, sizes: Sequence[int], items: Sequence[LabelledItem]) -> None:
    store = open_store(Settings(database=str(path)))
    model = OnnxEmbedder(DEFAULT_EMBEDDER).model
    try:
        for size in sizes:
            started = time.perf_counter()
            facts = _facts(f"bank-{size}", items, model)
            for _ in range(0, size, BLOCK):
                _write(store, f"bank-{size}", model, list(islice(facts, min(BLOCK, size))))
            print(f"filled a bank with {size} facts in {time.perf_counter() - started:.0f} s")
    finally:
        store.close()


def _write(
    store: Store, bank: str, model: EmbeddingModel, facts: Sequence[tuple[NewFact, list[KeyedEntity]]]
) -> None:
    documents = sorted({new.fact.document_id or "" for new, _ in facts})
    entities = {item.entity.id: item for _, named in facts for item in named}
    commit(
        store,
        FactChanges(
            bank=bank,
            model=model,
            documents=[
                Document(id=name, bank=bank, created_at=BEGIN, updated_at=BEGIN) for name in documents
            ],
            chunks=[
                Chunk(
                    id=f"{bank}-{name}", bank=bank, document_id=name, ordinal=0, text=name, content_hash=name
                )
                for name in documents
            ],
            facts=[new for new, _ in facts],
            entities=list(entities.values()),
        ),
    )


def _facts(
    bank: str, items: Sequence[LabelledItem], model: EmbeddingModel
) -> Iterator[tuple[NewFact, list[KeyedEntity]]]:
    """Facts without end, the same for the same bank."""
    rng, noise = random.Random(0), np.random.default_rng(0)
    centre = noise.standard_normal(model.dimensions)
    centre /= np.linalg.norm(centre)
    number = 0
    while True:
        drawn = noise.standard_normal((BLOCK, model.dimensions))
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        vectors = (centre + 0.6 * drawn).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for vector in vectors:
            one, other = rng.choice(items), rng.choice(items)
            names = [_entity(bank, number // 5), _entity(bank, rng.randrange(number // 5 + 1))]
            text = f"{one.text[:90]} {names[0].name} {other.text[:60]}"
            moment = BEGIN + timedelta(minutes=number)
            fact = Fact(
                id=f"{bank}-{number}",
                bank=bank,
                text=text,
                document_id=f"old-{number // TURNS_A_DOCUMENT}",
                chunk_id=f"{bank}-old-{number // TURNS_A_DOCUMENT}",
                ordinal=number % TURNS_A_DOCUMENT,
                source_text=text,
                speaker=one.speaker,
                mentioned_at=moment,
                valid_from=moment,
                recorded_at=moment,
                entity_ids=tuple(dict.fromkeys(name.id for name in names)),
                entities=tuple(dict.fromkeys(name.name for name in names)),
            )
            yield NewFact(fact, _features(fact, vector)), [keyed(name) for name in names]
            number += 1


def _entity(bank: str, number: int) -> Entity:
    name = f"{FIRST[number % len(FIRST)]} {LAST[number // len(FIRST) % len(LAST)]}{number // (len(FIRST) * len(LAST)) or ''}"
    return Entity(
        id=f"{bank}-e{number}",
        bank=bank,
        name=name,
        type="person",
        mentions=5,
        first_seen=BEGIN,
        last_seen=BEGIN,
    )


def _features(fact: Fact, vector: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Features:
    texts = index_text(fact)
    return Features(
        vectors={"fact": vector, "context": vector},
        terms=weigh_terms(fact, texts),
        words=plain_words(texts.own),
        signature=signature(fact.text),
        dedupe_key=dedupe_key(fact),
        passage=texts.own,
    )
