"""Writing facts: what a change of memory brings with it, decided once for every store.

Duplicates become proofs, facts end no earlier than they began, facts whose source went move to another one, and entities that
two writers saw at once are joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Fact, Link, without_entities, without_sources
from perdure.domain.item import FellBack
from perdure.domain.observation import fingerprint
from perdure.domain.record import Record
from perdure.errors import InvalidInput, ModelMismatch
from perdure.history import Closing, close_facts, mark_changed, settle_closings
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

_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Closes a fact on one axis of time: it was true until `valid_to` (a change), or is not believed since `retired_at`.

    `superseded_by` is the fact that ended or corrected it; a fact that its source dropped is retired without one.
    """

    fact_id: str
    retired_at: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None

    def __post_init__(self) -> None:
        if (self.retired_at is None) == (self.valid_to is None):
            raise InvalidInput("closure", "exactly one of retired_at and valid_to", self.fact_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChanges:
    """Everything that one call changes in a bank; written in one transaction or not at all."""

    bank: str
    now: datetime | None = None
    """The moment of the change, from which the ends of its closures are known; needed when there are any."""
    model: EmbeddingModel | None = None
    """The model that made the vectors; needed when there are any."""
    documents: Sequence[Document] = ()
    chunks: Sequence[Chunk] = ()
    removed_chunks: Sequence[str] = ()
    facts: Sequence[NewFact] = ()
    """A fact whose dedupe key an open fact holds becomes a proof of that fact, and what is said of its id goes for that fact."""
    updates: Sequence[Fact] = ()
    """Replace the stored fields of facts (not features, proof counts, recall statistics, or what superseded them).

    They open none that is closed.
    """
    reopened: Sequence[str] = ()
    """The facts among the updates that are believed again, or whose end is taken back."""
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
    """What a commit did."""

    inserted: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    """New fact's id -> the stored fact that absorbed it as proof."""
    closed: tuple[str, ...] = ()
    """Facts that the closures closed, as they are stored."""
    fell_back: tuple[FellBack, ...] = ()
    """Of a retain: turns that were read without the language model."""
    document_ids: tuple[str, ...] = ()
    """The documents that were written."""


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
    rethought = _update_facts(tx, changes)
    tx.put_features(changes.features)
    _remove_chunks(tx, changes.removed_chunks)
    tx.put_chunks(changes.chunks)
    _remove_entities(tx, changes.removed_entities)
    tx.put_entities(_joined_entities(tx, changes))
    receipt = _add_facts(tx, changes)
    settle_closings(tx, rethought)
    tx.put_records(changes.records)
    for kind, record_id in changes.removed_records:
        tx.delete_records(kind, [record_id])
    return replace(receipt, document_ids=tuple(document.id for document in changes.documents))


def _check_banks(changes: FactChanges) -> None:
    banks = {document.bank for document in changes.documents} | {chunk.bank for chunk in changes.chunks}
    banks |= {new.fact.bank for new in changes.facts} | {fact.bank for fact in changes.updates}
    banks |= {keyed.entity.bank for keyed in changes.entities}
    banks |= {record.bank for record in changes.records if record.bank}
    strangers = banks - {changes.bank}
    if strangers:
        raise InvalidInput("bank", f"the changes' bank {changes.bank!r}", min(strangers))


def _settle_model(tx: Transaction, changes: FactChanges) -> None:
    """Check that the vectors are of the bank's model, which is the first that wrote any."""
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
        mark_changed(tx, members)
        tx.delete_entities(entity_ids)


def _joined_entities(tx: Transaction, changes: FactChanges) -> list[KeyedEntity]:
    """Return the entities as they will be stored, with what others stored of them since they were read."""
    seen = [keyed.entity.id for keyed in changes.entities if keyed.entity.id in changes.added_mentions]
    stored = {keyed.entity.id: keyed for keyed in tx.entities(ids=seen)} if seen else {}
    return [
        _joined(stored[keyed.entity.id], keyed, changes.added_mentions[keyed.entity.id])
        if keyed.entity.id in stored
        else keyed
        for keyed in changes.entities
    ]


def _joined(stored: KeyedEntity, seen: KeyedEntity, added: int) -> KeyedEntity:
    """Return what is stored with `added` more mentions; when nobody stored it since it was read, that is `seen` itself."""
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


def _update_facts(tx: Transaction, changes: FactChanges) -> list[str]:
    """Write the updates; returns the facts that were retired by one, or are believed again."""
    before = {fact.id: fact for fact in tx.facts([fact.id for fact in changes.updates])}
    after = {
        fact.id: _updated(before[fact.id], fact, reopens=fact.id in changes.reopened)
        for fact in changes.updates
        if fact.id in before
    }
    tx.update_facts(list(after.values()))
    rethought = [fact_id for fact_id, fact in after.items() if _belief(fact) != _belief(before[fact_id])]
    reworded = [fact for fact_id, fact in after.items() if fingerprint(fact) != fingerprint(before[fact_id])]
    mark_changed(tx, [*reworded, *(after[fact_id] for fact_id in rethought)])
    return rethought


def _belief(fact: Fact) -> tuple[bool, bool, bool]:
    return fact.retired_at is None, fact.invalidated_at is None, fact.end_recorded_at is None


def _updated(stored: Fact, changed: Fact, *, reopens: bool) -> Fact:
    """Return what is stored of a change; a fact that was closed since it was read stays closed unless it is opened again."""
    changed = replace(changed, proof_count=stored.proof_count)
    if reopens:
        ended = changed.end_recorded_at is not None
        return replace(changed, superseded_by=stored.superseded_by if ended else None)
    changed = replace(changed, superseded_by=stored.superseded_by)
    if stored.retired_at is not None and changed.retired_at is None:
        changed = replace(
            changed,
            retired_at=stored.retired_at,
            invalidated_at=stored.invalidated_at,
            invalid_reason=stored.invalid_reason,
        )
    if stored.end_recorded_at is not None and changed.end_recorded_at is None:
        changed = replace(changed, valid_to=stored.valid_to, end_recorded_at=stored.end_recorded_at)
    return changed


def _add_facts(tx: Transaction, changes: FactChanges) -> CommitReceipt:
    """Merge, insert, prove, link and close; what is closed here no longer absorbs."""
    before = tx.facts([closure.fact_id for closure in changes.closures])
    # A fact that is retired absorbs nothing: it is while duplicates are looked for.
    tx.update_facts([_retired(fact, fact.retired_at or _START_OF_TIME) for fact in before])
    new, merged, proofs = _merge_duplicates(tx, changes.facts)
    tx.update_facts(before)

    proofs += [replace(proof, fact_id=merged.get(proof.fact_id, proof.fact_id)) for proof in changes.proofs]
    added = Counter(proof.fact_id for proof in proofs)
    tx.insert_facts([replace(one, fact=_proven(one.fact, added)) for one in new])
    inserted = {one.fact.id for one in new}
    proven = tx.facts([fact_id for fact_id in added if fact_id not in inserted])
    tx.update_facts([_proven(fact, added) for fact in proven])
    tx.add_proofs(proofs)
    tx.put_links(_repointed(changes.links, merged))
    closed = _close(tx, changes, merged)
    return CommitReceipt(inserted=tuple(one.fact.id for one in new), merged=merged, closed=closed)


def _proven(fact: Fact, added: Mapping[str, int]) -> Fact:
    return replace(fact, proof_count=fact.proof_count + added.get(fact.id, 0))


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
        if not key or not fact.is_open:
            inserted.append(new)
        elif key in holders:
            merged[fact.id] = holders[key]
            proofs.append(Proof(holders[key], fact.document_id, fact.chunk_id, fact.recorded_at))
        else:
            holders[key] = fact.id
            inserted.append(new)
    return inserted, merged, proofs


def _close(tx: Transaction, changes: FactChanges, merged: Mapping[str, str]) -> tuple[str, ...]:
    """Close facts on the axis that each closure names; returns those that were open on it."""
    closings: list[Closing] = []
    dropped: dict[str, datetime] = {}
    for closure in changes.closures:
        fact_id = merged.get(closure.fact_id, closure.fact_id)
        by = closure.superseded_by and merged.get(closure.superseded_by, closure.superseded_by)
        if closure.retired_at is not None and by is None:
            dropped[fact_id] = closure.retired_at
        else:
            closings.append(
                Closing(
                    fact_id=fact_id,
                    by=by,
                    valid_to=closure.valid_to,
                    recorded_at=closure.retired_at or _moment(changes),
                )
            )
    retired = [_retired(fact, dropped[fact.id]) for fact in tx.facts(list(dropped)) if not fact.retired_at]
    tx.update_facts(retired)
    mark_changed(tx, retired)
    closed = close_facts(tx, closings) if closings else ()
    settle_closings(tx, [fact.id for fact in retired])
    return (*closed, *(fact.id for fact in retired))


def _moment(changes: FactChanges) -> datetime:
    if changes.now is None:
        raise InvalidInput("now", "the moment of the change, when a closure ends a fact")
    return changes.now


def _retired(fact: Fact, at: datetime) -> Fact:
    """Return the fact disbelieved, never from before it was recorded on: clocks are set back."""
    return replace(fact, retired_at=max(at, fact.recorded_at or at))


def _repointed(links: Sequence[Link], merged: Mapping[str, str]) -> list[Link]:
    """Return the links between facts as they are stored; those that now lead from a fact to itself go."""
    if not merged:
        return [link for link in links if link.source != link.target]
    ends = [(merged.get(link.source, link.source), merged.get(link.target, link.target)) for link in links]
    return [
        replace(link, source=source, target=target)
        for link, (source, target) in zip(links, ends, strict=True)
        if source != target
    ]
