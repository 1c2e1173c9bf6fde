"""Writing facts: what a change of memory brings with it, decided once for every store.

Duplicates become proofs, facts end no earlier than they began, facts whose source went move to another one, and entities that
two writers saw at once are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.bank import EmbeddingModel
from perdure.domain.detach import without_entities, without_sources
from perdure.domain.fact import Chunk, Document, Fact, Link
from perdure.domain.record import Record
from perdure.errors import InvalidInput, ModelMismatch
from perdure.ports.store import (
    FactsWhere,
    Features,
    KeyedEntity,
    NewFact,
    Proof,
    Store,
    Transaction,
)
from perdure.text.own_words import features_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Ends a fact: superseded by another, or retired (superseded_by None)."""

    fact_id: str
    retired_at: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChanges:
    """Everything that one call changes in a bank; written in one transaction or not at all."""

    bank: str
    model: EmbeddingModel | None = None
    """The model that made the vectors; needed when there are any."""
    documents: Sequence[Document] = ()
    chunks: Sequence[Chunk] = ()
    removed_chunks: Sequence[str] = ()
    facts: Sequence[NewFact] = ()
    """A fact whose dedupe key an open fact holds becomes a proof of that fact, and what is said of its id goes for that fact."""
    updates: Sequence[Fact] = ()
    """Replace the stored fields of facts (not features, proof counts or recall statistics); they open none that is closed."""
    reopened: Sequence[str] = ()
    """The facts among the updates that are opened again."""
    features: Mapping[str, Features] = field(default_factory=dict)
    """Fact id -> features that replace the stored ones."""
    entities: Sequence[KeyedEntity] = ()
    added_mentions: Mapping[str, int] = field(default_factory=dict)
    """Entity id -> mentions that it gains: it is joined with what others stored meanwhile. Entities not named here are replaced."""
    removed_entities: Sequence[str] = ()
    """Facts lose their membership and stay."""
    links: Sequence[Link] = ()
    closures: Sequence[Closure] = ()
    """Facts that end here no longer absorb new ones."""
    proofs: Sequence[Proof] = ()
    records: Sequence[Record] = ()
    removed_records: Sequence[tuple[str, str]] = ()
    """(kind, id)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitReceipt:
    """What a commit did: `merged` maps a new fact's id to the stored fact that absorbed it as proof."""

    inserted: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)


Within = Callable[[Transaction, CommitReceipt], None]
"""Called at the end of the transaction of a commit, with what it did; an error in it rolls everything back."""


def commit(store: Store, changes: FactChanges, *, within: Within | None = None) -> CommitReceipt:
    """Apply the changes in one transaction, with what `within` adds to it.

    Raises ModelMismatch when the vectors are of another model than the bank's, InvalidInput when the changes contradict
    themselves, Conflict when a new fact's id exists. What refers to a fact that is not there is left out.
    """
    with store.transaction(changes.bank) as tx:
        receipt = apply_changes(tx, changes)
        if within is not None:
            within(tx, receipt)
    return receipt


def apply_changes(tx: Transaction, changes: FactChanges) -> CommitReceipt:
    """`commit` within a transaction that is open already."""
    _check_banks(changes)
    _settle_model(tx, changes)
    tx.put_documents(changes.documents)
    _update_facts(tx, changes)
    tx.put_features(changes.features)
    _remove_chunks(tx, changes.removed_chunks)
    tx.put_chunks(changes.chunks)
    _remove_entities(tx, changes.removed_entities)
    tx.put_entities(_joined_entities(tx, changes))
    receipt = _add_facts(tx, changes)
    tx.put_records(changes.records)
    for kind, record_id in changes.removed_records:
        tx.delete_records(kind, [record_id])
    return receipt


def _check_banks(changes: FactChanges) -> None:
    banks = {document.bank for document in changes.documents} | {chunk.bank for chunk in changes.chunks}
    banks |= {new.fact.bank for new in changes.facts} | {fact.bank for fact in changes.updates}
    banks |= {keyed.entity.bank for keyed in changes.entities}
    banks |= {record.bank for record in changes.records if record.bank}
    strangers = banks - {changes.bank}
    if strangers:
        raise InvalidInput("bank", f"the changes' bank {changes.bank!r}", min(strangers))


def _settle_model(tx: Transaction, changes: FactChanges) -> None:
    """The vectors are of the bank's model, which is the first that wrote any."""
    features = (*(new.features for new in changes.facts), *changes.features.values())
    vectors = [vector for each in features for vector in each.vectors.values()]
    if not vectors:
        return
    if changes.model is None:
        raise InvalidInput("model", "the model that made the vectors")
    for vector in vectors:
        if vector.shape != (changes.model.dimensions,):
            raise InvalidInput("vectors", f"{changes.model.dimensions} dimensions", vector.shape)
    bank = tx.bank()
    if bank is None or bank.model is None:
        tx.set_model(changes.model)
    elif bank.model != changes.model:
        raise ModelMismatch(changes.bank, str(bank.model), str(changes.model))


def _remove_chunks(tx: Transaction, chunk_ids: Sequence[str]) -> None:
    """Facts that another source proves move there; the others stay, to be retired by the caller's closures."""
    if not chunk_ids:
        return
    removed = frozenset(chunk_ids)
    housed = tx.find_facts(FactsWhere(chunk_ids=chunk_ids))
    proven = tx.facts(list(tx.proofs_from(chunk_ids=chunk_ids)))
    before = {fact.id: fact for fact in (*housed, *proven)}
    proofs = tx.proofs(list(before))
    after, left = {}, {}
    for fact_id in proofs:
        after[fact_id], left[fact_id] = without_sources(
            before[fact_id], proofs[fact_id], lambda source: source.chunk_id in removed
        )
    moved = [fact_id for fact_id, fact in after.items() if fact.chunk_id != before[fact_id].chunk_id]
    tx.update_facts(list(after.values()))
    tx.replace_proofs(left)
    tx.put_features(
        {fact_id: features_alone(after[fact_id], own) for fact_id, own in tx.features(moved).items()}
    )
    tx.delete_chunks(chunk_ids)


def _remove_entities(tx: Transaction, entity_ids: Sequence[str]) -> None:
    if entity_ids:
        members = tx.find_facts(FactsWhere(entity_ids=entity_ids))
        tx.update_facts([without_entities(fact, entity_ids) for fact in members])
        tx.delete_entities(entity_ids)


def _joined_entities(tx: Transaction, changes: FactChanges) -> list[KeyedEntity]:
    """The entities as they will be stored, with what others stored of them since they were read."""
    seen = [keyed.entity.id for keyed in changes.entities if keyed.entity.id in changes.added_mentions]
    stored = {keyed.entity.id: keyed for keyed in tx.entities(ids=seen)} if seen else {}
    return [
        _joined(stored[keyed.entity.id], keyed, changes.added_mentions[keyed.entity.id])
        if keyed.entity.id in stored
        else keyed
        for keyed in changes.entities
    ]


def _joined(stored: KeyedEntity, seen: KeyedEntity, added: int) -> KeyedEntity:
    """What is stored with `added` more mentions; when nobody stored it since it was read, that is `seen` itself."""
    old, new = stored.entity, seen.entity
    if old.mentions + added == new.mentions:
        return seen
    names = dict.fromkeys((*new.aliases, old.name, *old.aliases))
    entity = replace(
        new,
        aliases=tuple(name for name in names if name.casefold() != new.name.casefold()),
        mentions=old.mentions + added,
        first_seen=min((moment for moment in (old.first_seen, new.first_seen) if moment), default=None),
        last_seen=max((moment for moment in (old.last_seen, new.last_seen) if moment), default=None),
    )
    return KeyedEntity(entity, tuple(dict.fromkeys((*stored.keys, *seen.keys))))


def _update_facts(tx: Transaction, changes: FactChanges) -> None:
    stored = {fact.id: fact for fact in tx.facts([fact.id for fact in changes.updates])}
    tx.update_facts(
        [
            _updated(stored[fact.id], fact, reopens=fact.id in changes.reopened)
            for fact in changes.updates
            if fact.id in stored
        ]
    )


def _updated(stored: Fact, changed: Fact, *, reopens: bool) -> Fact:
    """What is stored of a change; a fact that was closed since it was read stays closed unless it is opened again."""
    changed = replace(changed, proof_count=stored.proof_count)
    if reopens or stored.retired_at is None or changed.retired_at is not None:
        return changed
    return replace(
        changed,
        retired_at=stored.retired_at,
        superseded_by=stored.superseded_by,
        valid_to=stored.valid_to,
        invalidated_at=stored.invalidated_at,
        invalid_reason=stored.invalid_reason,
    )


def _add_facts(tx: Transaction, changes: FactChanges) -> CommitReceipt:
    """Close, merge, insert, prove and link; `facts` are those that change, stored and new ones."""
    named = [closure.fact_id for closure in changes.closures] + [proof.fact_id for proof in changes.proofs]
    before = {fact.id: fact for fact in tx.facts(named)}
    facts = dict(before)
    _close(facts, changes.closures, {})
    tx.update_facts([fact for fact_id, fact in facts.items() if fact != before[fact_id]])

    new, merged, proofs = _merge_duplicates(tx, changes.facts)
    holders = {fact.id: fact for fact in tx.facts(list(merged.values()))}
    stored = {**holders, **facts}
    facts = {**stored, **{one.fact.id: one.fact for one in new}}
    proofs += [replace(proof, fact_id=merged.get(proof.fact_id, proof.fact_id)) for proof in changes.proofs]
    _close(facts, changes.closures, merged)
    for proof in proofs:
        if proof.fact_id in facts:
            proven = facts[proof.fact_id]
            facts[proof.fact_id] = replace(proven, proof_count=proven.proof_count + 1)

    tx.update_facts([facts[fact_id] for fact_id, fact in stored.items() if facts[fact_id] != fact])
    tx.insert_facts([replace(one, fact=facts[one.fact.id]) for one in new])
    tx.add_proofs(proofs)
    tx.put_links(_repointed(changes.links, merged))
    return CommitReceipt(inserted=tuple(one.fact.id for one in new), merged=merged)


def _merge_duplicates(
    tx: Transaction, facts: Sequence[NewFact]
) -> tuple[list[NewFact], dict[str, str], list[Proof]]:
    """(facts to insert, id of a fact that states the same as an open one -> that one's id, proofs of the latter)."""
    keys = sorted({new.features.dedupe_key for new in facts if new.features.dedupe_key})
    holders = tx.facts_by_dedupe_key(keys) if keys else {}
    inserted: list[NewFact] = []
    merged: dict[str, str] = {}
    proofs: list[Proof] = []
    for new in facts:
        fact, key = new.fact, new.features.dedupe_key
        if not key or fact.retired_at is not None:
            inserted.append(new)
        elif key in holders:
            merged[fact.id] = holders[key]
            proofs.append(Proof(holders[key], fact.document_id, fact.chunk_id, fact.recorded_at))
        else:
            holders[key] = fact.id
            inserted.append(new)
    return inserted, merged, proofs


def _close(facts: dict[str, Fact], closures: Sequence[Closure], merged: Mapping[str, str]) -> None:
    """End facts where they stand in `facts`."""
    for closure in closures:
        fact_id = merged.get(closure.fact_id, closure.fact_id)
        by = closure.superseded_by and merged.get(closure.superseded_by, closure.superseded_by)
        if fact_id in facts and fact_id != by:
            facts[fact_id] = _closed(facts[fact_id], closure, by)


def _closed(fact: Fact, closure: Closure, superseded_by: str | None) -> Fact:
    """The fact ended, never before it began: clocks are set back, and facts change while their end is decided."""
    end = closure.valid_to or fact.valid_to
    return replace(
        fact,
        retired_at=max(closure.retired_at, fact.recorded_at or closure.retired_at),
        valid_to=end and max(end, fact.valid_from or end),
        superseded_by=superseded_by,
    )


def _repointed(links: Sequence[Link], merged: Mapping[str, str]) -> list[Link]:
    """The links between facts as they are stored; those that now lead from a fact to itself go."""
    if not merged:
        return [link for link in links if link.source != link.target]
    ends = [(merged.get(link.source, link.source), merged.get(link.target, link.target)) for link in links]
    return [
        replace(link, source=source, target=target)
        for link, (source, target) in zip(links, ends, strict=True)
        if source != target
    ]
