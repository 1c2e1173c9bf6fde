"""Re-embedding: a bank changes over to another embedder while it stays in use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from perdure.domain.fact import Chunk, Fact
from perdure.errors import InvalidInput, StoreError
from perdure.ports.embedder import Embedder, Vector
from perdure.ports.store import FactsWhere, Rows, StagedVectors, Store
from perdure.retain.components import RetainComponents
from perdure.retain.embed import embed_texts
from perdure.text.smoothing import is_same_vector, smooth, stands_alone, turn_length

PAGE = 256
"""Facts that are embedded at once, roughly."""
ROUNDS = 20


def reembed(
    components: RetainComponents, bank: str, *, progress: Callable[[float], None] | None = None
) -> int:
    """Embed every fact anew, then switch in one transaction; return the number of facts.

    `progress` receives a share from 0 to 1. What an interrupted run staged is not computed again.
    """
    embedder, store = components.embedder, components.store
    if embedder is None:
        raise InvalidInput("embedder", "a configured embedder, to re-embed with")
    count = 0
    for _ in range(ROUNDS):
        with store.transaction(bank) as tx:
            waiting = tx.unstaged_facts(embedder.model)
            if not waiting:
                if tx.bank() is not None:
                    tx.switch_model(embedder.model)
                return count
        total = count + len(waiting)
        for page in _pages(store, bank, waiting):
            staged = _embedded(components, embedder, bank, page)
            with store.transaction(bank) as tx:
                tx.stage_vectors(embedder.model, staged)
            count += len(staged)
            if progress is not None:
                progress(min(count / total, 1.0))
    raise StoreError(f"bank {bank!r} is written to faster than it can be re-embedded; try again later")


def _pages(store: Store, bank: str, fact_ids: Sequence[str]) -> Iterator[list[Fact]]:
    """Yield the facts with all others of their documents, roughly PAGE facts at a time."""
    page: list[Fact] = []
    done: set[str] = set()
    for start in range(0, len(fact_ids), PAGE):
        with store.reading(bank) as reading:
            facts = reading.facts(fact_ids[start : start + PAGE])
            page += [fact for fact in facts if fact.document_id is None]
            for document_id in dict.fromkeys(fact.document_id for fact in facts if fact.document_id):
                if document_id not in done:
                    done.add(document_id)
                    page += reading.find_facts(FactsWhere(document_ids=[document_id]))
        if len(page) >= PAGE:
            yield page
            page = []
    if page:
        yield page


def _embedded(
    components: RetainComponents, embedder: Embedder, bank: str, page: Sequence[Fact]
) -> list[StagedVectors]:
    with components.store.reading(bank) as reading:
        features = reading.features([fact.id for fact in page])
        facts = [fact for fact in page if fact.id in features]
        chunks = _chunks_of(reading, facts)
    texts = [features[fact.id].passage or fact.text for fact in facts]
    vectors = embed_texts(texts, embedder)
    own = {} if vectors is None else {fact.id: vector for fact, vector in zip(facts, vectors, strict=True)}
    alone = {fact.id for fact in facts if stands_alone(features[fact.id].vectors)}
    context = _smoothed(facts, own, alone, chunks)
    return [
        StagedVectors(fact.id, {"fact": own[fact.id], "context": context[fact.id]})
        for fact in facts
        if fact.id in own
    ]


def embed_facts(components: RetainComponents, bank: str, fact_ids: Sequence[str]) -> int:
    """Embed facts that an erasure left without vectors, and return their number.

    Do nothing if the bank's vectors are of another model than the configured one.
    """
    embedder = components.embedder
    if embedder is None or not fact_ids:
        return 0
    with components.store.reading(bank) as reading:
        texts = {fact_id: passage.own for fact_id, passage in reading.passages(fact_ids).items()}
    vectors = embed_texts(list(texts.values()), embedder)
    if vectors is None:
        return 0
    embedded = dict(zip(texts, vectors, strict=True))
    with components.store.transaction(bank) as tx:
        stored = tx.bank()
        if stored is None or stored.model != embedder.model:
            return 0
        lacking = [fact for fact in tx.facts(fact_ids) if fact.id in embedded]
        documents = dict.fromkeys(fact.document_id for fact in lacking if fact.document_id)
        members = tx.find_facts(FactsWhere(document_ids=list(documents)))
        facts = list({fact.id: fact for fact in (*members, *lacking)}.values())
        features = tx.features([fact.id for fact in facts])
        own = {
            fact_id: views.vectors["fact"] for fact_id, views in features.items() if "fact" in views.vectors
        }
        own |= {fact_id: vector for fact_id, vector in embedded.items() if fact_id in features}
        alone = {fact_id for fact_id, views in features.items() if stands_alone(views.vectors)}
        # What lost its source text left its document, and stands alone there.
        alone |= {fact.id for fact in lacking if not fact.source_text}
        context = _smoothed(facts, own, alone, _chunks_of(tx, facts))
        changed = {}
        for fact_id, vector in context.items():
            before = features[fact_id]
            if fact_id in embedded:
                changed[fact_id] = replace(before, vectors={"fact": own[fact_id], "context": vector})
            elif "context" in before.vectors and not is_same_vector(before.vectors["context"], vector):
                changed[fact_id] = replace(before, vectors={**before.vectors, "context": vector})
        tx.put_features(changed)
    return len(lacking)


def _chunks_of(rows: Rows, facts: Sequence[Fact]) -> dict[str, Chunk]:
    documents = dict.fromkeys(fact.document_id for fact in facts if fact.document_id)
    return {chunk.id: chunk for name in documents for chunk in rows.chunks(document_id=name)}


def _smoothed(
    facts: Sequence[Fact], own: Mapping[str, Vector], alone: Collection[str], chunks: Mapping[str, Chunk]
) -> dict[str, Vector]:
    """Return fact id -> context vector; facts of a document are in recorded order."""
    contexts = {fact_id: own[fact_id] for fact_id in own if fact_id in alone}
    by_document = sorted(
        (fact for fact in facts if fact.id in own and fact.id not in alone),
        key=lambda fact: fact.document_id or fact.id,
    )
    for _, group in groupby(by_document, key=lambda fact: fact.document_id or fact.id):
        members = list(group)
        lengths = [turn_length(fact, chunks) for fact in members]
        smoothed = smooth(np.stack([own[fact.id] for fact in members]), lengths)
        contexts |= {fact.id: vector for fact, vector in zip(members, smoothed, strict=True)}
    return contexts
