"""The bank that the web page is timed on: facts without extraction, in documents, around one entity that half of them mention.

What is made of facts is made by the engine: opinions and the background work that drew their grounds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from bench.recall import BANK, PEOPLE, START, embedded_examples, entities_of, make_fact, sentences
from perdure.domain.fact import Chunk, Document, Entity, Link, LinkKind
from perdure.domain.operation import FINISHED
from perdure.engine import Perdure
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.ports.store import KeyedEntity, NewFact
from perdure.retain.commit import FactChanges, commit
from perdure.stores.sqlite.store import SqliteStore
from perdure.text.names import entity_keys

HUB = "Harbour Choir"
"""An entity that every second fact mentions."""
PER_DOCUMENT = 40
BLOCK = 4000
TASTES = ("tea", "long walks", "night trains", "old maps", "clay", "choral music")
OPERATIONS = 120
WAIT = 600.0
"""Seconds that the operations may take together."""


def open_filled(folder: Path, count: int) -> Path:
    """The file of a bank of so many facts in a folder; filled where it is not there yet."""
    path = folder / f"page-{count}.db"
    if not path.exists():
        draft = path.with_suffix(".part")
        draft.unlink(missing_ok=True)
        started = time.perf_counter()
        _write_facts(draft, count)
        _write_thoughts(draft)
        draft.rename(path)
        print(f"filled {path.name} in {time.perf_counter() - started:.0f} s", flush=True)
    return path


def _write_facts(path: Path, count: int) -> None:
    examples = embedded_examples()
    noise = np.random.default_rng(7)
    model = OnnxEmbedder().model
    store = SqliteStore.open(str(path))
    hub = KeyedEntity(Entity(id=HUB, bank=BANK, name=HUB, mentions=count // 2), entity_keys(HUB))
    numbered = enumerate(sentences(count, random.Random(7)))
    for block in batches(numbered, BLOCK):
        facts = []
        for number, (text, person, place) in block:
            new = make_fact(BANK, number, text, person, place, examples, noise)
            named = (person, place, HUB) if number % 2 else (person, place)
            placed = replace(
                new.fact,
                entities=named,
                entity_ids=named,
                chunk_id=f"c{number // PER_DOCUMENT}",
                source_text=text,
            )
            facts.append(NewFact(placed, new.features))
        changes = FactChanges(
            bank=BANK, model=model, facts=facts, links=_links(facts), entities=[*entities_of(BANK), hub],
            documents=_documents(facts), chunks=_chunks(facts),
        )  # fmt: skip
        commit(store, changes)
    store.close()


def batches(
    items: Iterator[tuple[int, tuple[str, str, str]]], size: int
) -> Iterator[list[tuple[int, tuple[str, str, str]]]]:
    """Lists of at most so many items."""
    while block := list(islice(items, size)):
        yield block


def _links(facts: list[NewFact]) -> list[Link]:
    return [Link(two.fact.id, one.fact.id, LinkKind.TEMPORAL, 0.8) for one, two in pairwise(facts)]


def _documents(facts: list[NewFact]) -> list[Document]:
    return [
        Document(
            id=one.fact.document_id or "",
            bank=BANK,
            title=f"Diary of {one.fact.speaker}",
            created_at=START,
            updated_at=START,
        )
        for one in facts[::PER_DOCUMENT]
    ]


def _chunks(facts: list[NewFact]) -> list[Chunk]:
    chunks = []
    for start in range(0, len(facts), PER_DOCUMENT):
        part = facts[start : start + PER_DOCUMENT]
        first = part[0].fact
        text = "\n".join(one.fact.text for one in part)
        chunks.append(
            Chunk(
                id=first.chunk_id or "", bank=BANK, document_id=first.document_id or "", ordinal=0,
                text=text, content_hash=str(start),
            )
        )  # fmt: skip
    return chunks


def _write_thoughts(path: Path) -> None:
    """Statements of taste, each retained by an operation of its own, and the opinions that they form."""
    with Perdure.open(path) as engine:
        for number in range(OPERATIONS):
            speaker = PEOPLE[number % len(PEOPLE)]
            engine.retain_later(
                BANK,
                f"I love {TASTES[number % len(TASTES)]}.",
                speaker=speaker,
                document_id=f"taste-{number}",
            )
        until = time.monotonic() + WAIT
        while any(one.status not in FINISHED for one in engine.operations.list(BANK)):
            if time.monotonic() > until:
                raise TimeoutError("the operations did not end")
            time.sleep(1)
        engine.opinions.form(BANK)
