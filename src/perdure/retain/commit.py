"""Writing facts: what a change of memory brings with it, decided once for every store.

Duplicates become proofs, facts end no earlier than they began, facts whose source went move to another one, and entities that
two writers saw at once are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Fact, Link
from perdure.domain.record import Record
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, Store, Transaction


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
    """Replace the stored fields of facts (not features, nor recall statistics); they open none that is closed."""
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


def commit(
    store: Store, changes: FactChanges, *, within: Callable[[Transaction], None] | None = None
) -> CommitReceipt:
    """Apply the changes in one transaction, in which `within` is called first; an error in it writes nothing.

    Raises ModelMismatch when the vectors are of another model than the bank's, InvalidInput when the changes contradict
    themselves, Conflict when a new fact's id exists. What refers to a fact that is not there is left out.
    """
    raise NotImplementedError


def apply_changes(tx: Transaction, changes: FactChanges) -> CommitReceipt:
    """`commit` within a transaction that is open already."""
    raise NotImplementedError
