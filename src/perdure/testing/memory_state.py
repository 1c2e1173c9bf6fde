"""A bank held in dictionaries, and how a write changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.bank import Bank, EmbeddingModel
from perdure.domain.closing import closed, rewritten
from perdure.domain.erasure import rehome, without_entity
from perdure.domain.fact import Chunk, Document, Fact, Link, LinkKind
from perdure.domain.joining import joined
from perdure.errors import Conflict, InvalidInput, ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.store import (
    Closure,
    Features,
    KeyedEntity,
    NewFact,
    Proof,
    WriteBatch,
    WriteReceipt,
)

Source = tuple[str | None, str | None]
"""(document id, chunk id) that a fact comes from."""


@dataclass(slots=True)
class BankState:
    """Everything a bank holds."""

    bank: Bank
    documents: dict[str, Document] = field(default_factory=dict)
    chunks: dict[str, Chunk] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    features: dict[str, Features] = field(default_factory=dict)
    entities: dict[str, KeyedEntity] = field(default_factory=dict)
    links: dict[tuple[str, str, LinkKind], Link] = field(default_factory=dict)
    proofs: dict[str, list[Proof]] = field(default_factory=dict)
    staged: dict[EmbeddingModel, dict[str, tuple[dict[str, Vector], bytes]]] = field(default_factory=dict)

    def copy(self) -> BankState:
        """A state that can be changed without changing this one."""
        return replace(
            self,
            documents=dict(self.documents),
            chunks=dict(self.chunks),
            facts=dict(self.facts),
            features=dict(self.features),
            entities=dict(self.entities),
            links=dict(self.links),
            proofs={ident: list(sources) for ident, sources in self.proofs.items()},
            staged={model: dict(held) for model, held in self.staged.items()},
        )

    def holder(self, dedupe_key: str) -> str | None:
        """The current fact that holds the key."""
        ids = [
            ident
            for ident, fact in self.facts.items()
            if fact.retired_at is None and self.features[ident].dedupe_key == dedupe_key
        ]
        return min(ids, default=None)


def check_batch(batch: WriteBatch, stored: EmbeddingModel | None) -> None:
    """Raise before anything is written when the batch cannot be."""
    banks = {document.bank for document in batch.documents} | {chunk.bank for chunk in batch.chunks}
    banks |= {new.fact.bank for new in batch.facts} | {fact.bank for fact in batch.updates}
    banks |= {keyed.entity.bank for keyed in batch.entities}
    if banks - {batch.bank}:
        raise InvalidInput("bank", f"the batch's bank {batch.bank!r}", min(banks - {batch.bank}))
    given = [new.features for new in batch.facts] + list(batch.features.values())
    vectors = [vector for features in given for vector in features.vectors.values()]
    if not vectors:
        return
    if batch.model is None:
        raise InvalidInput("model", "the model that made the vectors")
    if stored is not None and stored != batch.model:
        raise ModelMismatch(batch.bank, str(stored), str(batch.model))
    check_dimensions(vectors, batch.model)


def check_dimensions(vectors: list[Vector], model: EmbeddingModel) -> None:
    """Raise when a vector is not of the model."""
    for vector in vectors:
        if vector.shape != (model.dimensions,):
            raise InvalidInput("vectors", f"{model.dimensions} dimensions", vector.shape)


def apply(state: BankState, batch: WriteBatch, now: datetime) -> WriteReceipt:
    """Change the state as the batch says."""
    if any(
        features.vectors for features in [new.features for new in batch.facts] + [*batch.features.values()]
    ):
        state.bank = replace(state.bank, model=batch.model)
    for document in batch.documents:
        known = state.documents.get(document.id)
        state.documents[document.id] = replace(
            document,
            created_at=document.created_at or (known.created_at if known else now),
            updated_at=document.updated_at or now,
        )
    remove_sources(state, lambda source: source[1] in set(batch.removed_chunks), erase=False)
    for ident in batch.removed_chunks:
        state.chunks.pop(ident, None)
    for chunk in batch.chunks:
        state.chunks[chunk.id] = chunk
    for ident in batch.removed_entities:
        remove_entity(state, ident)
    for keyed in batch.entities:
        state.entities[keyed.entity.id] = _joined(state.entities.get(keyed.entity.id), keyed)
    for fact in batch.updates:
        _update(state, fact, fact.id in batch.reopened)
    for ident, features in batch.features.items():
        if ident in state.facts:
            replace_features(state, ident, features)
    return _add_facts(state, batch)


def replace_features(state: BankState, ident: str, features: Features) -> None:
    """Vectors that were kept aside for the fact as it was before go."""
    state.features[ident] = features
    for held in state.staged.values():
        held.pop(ident, None)


def _add_facts(state: BankState, batch: WriteBatch) -> WriteReceipt:
    """New facts and what refers to them; a merged fact's id stands for the one that absorbed it."""
    known = set(state.facts)
    closed_before = {closure.fact_id for closure in batch.closures} & known
    for closure in batch.closures:
        if closure.fact_id in closed_before:
            _close(state, closure, {})
    merged: dict[str, str] = {}
    inserted = []
    for new in batch.facts:
        absorbing = _insert(state, new)
        if absorbing is None:
            inserted.append(new.fact.id)
        else:
            merged[new.fact.id] = absorbing
    for closure in batch.closures:
        _close(state, closure, merged)
    for proof in batch.proofs:
        _prove(state, replace(proof, fact_id=merged.get(proof.fact_id, proof.fact_id)))
    for link in batch.links:
        source, target = merged.get(link.source, link.source), merged.get(link.target, link.target)
        if source != target and source in state.facts and target in state.facts:
            state.links[source, target, link.kind] = replace(link, source=source, target=target)
    return WriteReceipt(inserted=tuple(inserted), merged=merged)


def _insert(state: BankState, new: NewFact) -> str | None:
    """None when inserted, else the id of the fact that absorbed it."""
    fact, features = new.fact, new.features
    holder = state.holder(features.dedupe_key) if features.dedupe_key and fact.retired_at is None else None
    if holder is not None:
        _prove(state, Proof(holder, fact.document_id, fact.chunk_id, fact.recorded_at))
        return holder
    if fact.id in state.facts:
        raise Conflict(f"fact {fact.id!r} exists already")
    state.facts[fact.id] = fact
    state.features[fact.id] = features
    return None


def _joined(stored: KeyedEntity | None, keyed: KeyedEntity) -> KeyedEntity:
    if stored is None or keyed.added is None:
        return replace(keyed, added=None)
    entity = joined(stored.entity, keyed.entity, keyed.added)
    kept = () if entity is keyed.entity else stored.keys
    return KeyedEntity(entity, tuple(dict.fromkeys((*kept, *keyed.keys))))


def _update(state: BankState, fact: Fact, reopens: bool) -> None:
    held = state.facts.get(fact.id)
    if held is not None:
        state.facts[fact.id] = rewritten(held, fact, reopens=reopens)


def _close(state: BankState, closure: Closure, merged: dict[str, str]) -> None:
    ident = merged.get(closure.fact_id, closure.fact_id)
    by = closure.superseded_by if closure.superseded_by is None else merged.get(
        closure.superseded_by, closure.superseded_by
    )  # fmt: skip
    if ident in state.facts and ident != by:
        state.facts[ident] = closed(state.facts[ident], closure.retired_at, closure.valid_to, by)


def _prove(state: BankState, proof: Proof) -> None:
    fact = state.facts.get(proof.fact_id)
    if fact is not None:
        state.facts[fact.id] = replace(fact, proof_count=fact.proof_count + 1)
        state.proofs.setdefault(fact.id, []).append(proof)


def remove_entity(state: BankState, ident: str) -> None:
    """Drop an entity and its memberships; facts stay."""
    state.entities.pop(ident, None)
    for fact in list(state.facts.values()):
        state.facts[fact.id] = without_entity(fact, ident)


def remove_sources(state: BankState, gone: Callable[[Source], bool], *, erase: bool) -> list[str]:
    """Drop sources for which `gone` holds; facts with no other source are listed when they are to be erased.

    A fact whose first source goes moves to the oldest proof that is left.
    """
    homeless = []
    for fact in list(state.facts.values()):
        proofs = state.proofs.get(fact.id, [])
        left = [proof for proof in proofs if not gone((proof.document_id, proof.chunk_id))]
        lost = len(proofs) - len(left)
        home_gone = gone((fact.document_id, fact.chunk_id))
        if home_gone and left:
            home = left.pop(0)
            state.facts[fact.id] = rehome(fact, home.document_id, home.chunk_id, lost + 1)
        elif home_gone and erase:
            homeless.append(fact.id)
            continue
        elif lost:
            state.facts[fact.id] = replace(fact, proof_count=max(1, fact.proof_count - lost))
        state.proofs[fact.id] = left
    return homeless
