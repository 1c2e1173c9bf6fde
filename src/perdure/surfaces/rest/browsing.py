"""Listing facts: straight from the store where it can filter, by looking through all where it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.engine import Perdure
from perdure.ports.store import FactPage

PAGE = 1000
_FIELDS = {"created_at": "recorded_at", "updated_at": "recorded_at"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
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

    @property
    def simple(self) -> bool:
        """Whether the store can do all of it."""
        return not self.invalidated and self.chunk_id is None and self.time_field is None


def list_facts(
    engine: Perdure, bank: str, wanted: Wanted, offset: int, limit: int
) -> tuple[Sequence[Fact], int]:
    """A page of facts and how many there are in all."""
    if wanted.simple:
        page = _page(engine, bank, wanted, offset, max(limit, 1))
        return page.facts[:limit], page.total
    found = [fact for fact in every_fact(engine, bank, wanted) if _fits(fact, wanted)]
    if wanted.time_field is not None:
        found.sort(key=lambda fact: (_moment(fact, wanted), fact.id), reverse=True)
    return found[offset : offset + limit], len(found)


def every_fact(engine: Perdure, bank: str, wanted: Wanted) -> Iterator[Fact]:
    """All facts that the store's own filters let through."""
    offset = 0
    while True:
        page = _page(engine, bank, wanted, offset, PAGE)
        yield from page.facts
        offset += PAGE
        if offset >= page.total:
            return


def _page(engine: Perdure, bank: str, wanted: Wanted, offset: int, limit: int) -> FactPage:
    return engine.facts(
        bank,
        text=wanted.text,
        types=wanted.types,
        tags=wanted.tags,
        tags_match=wanted.tags_match,
        document_id=wanted.document_id,
        entity_id=wanted.entity_id,
        include_closed=wanted.invalidated,
        offset=offset,
        limit=limit,
    )


def _fits(fact: Fact, wanted: Wanted) -> bool:
    if wanted.invalidated and fact.retired_at is None:
        return False
    if wanted.chunk_id is not None and fact.chunk_id != wanted.chunk_id:
        return False
    if wanted.time_field is None:
        return True
    moment = _moment(fact, wanted)
    return (
        moment is not None
        and (wanted.start is None or moment >= wanted.start)
        and (wanted.end is None or moment < wanted.end)
    )


def _moment(fact: Fact, wanted: Wanted) -> datetime | None:
    name = wanted.time_field or "recorded_at"
    moment: datetime | None = getattr(fact, _FIELDS.get(name, name))
    return moment
