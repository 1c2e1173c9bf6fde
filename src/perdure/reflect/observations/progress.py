"""How far a bank is consolidated: the watermark behind which facts are new, the phase of a run, and what is pending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter, TagLeaf, TagOr, TagsMatch
from perdure.domain.observation import (
    CONSOLIDATION_RECORD,
    FAILED_RECORD,
    PENDING_RECORD,
    Scope,
    is_synthesised,
)
from perdure.domain.plain import readable
from perdure.domain.record import Record
from perdure.ports.store import Order, Reading, Rows, Selection, Store, Transaction

FACTS_PER_STEP = 200
ANCHORS = 64
"""Ids of facts seen last that the watermark keeps: it is found again while one of them is stored."""
FACTS, SUBJECTS, MODELS, NOTES, IDLE = "facts", "subjects", "models", "notes", "idle"
_SHARES = {
    FACTS: (0.0, 0.3),
    SUBJECTS: (0.3, 0.85),
    MODELS: (0.85, 0.87),
    NOTES: (0.87, 1.0),
    IDLE: (1.0, 1.0),
}
"""Which part of a run's progress each phase is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationStatus:
    """How far a bank is consolidated."""

    pending: int = 0
    """Facts that the next run will look at."""
    failed: tuple[str, ...] = ()
    """Facts that were set aside."""
    last_at: datetime | None = None
    """When a run last came to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationState:
    """The record of a bank's consolidation."""

    operation: str = ""
    phase: str = IDLE
    position: int = 0
    """Facts before the watermark, in the order of recording."""
    seen: tuple[str, ...] = ()
    """The last of them."""
    offset: int = 0
    """Facts that a run over scopes has looked at."""
    batch: int = 0
    batches: int = 0
    tags: tuple[str, ...] = ()
    at: str | None = None

    @property
    def progress(self) -> float:
        """From 0 to 1, as far as the phase tells."""
        start, end = _SHARES[self.phase]
        share = self.batch / self.batches if self.phase == SUBJECTS and self.batches else 0.0
        return start + (end - start) * share


def read_state(rows: Rows) -> ConsolidationState:
    """Return how far the run has come; one that cannot be read begins anew."""
    states = readable(rows.records(CONSOLIDATION_RECORD, [CONSOLIDATION_RECORD]), _read_state)
    return next(states, ConsolidationState())


def _read_state(record: Record) -> ConsolidationState:
    body: Any = record.body
    return ConsolidationState(**{**body, "seen": tuple(body["seen"]), "tags": tuple(body["tags"])})


def put_state(tx: Transaction, bank: str, state: ConsolidationState) -> None:
    names = ("operation", "phase", "position", "seen", "offset", "batch", "batches", "tags", "at")
    body = {name: getattr(state, name) for name in names}
    body |= {"seen": list(state.seen), "tags": list(state.tags)}
    tx.put_records([Record(kind=CONSOLIDATION_RECORD, id=CONSOLIDATION_RECORD, bank=bank, body=body)])


def next_facts(
    reading: Reading, scopes: Sequence[Scope] | None, state: ConsolidationState, now: datetime
) -> tuple[Sequence[Fact], ConsolidationState]:
    """Return the next facts in the order of recording, of some scopes or behind the watermark, and the state after them."""
    everything = Filter(include_closed=True, include_expired=True).at(now)
    if scopes is not None:
        tags = TagOr(tuple(TagLeaf(frozenset(scope), TagsMatch.ALL_STRICT) for scope in scopes))
        where = replace(everything, tags=(tags,))
        page = _page(reading, where, state.offset, FACTS_PER_STEP)
        return page, replace(state, offset=state.offset + len(page))
    position = state.position
    page = _page(reading, everything, max(position - 1, 0), FACTS_PER_STEP + bool(position))
    if position and (not page or page[0].id != state.seen[-1]):
        position = _find_watermark(reading, everything, state.seen)
        page = _page(reading, everything, max(position - 1, 0), FACTS_PER_STEP + bool(position))
    facts = page[bool(position) :]
    last = (*state.seen, *(fact.id for fact in facts))[-ANCHORS:]
    return facts, replace(state, position=position + len(facts), seen=last)


def _page(reading: Reading, where: Filter, offset: int, limit: int) -> Sequence[Fact]:
    return reading.browse(
        Selection(where=where, order=Order.OLDEST_RECORDED, offset=offset, limit=limit)
    ).facts


def _find_watermark(reading: Reading, everything: Filter, seen: Sequence[str]) -> int:
    """Return how many facts lie before the watermark, after some were erased; 0 when nothing of it is left."""
    anchors, offset = frozenset(seen), 0
    while True:
        selection = Selection(
            where=everything, order=Order.NEWEST_RECORDED, offset=offset, limit=FACTS_PER_STEP
        )
        page = reading.browse(selection)
        for place, fact in enumerate(page.facts):
            if fact.id in anchors:
                return page.total - offset - place
        offset += len(page.facts)
        if not page.facts:
            return 0


def consolidation_status(store: Store, bank: str, now: datetime) -> ConsolidationStatus:
    """Return how many facts wait, which were set aside, and when a run last ended."""
    with store.reading(bank) as reading:
        state = read_state(reading)
        failed = tuple(record.id for record in reading.records(FAILED_RECORD))
        marked = {record.id for record in reading.records(PENDING_RECORD)}
        if not state.seen:
            by_type = reading.stats().facts_by_type
            pending = sum(count for kind, count in by_type.items() if kind != FactType.OBSERVATION)
        else:
            pending = len(marked | _unseen(reading, state, now))
    last_at = None if state.at is None else datetime.fromisoformat(state.at)
    return ConsolidationStatus(pending=pending, failed=failed, last_at=last_at)


def pending_fact_ids(store: Store, bank: str, now: datetime) -> frozenset[str]:
    """Return the facts that the next run will look at."""
    with store.reading(bank) as reading:
        marked = {record.id for record in reading.records(PENDING_RECORD)}
        return frozenset(marked | _unseen(reading, read_state(reading), now))


def _unseen(reading: Reading, state: ConsolidationState, now: datetime) -> set[str]:
    """Ids of the facts behind the watermark."""
    return {fact.id for fact in _newer(reading, state, now) if not is_synthesised(fact)}


def _newer(reading: Reading, state: ConsolidationState, now: datetime) -> Iterator[Fact]:
    while True:
        facts, state = next_facts(reading, None, state, now)
        if not facts:
            return
        yield from facts


def recover(store: Store, bank: str) -> int:
    """Have the facts that were set aside consolidated again; returns how many."""
    with store.transaction(bank) as tx:
        failed = [record.id for record in tx.records(FAILED_RECORD)]
        tx.delete_records(FAILED_RECORD, failed)
        stored = tx.facts(failed)
        tx.put_records([Record(kind=PENDING_RECORD, id=fact.id, bank=bank) for fact in stored])
    return len(stored)
