"""The store port: storage and search, no policy.

A store keeps rows and answers probes. What goes with what (duplicates, closings, proofs, re-homing, erasure of everything
that quotes a fact) is decided above it, once for every store, in `perdure.retain` and `perdure.forget`.

    with store.reading(bank) as reading:          # one state of a bank, any number of reads
        hits = reading.search(probe, where, 300)
        facts = reading.facts([hit.fact_id for hit in hits])

    with store.transaction(bank) as tx:           # all or nothing; visible to every process when the block ends
        tx.insert_facts(facts)
        tx.update_facts(closed)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from perdure.domain.bank import Bank, EmbeddingModel
from perdure.domain.damage import Damage, Verification
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link, LinkKind, RankingFields
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.domain.record import Record
from perdure.domain.time import Window
from perdure.errors import DamagedRow
from perdure.ports.embedder import Vector
from perdure.ports.probe import Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the channels need of a fact. Computed at retain; stores keep it and never compute it."""

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """View name -> unit vector. The view "fact" is present whenever an embedder was configured."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Index term -> weighted term frequency over all its fields (BM25F folds fields at retain)."""
    words: tuple[str, ...] = ()
    """Plain lower-case words, for the typo-tolerant vocabulary."""
    signature: bytes = b""
    """256 bits, locality sensitive."""
    dedupe_key: str = ""
    """Facts that state the same share it; empty means never merged."""
    passage: str = ""
    """What is embedded and what the reranker reads of the fact alone; empty if it is the fact's text."""
    passage_in_context: str = ""
    """The fact's turn after the previous turn, verbatim; empty if it is the passage."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What reranking reads of a fact."""

    own: str
    in_context: str


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to insert, with its features."""

    fact: Fact
    features: Features


@dataclass(frozen=True, slots=True)
class Proof:
    """The same statement seen again in another source."""

    fact_id: str
    document_id: str | None
    chunk_id: str | None
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyedEntity:
    """An entity with the keys under which it can be looked up."""

    entity: Entity
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StagedVectors:
    """Vectors of a fact from another model than the bank's, kept until the bank switches over."""

    fact_id: str
    vectors: Mapping[str, Vector]


class Order(StrEnum):
    """How a listing is ordered."""

    NEWEST_RECORDED = "newest_recorded"
    OLDEST_RECORDED = "oldest_recorded"
    LATEST_DATED = "latest_dated"
    EARLIEST_DATED = "earliest_dated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which facts a listing returns and in which order.

    Recorded order is the order of insertion. Dated order is by `Fact.dated`, then `ordinal`, then recorded order; facts
    without a date are left out of it. The `latest` order is the exact reverse of the `earliest` one.
    """

    where: Filter
    text: str = ""
    """Case-insensitive substring of the text; empty selects all."""
    entity_id: str | None = None
    subject: str | None = None
    """Case-insensitive, as are `relation` and `speaker`."""
    relation: str | None = None
    speaker: str | None = None
    dated: Window | None = None
    """Only facts whose date (`Fact.dated`) lies in the window."""
    order: Order = Order.NEWEST_RECORDED
    offset: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True)
class FactPage:
    """A page of facts and the number of facts in the selection."""

    facts: tuple[Fact, ...]
    total: int
    damaged: tuple[Damage, ...] = ()
    """Rows of the page that are left out, because they cannot be read or fail their checksum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsWhere:
    """Facts that meet at least one of these conditions, closed ones too."""

    document_ids: Sequence[str] = ()
    chunk_ids: Sequence[str] = ()
    entity_ids: Sequence[str] = ()
    source_fact_ids: Sequence[str] = ()
    """Synthesised from one of these facts."""
    superseded_by: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BankStats:
    """Counts of what a bank contains."""

    facts: int = 0
    current_facts: int = 0
    facts_by_type: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    links_by_kind: Mapping[str, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
    bytes_on_disk: int | None = None


class Traces(StrEnum):
    """Whether erased content may still be found in unused parts of the store's files."""

    CLEARED = "cleared"
    PENDING = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexUsage:
    """The search indexes in the memory of this process."""

    banks: int = 0
    bytes: int = 0
    hits: int = 0
    """Readings since opening that found their bank's index in memory."""
    misses: int = 0
    """Readings that had to load it."""


class Rows(Protocol):
    """Reads that a reading and a transaction share. Unknown ids and damaged rows are left out."""

    def damaged(self) -> tuple[Damage, ...]:
        """Return the damaged rows that this scope has met so far."""

    def bank(self) -> Bank | None:
        """Return the bank itself, or None if there is none."""

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        """Return the facts of `ids` in that order."""

    def features(self, ids: Sequence[str]) -> dict[str, Features]: ...

    def documents(self, ids: Sequence[str] | None = None) -> list[Document]:
        """Return all documents, newest first (ties by id), or those of `ids` in that order."""

    def chunks(self, *, ids: Sequence[str] | None = None, document_id: str | None = None) -> list[Chunk]:
        """Return the chunks of `ids` in that order, or of a document by ordinal."""

    def entities(
        self, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        """Return entities, most mentioned first (ties by id): all, `ids` in that order, or by `keys`."""

    def links(self, ids: Sequence[str], kind: LinkKind | None = None) -> list[Link]:
        """Return the links (of a kind) that start or end at one of `ids`, by source, target and kind."""

    def proofs(self, ids: Sequence[str]) -> dict[str, list[Proof]]:
        """Return fact id -> what stated the fact again after its first source, oldest first."""

    def facts_by_dedupe_key(self, keys: Sequence[str]) -> dict[str, str]:
        """Return dedupe key -> id of the open fact with that key, the one recorded first."""

    def find_facts(self, where: FactsWhere) -> list[Fact]:
        """Return all facts that meet one of the conditions, in recorded order."""

    def records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        """Return the bank's records of a kind, oldest first (ties by id)."""


def raise_damaged(rows: Rows) -> None:
    """Raise `DamagedRow` if a scope has met damage: for work that must not miss a row."""
    for damage in rows.damaged():
        raise DamagedRow(damage.kind, damage.name)


class Reading(Rows, Protocol):
    """One bank for reading. Every search of a reading sees the same state of the bank.

    Rows are read when asked for: a fact that was erased meanwhile is left out. Safe to use from several
    threads. A bank that was never written reads as empty.
    """

    def search(self, probe: Probe, where: Filter, limit: int) -> list[Hit]:
        """Return the admitted facts that answer the probe, best first, ties in recorded order."""

    def ranking_fields(self, ids: Sequence[str]) -> dict[str, RankingFields]:
        """Return what ranking needs of facts, cheaper than the facts themselves."""

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return what reranking reads of facts."""

    def browse(self, selection: Selection) -> FactPage: ...

    def stats(self) -> BankStats: ...

    def check_reached(self) -> None:
        """Raise `StoreUnreachable` if a long search may be waiting for a server that does not answer."""


class Transaction(Rows, Protocol):
    """One bank under its write lock. Reads see what the transaction wrote.

    It writes rows and never decides what else must change. Unknown ids are ignored, except in `insert_facts`.
    """

    def put_bank(self, bank: Bank) -> None:
        """Insert or replace the bank without its model. Empty times are filled in."""

    def set_model(self, model: EmbeddingModel) -> None:
        """Set the model of the bank's vectors."""

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Insert or replace documents; `created_at` of a stored one stays unless it is given."""

    def delete_documents(self, ids: Sequence[str]) -> None:
        """Delete documents, nothing else."""

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Insert or replace chunks."""

    def delete_chunks(self, ids: Sequence[str]) -> None:
        """Delete chunks, nothing else."""

    def insert_facts(self, facts: Sequence[NewFact]) -> None:
        """Insert facts; this order becomes their recorded order. An id that exists raises Conflict."""

    def update_facts(self, facts: Sequence[Fact]) -> None:
        """Replace all fields of stored facts but their recall statistics; features stay."""

    def put_features(self, features: Mapping[str, Features]) -> None:
        """Replace the features of stored facts."""

    def delete_facts(self, ids: Sequence[str]) -> None:
        """Delete facts with their features, links, memberships, tags, sources and proofs."""

    def put_entities(self, entities: Sequence[KeyedEntity]) -> None:
        """Insert or replace entities and their keys."""

    def delete_entities(self, ids: Sequence[str]) -> None:
        """Delete entities and their keys; facts stay as they are."""

    def put_links(self, links: Sequence[Link]) -> None:
        """Insert links between stored facts, or replace the weight of existing ones; others are ignored."""

    def add_proofs(self, proofs: Sequence[Proof]) -> None:
        """Append proofs of stored facts."""

    def replace_proofs(self, proofs: Mapping[str, Sequence[Proof]]) -> None:
        """Replace all proofs of facts, by fact id."""

    def proofs_from(
        self, *, document_ids: Sequence[str] = (), chunk_ids: Sequence[str] = ()
    ) -> dict[str, list[Proof]]:
        """Return fact id -> those of its proofs that come from one of the documents or chunks."""

    def put_records(self, records: Sequence[Record]) -> None:
        """Insert or replace records; `created_at` of a stored one stays unless it is given."""

    def delete_records(self, kind: str, ids: Sequence[str]) -> None:
        """Delete records."""

    def stage_vectors(self, model: EmbeddingModel, vectors: Sequence[StagedVectors]) -> None:
        """Keep vectors of another model until `switch_model`."""

    def unstaged_facts(self, model: EmbeddingModel) -> list[str]:
        """Return the ids of facts without staged vectors of the model, in recorded order."""

    def switch_model(self, model: EmbeddingModel) -> None:
        """Make the staged vectors of the model the bank's own."""

    def delete_bank(self) -> None:
        """Delete the bank with every row that belongs to it, records included."""

    def erased_content(self) -> bool:
        """Declare, last, that this transaction erases content, whose traces have to be cleared.

        Return True if the content was encrypted and its keys go with it, so that traces of it are unreadable.
        """


class Store(Protocol):
    """Keeps banks. Every method is safe to call from any thread and raises only `StoreError`."""

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        """Return all banks, or those of `ids` that exist, by id."""

    def banks_with_records(self, kind: str) -> list[str]:
        """Return the ids of the banks with a record of the kind, sorted."""

    def reading(self, bank: str) -> AbstractContextManager[Reading]:
        """Open a scope for reads of one bank that belong together."""

    def transaction(self, bank: str) -> AbstractContextManager[Transaction]:
        """Open a scope that writes all or nothing. The first write of a row creates its bank.

        Durable and visible to every process when the block ends; an error in the block rolls everything back.
        """

    def record_recalls(self, bank: str, recalls: Iterable[tuple[str, datetime]]) -> None:
        """Count recalls, (fact id, moment) each; the last 20 moments per fact are kept."""

    def shared_records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        """Return records that belong to no bank (API keys), oldest first."""

    def put_shared_records(self, records: Sequence[Record]) -> None:
        """Insert or replace records that belong to no bank."""

    def delete_shared_records(self, kind: str, ids: Sequence[str]) -> None:
        """Delete records that belong to no bank."""

    def traces(self) -> Traces:
        """Return whether erased content may still be in the files."""

    def pending_traces(self) -> tuple[str, ...]:
        """Return what may still be in the files, and until when, one sentence each."""

    def clears_traces_at_once(self) -> bool:
        """Return whether `clear_traces` is quick enough to wait for."""

    def clear_traces(self) -> Traces:
        """Remove what erased content left in the files. Return PENDING if a reader prevents it."""

    def evictions(self) -> int:
        """Return how many banks' indexes left memory to make room for others since opening."""

    def index_usage(self) -> IndexUsage: ...

    def search_tables_due(self, bank: str) -> bool:
        """Return whether `build_search_tables` has work for a bank that outgrew memory, or shrank."""

    def build_search_tables(self, bank: str, progress: Callable[[float], None], *, wait: bool = True) -> bool:
        """Prepare the search of a bank for its size. Return True when nothing is left to do.

        `progress` receives a share from 0 to 1. Without `wait` a call is short, and `Busy` means "later".
        """

    @property
    def read_only(self) -> bool:
        """Return whether nothing can be written, as on read-only media."""

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Compare everything with its checksum; `quick` checks only the structure of the files.

        `repair` restores without loss; `drop` deletes damaged rows that cannot be repaired.
        """

    def backup(self, file: str) -> None:
        """Write a consistent copy of everything to a new file, while the store is in use."""

    def close(self) -> None:
        """Release files and memory; the store cannot be used afterwards."""
