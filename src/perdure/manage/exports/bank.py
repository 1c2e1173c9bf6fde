"""Paged access of exporters to a bank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.fact import Chunk, Document, Entity, Fact, Link, LinkKind
from perdure.domain.time import Window
from perdure.manage.transfer import fact_pages
from perdure.ports.store import FactsWhere, Store


@dataclass(frozen=True, slots=True)
class BankContent:
    """A bank's facts, entities and documents; each call reads the current state."""

    store: Store
    id: str
    now: datetime

    def facts(self) -> Iterator[Sequence[Fact]]:
        """Return all facts in recorded order, closed ones too, in pages, each once."""
        return fact_pages(self.store, self.id, self.now)

    def entities(self) -> list[Entity]:
        """Return the entities, most mentioned first."""
        with self.store.reading(self.id) as reading:
            return [keyed.entity for keyed in reading.entities()]

    def documents(self) -> list[Document]:
        """Return the documents, oldest first."""
        with self.store.reading(self.id) as reading:
            return reading.documents()[::-1]

    def chunks(self, document_id: str) -> list[Chunk]:
        with self.store.reading(self.id) as reading:
            return reading.chunks(document_id=document_id)

    def facts_of(self, *, document_id: str | None = None, entity_id: str | None = None) -> list[Fact]:
        """Return the facts of a document, or those that mention an entity, in recorded order."""
        where = FactsWhere(
            document_ids=[document_id] if document_id is not None else (),
            entity_ids=[entity_id] if entity_id is not None else (),
        )
        with self.store.reading(self.id) as reading:
            return reading.find_facts(where)

    def causes(self, fact_ids: Sequence[str]) -> list[Link]:
        """Return the causal links that start or end at the facts."""
        with self.store.reading(self.id) as reading:
            return reading.links(fact_ids, LinkKind.CAUSAL)


def sure_time(fact: Fact) -> Window | None:
    """Return when it happened; None if that is a guess, which is not shown."""
    return None if fact.has_unsure_date else fact.occurred


def state_of(fact: Fact, now: datetime) -> str:
    """Return `current`, `ended` (it was true until some time) or `retired` (it is no longer believed)."""
    if fact.retired_at is not None:
        return "retired"
    return "ended" if fact.valid_to is not None and fact.valid_to <= now else "current"


def iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
