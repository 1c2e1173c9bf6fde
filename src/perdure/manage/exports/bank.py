"""What exporters read of a bank, page by page."""

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
    """A bank's facts, entities and documents; each call reads the bank as it is then."""

    store: Store
    id: str
    now: datetime

    def facts(self) -> Iterator[Sequence[Fact]]:
        """All facts in the order of their recording, closed ones too, in pages; each once."""
        seen: set[str] = set()
        for page in fact_pages(self.store, self.id, self.now):
            fresh = [fact for fact in page if fact.id not in seen]
            seen |= {fact.id for fact in fresh}
            yield fresh

    def entities(self) -> list[Entity]:
        """Entities, most mentioned first."""
        with self.store.reading(self.id) as reading:
            return [keyed.entity for keyed in reading.entities()]

    def documents(self) -> list[Document]:
        """Documents, oldest first."""
        with self.store.reading(self.id) as reading:
            return reading.documents()[::-1]

    def chunks(self, document_id: str) -> list[Chunk]:
        with self.store.reading(self.id) as reading:
            return reading.chunks(document_id=document_id)

    def facts_of(self, *, document_id: str | None = None, entity_id: str | None = None) -> list[Fact]:
        """The facts of a document, or those that mention an entity, in the order of their recording."""
        where = FactsWhere(
            document_ids=[document_id] if document_id is not None else (),
            entity_ids=[entity_id] if entity_id is not None else (),
        )
        with self.store.reading(self.id) as reading:
            return reading.find_facts(where)

    def causes(self, fact_ids: Sequence[str]) -> list[Link]:
        """The causal links that start or end at the facts."""
        with self.store.reading(self.id) as reading:
            return reading.links(fact_ids, LinkKind.CAUSAL)


def sure_time(fact: Fact) -> Window | None:
    """When it happened; None where that is a guess, which is not to be shown."""
    return None if fact.has_unsure_date else fact.occurred


def state_of(fact: Fact, now: datetime) -> str:
    """`current`, `ended` (it was true until some time) or `retired` (it is not believed any longer)."""
    if fact.retired_at is not None:
        return "retired"
    return "ended" if fact.valid_to is not None and fact.valid_to <= now else "current"


def iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
