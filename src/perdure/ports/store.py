"""The store port: what memory needs from a database, at the level of channels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from perdure.domain.bank import Bank, EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.ranking import RankingFields
from perdure.domain.recall import Hit
from perdure.domain.record import Record
from perdure.domain.time import Window
from perdure.ports.embedder import Vector
from perdure.ports.probe import Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the channels need of a fact, made at retain; stores keep it and never compute it."""

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """View name -> unit vector. The view "fact" is always there when an embedder was at hand."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Index term -> weighted term frequency over all its fields (BM25F folds fields at retain)."""
    words: tuple[str, ...] = ()
    """Plain lower-case words, for the typo-tolerant vocabulary."""
    signature: bytes = b""
    """256 bits, locality sensitive."""
    tokens: bytes = b""
    """Packed token vectors for late interaction, opaque to the store."""
    dedupe_key: str = ""
    """Two current facts of a bank never share one; empty means never merged."""
    passage: str = ""
    """What the reranker reads when it differs from the fact's text."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to insert, with its features."""

    fact: Fact
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Ends a fact: superseded by another, or retired (superseded_by None)."""

    fact_id: str
    retired_at: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """The same statement seen again: raises proof_count and records the source."""

    fact_id: str
    document_id: str | None
    chunk_id: str | None
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyedEntity:
    """An entity to insert or update, with the keys under which it can be looked up."""

    entity: Entity
    keys: tuple[str, ...]
    added: int | None = None
    """How many mentions it gains: it is then joined with what others stored meanwhile. None replaces what is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBatch:
    """Everything one retain changes; written in one transaction or not at all."""

    bank: str
    model: EmbeddingModel | None = None
    documents: Sequence[Document] = ()
    chunks: Sequence[Chunk] = ()
    removed_chunks: Sequence[str] = ()
    facts: Sequence[NewFact] = ()
    updates: Sequence[Fact] = ()
    """Rewrites the stored fields of existing facts (not their features, nor recall statistics); opens none that is closed."""
    reopened: Sequence[str] = ()
    """The facts among the updates that are opened again."""
    features: Mapping[str, Features] = field(default_factory=dict)
    """Fact id -> features that replace the stored ones."""
    entities: Sequence[KeyedEntity] = ()
    removed_entities: Sequence[str] = ()
    links: Sequence[Link] = ()
    closures: Sequence[Closure] = ()
    proofs: Sequence[Proof] = ()
    records: Sequence[Record] = ()
    """Records saved in the same transaction (operation progress, idempotency)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReceipt:
    """What a write did: `merged` maps a new fact's id to the existing fact that absorbed it as proof."""

    inserted: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which facts a listing returns, newest recorded first (ties by id)."""

    wanted: Filter
    text: str = ""
    """Case-insensitive substring of the text; empty selects all."""
    entity_id: str | None = None
    subject: str | None = None
    relation: str | None = None
    speaker: str | None = None
    offset: int = 0
    limit: int = 100
    oldest_first: bool = False
    by_date: Window | None = None
    """Only facts whose date (`Fact.dated`) lies in it, by date and not as recorded; `Window()` takes all dated ones.

    Facts of one date come by ordinal, then id. Latest first, unless `oldest_first`: the same order backwards.
    """


@dataclass(frozen=True, slots=True)
class FactPage:
    """A page of facts and how many there are in all."""

    facts: tuple[Fact, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to erase: exactly one of a fact, a document, an entity, a record, or the whole bank."""

    fact_id: str | None = None
    document_id: str | None = None
    entity_id: str | None = None
    record: tuple[str, str] | None = None
    """(kind, id)"""
    bank: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BankStats:
    """Counts of what a bank holds."""

    facts: int = 0
    current_facts: int = 0
    facts_by_type: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    links_by_kind: Mapping[str, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
    bytes_on_disk: int | None = None


class Store(Protocol):
    """Keeps banks; every method is safe to call from any thread and raises only StoreError and its kin.

    Reads of a bank that was never written return nothing; writing to it creates it.
    """

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        """All banks, or those of `ids` that exist, by id."""

    def save_bank(self, bank: Bank) -> None:
        """Insert or update name, mission, disposition and settings; never its model."""

    def write(self, batch: WriteBatch) -> WriteReceipt:
        """Apply the batch atomically; durable and visible to every process when it returns.

        A new fact whose dedupe_key a current fact already holds becomes a proof of that fact, and what the
        batch says of its id then goes for that fact. Facts that the batch closes no longer absorb new ones.
        Parts that refer to a fact that is not there (forgotten meanwhile) are left out.
        Vectors of a model other than the bank's raise ModelMismatch before anything is written.
        """

    def search(self, bank: str, probe: Probe, wanted: Filter, limit: int) -> Sequence[Hit]:
        """The facts that answer the probe, best first, ties by id; filtered before ranked."""

    def facts(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        """The facts of `ids` in that order; unknown ids are left out."""

    def outlines(self, bank: str, ids: Sequence[str]) -> dict[str, RankingFields]:
        """What ranking needs of the facts of `ids`, in that order; unknown ids are left out.

        A store that cannot tell it faster than by reading the facts makes it of them (`ranking_fields`).
        """

    def features(self, bank: str, ids: Sequence[str]) -> dict[str, Features]:
        """The stored features of `ids`; unknown ids are left out."""

    def passages(self, bank: str, ids: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """For reranking: fact id -> (passage or, when empty, the fact's text; packed token vectors)."""

    def browse(self, bank: str, selection: Selection) -> FactPage:
        """A page of facts."""

    def documents(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        """All documents of the bank, newest first, or those of `ids`."""

    def chunks(
        self, bank: str, *, ids: Sequence[str] | None = None, document_id: str | None = None
    ) -> list[Chunk]:
        """The chunks of `ids`, or of a document, in order."""

    def entities(
        self, bank: str, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        """All entities, most mentioned first; or those of `ids`; or those that hold one of `keys`."""

    def links(self, bank: str, ids: Sequence[str]) -> list[Link]:
        """The links that start or end at one of `ids`."""

    def proofs(self, bank: str, ids: Sequence[str]) -> list[Proof]:
        """What said the facts of `ids` again after their first source, in the order of ids, oldest first."""

    def known(self, bank: str, dedupe_keys: Sequence[str]) -> dict[str, str]:
        """dedupe_key -> id of the current fact that holds it."""

    def record_recalls(self, bank: str, ids: Sequence[str], at: datetime) -> None:
        """Count a recall of each fact and remember its time (the last 20)."""

    def forget(self, bank: str, target: Target) -> int:
        """Erase for good, text and traces; returns how many facts went.

        With a fact go what was synthesised from it, its wording in its chunks and in what facts of the same
        document quote, and entities that no other fact mentions. With a document go its chunks and facts;
        a fact that another document proves too moves there. With an entity go its memberships, no facts.
        """

    def save_records(self, records: Sequence[Record]) -> None:
        """Insert or replace records by (kind, bank, id)."""

    def records(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        """Records of a kind, oldest first."""

    def stage_vectors(
        self, bank: str, model: EmbeddingModel, vectors: Iterable[tuple[str, Mapping[str, Vector], bytes]]
    ) -> None:
        """Keep (fact id, view vectors, token vectors) of another model aside, until `switch_model`."""

    def switch_model(self, bank: str, model: EmbeddingModel) -> list[str]:
        """Make the staged vectors the bank's own; when facts lack one, changes nothing and returns their ids."""

    def stats(self, bank: str) -> BankStats:
        """Counts of what the bank holds."""

    def close(self) -> None:
        """Release files and memory; the store cannot be used afterwards."""
