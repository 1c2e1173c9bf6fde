"""Listing facts: straight from the store where it can filter, by looking through all where it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from perdure import Perdure
from perdure.domain.fact import Fact
from perdure.domain.filter import Filter, read_tags
from perdure.domain.observation import is_synthesised
from perdure.ports.store import FactPage

FACTS_PER_READ = 1000
ConsolidationState = Literal["pending", "failed", "consolidated", "done"]
"""Hindsight's name for what is consolidated is `done`; both are understood."""
_FIELDS = {"created_at": "recorded_at", "updated_at": "recorded_at"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Which facts a listing returns."""

    types: Sequence[str] = ()
    text: str = ""
    invalidated: bool = False
    document_id: str | None = None
    chunk_id: str | None = None
    entity_id: str | None = None
    tags: Sequence[str] = ()
    tags_match: str = "any"
    time_field: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    consolidation: ConsolidationState | None = None

    def page(self, engine: Perdure, bank: str, offset: int, limit: int) -> tuple[Sequence[Fact], int]:
        """Return a page of facts and how many there are in all."""
        if self.consolidation is not None:
            facts = self._of_consolidation(engine, bank)
        elif not self.invalidated and self.chunk_id is None and self.time_field is None:
            page = self._read(engine, bank, offset, max(limit, 1))
            return page.facts[:limit], page.total
        else:
            facts = [fact for fact in self.every(engine, bank) if self._fits(fact)]
        if self.time_field is not None:
            facts.sort(key=lambda fact: (self._moment(fact), fact.id), reverse=True)
        return facts[offset : offset + limit], len(facts)

    def _of_consolidation(self, engine: Perdure, bank: str) -> list[Fact]:
        """Facts by what consolidation did with them; observations and opinions are its result and have no state."""
        failed = frozenset(engine.observations.status(bank).failed)
        pending = engine.observations.pending_fact_ids(bank) - failed
        facts = [fact for fact in self.every(engine, bank) if self._fits(fact) and not is_synthesised(fact)]
        if self.consolidation in ("consolidated", "done"):
            return [fact for fact in facts if fact.id not in failed | pending]
        chosen = failed if self.consolidation == "failed" else pending
        return [fact for fact in facts if fact.id in chosen]

    def every(self, engine: Perdure, bank: str) -> Iterator[Fact]:
        """All facts that the store's own filters let through."""
        offset = 0
        while True:
            page = self._read(engine, bank, offset, FACTS_PER_READ)
            yield from page.facts
            offset += FACTS_PER_READ
            if offset >= page.total:
                return

    def _read(self, engine: Perdure, bank: str, offset: int, limit: int) -> FactPage:
        if self.entity_id is not None and not engine.entities.list(bank, [self.entity_id]):
            return FactPage(facts=(), total=0)
        where = Filter(
            tags=read_tags(self.tags, self.tags_match),
            document_ids=None if self.document_id is None else frozenset({self.document_id}),
            include_closed=self.invalidated,
            include_expired=self.invalidated,
        )
        return engine.facts.list(
            bank,
            text=self.text,
            types=self.types,
            where=where,
            entity=self.entity_id,
            offset=offset,
            limit=limit,
        )

    def _fits(self, fact: Fact) -> bool:
        if self.invalidated and fact.retired_at is None:
            return False
        if self.chunk_id is not None and fact.chunk_id != self.chunk_id:
            return False
        if self.time_field is None:
            return True
        moment = self._moment(fact)
        return (
            moment is not None
            and (self.start is None or moment >= self.start)
            and (self.end is None or moment < self.end)
        )

    def _moment(self, fact: Fact) -> datetime | None:
        name = self.time_field or "recorded_at"
        moment: datetime | None = getattr(fact, _FIELDS.get(name, name))
        return moment
