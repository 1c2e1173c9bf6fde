"""Counts, and the graph of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel

from perdure import Perdure
from perdure.contrib.hindsight.bodies import FactTypeName, Limit, Tags, TagsMatch, fields_of, iso
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.listing import Listing
from perdure.domain.fact import Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.operation import OperationStatus
from perdure.ports.store import BankStats
from perdure.surfaces.plugins.rest import ReadBank, Resource, Serving

router = Resource("Statistics", "/v1/default/banks/{bank_id}", [StrictClients])
Period = Literal["1h", "12h", "1d", "7d", "30d", "90d"]
_PERIODS: dict[str, tuple[timedelta, str, timedelta]] = {
    "1h": (timedelta(hours=1), "minute", timedelta(minutes=1)),
    "12h": (timedelta(hours=12), "hour", timedelta(hours=1)),
    "1d": (timedelta(days=1), "hour", timedelta(hours=1)),
    "7d": (timedelta(days=7), "day", timedelta(days=1)),
    "30d": (timedelta(days=30), "day", timedelta(days=1)),
    "90d": (timedelta(days=90), "day", timedelta(days=1)),
}
_COLOURS = {"world": "#42a5f5", "experience": "#66bb6a", "opinion": "#ab47bc", "observation": "#ffa726"}
_ROW = (
    "id", "text", "context", "occurred_start", "occurred_end", "mentioned_at", "document_id", "chunk_id", "tags",
    "proof_count",
)  # fmt: skip
FACTS_PER_READ = 500


class BankStatsResponse(BaseModel):
    """Counts of what a bank holds."""

    bank_id: str
    total_nodes: int
    total_links: int
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int]
    links_by_fact_type: dict[str, int]
    links_breakdown: dict[str, dict[str, int]]
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int] = {}
    last_consolidated_at: str | None = None
    last_memory_write_at: str | None = None
    pending_consolidation: int = 0
    failed_consolidation: int = 0
    total_observations: int = 0
    total_entities: int = 0
    total_chunks: int = 0
    closed_nodes: int = 0


class TimeseriesBucket(BaseModel):
    """Facts of a stretch of time."""

    time: str
    world: int = 0
    experience: int = 0
    observation: int = 0
    opinion: int = 0


class MemoriesTimeseriesResponse(BaseModel):
    """How many facts came when."""

    bank_id: str
    period: str
    trunc: str
    time_field: str = "created_at"
    buckets: list[TimeseriesBucket]


class GraphDataResponse(BaseModel):
    """Facts and the links between them."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    table_rows: list[dict[str, Any]]
    total_units: int
    limit: int


@router.get("/stats", operation_id="get_agent_stats")
def get_stats(
    service: Serving,
    bank: ReadBank,
    refresh: Annotated[bool, Query(description="Nothing is cached: always fresh")] = False,
) -> BankStatsResponse:
    """Return counts of what the bank holds."""
    engine = service.engine
    stats = engine.banks.stats(bank)
    operations = Counter(operation.status.value for operation in engine.operations.list(bank))
    newest = engine.facts.list(bank, where=Filter(include_closed=True, include_expired=True), limit=1).facts
    breakdown = _links_by_type(engine, bank, stats)
    consolidation = engine.observations.status(bank)
    return BankStatsResponse(
        bank_id=bank,
        total_nodes=stats.current_facts,
        total_links=sum(stats.links_by_kind.values()),
        total_documents=stats.documents,
        nodes_by_fact_type=dict(stats.facts_by_type),
        links_by_link_type=dict(stats.links_by_kind),
        links_by_fact_type={kind: sum(counts.values()) for kind, counts in breakdown.items()},
        links_breakdown=breakdown,
        pending_operations=operations[OperationStatus.PENDING] + operations[OperationStatus.PROCESSING],
        failed_operations=operations[OperationStatus.FAILED],
        operations_by_status=dict(operations),
        last_memory_write_at=iso(newest[0].recorded_at) if newest else None,
        last_consolidated_at=iso(consolidation.last_at),
        pending_consolidation=consolidation.pending,
        failed_consolidation=len(consolidation.failed),
        total_observations=sum(count for _, count in engine.observations.scopes(bank)),
        total_entities=stats.entities,
        total_chunks=stats.chunks,
        closed_nodes=stats.facts - stats.current_facts,
    )


def _links_by_type(engine: Perdure, bank: str, stats: BankStats) -> dict[str, dict[str, int]]:
    """Fact type -> link kind -> how many links start at a fact of that type; read only where types are mixed."""
    types = [kind for kind, count in stats.facts_by_type.items() if count]
    if len(types) == 1 and stats.facts == stats.current_facts:
        return {types[0]: dict(stats.links_by_kind)} if stats.links_by_kind else {}
    type_of = {fact.id: fact.type.value for fact in Listing(invalidated=True).every(engine, bank)}
    counts: dict[str, Counter[str]] = {}
    for source, _, kind in dict.fromkeys(_edge(link) for link in _links(engine, bank, list(type_of))):
        if source in type_of:
            counts.setdefault(type_of[source], Counter())[kind] += 1
    return {kind: dict(counter) for kind, counter in counts.items()}


def _links(engine: Perdure, bank: str, fact_ids: Sequence[str]) -> Iterator[Link]:
    """Yield the links of these facts; one between two of them may come twice."""
    for start in range(0, len(fact_ids), FACTS_PER_READ):
        yield from engine.facts.links(bank, fact_ids[start : start + FACTS_PER_READ])


def _edge(link: Link) -> tuple[str, str, str]:
    return link.source, link.target, link.kind.value


@router.get("/stats/memories-timeseries", operation_id="get_memories_timeseries")
def timeseries(
    service: Serving, bank: ReadBank, period: Period = "7d", time_field: str = "created_at"
) -> MemoriesTimeseriesResponse:
    """How many facts came when; an unknown time_field means created_at."""
    field = time_field if time_field in ("mentioned_at", "occurred_start") else "created_at"
    length, trunc, step = _PERIODS[period]
    last = _floor(service.engine.clock().astimezone(UTC), trunc)
    starts = [last - step * back for back in range(int(length / step), -1, -1)]
    buckets = {start: TimeseriesBucket(time=start.isoformat()) for start in starts}
    for fact in Listing().every(service.engine, bank):
        moment = fact.recorded_at if field == "created_at" else getattr(fact, field) or fact.recorded_at
        bucket = buckets.get(_floor(moment.astimezone(UTC), trunc)) if moment is not None else None
        if bucket is not None:
            name = fact.type.value
            setattr(bucket, name, getattr(bucket, name) + 1)
    return MemoriesTimeseriesResponse(
        bank_id=bank, period=period, trunc=trunc, time_field=field, buckets=list(buckets.values())
    )


def _floor(moment: datetime, trunc: str) -> datetime:
    floored = moment.replace(second=0, microsecond=0)
    if trunc != "minute":
        floored = floored.replace(minute=0)
    return floored.replace(hour=0) if trunc == "day" else floored


@router.get("/graph", operation_id="get_graph")
def get_graph(
    service: Serving,
    bank: ReadBank,
    fact_type: Annotated[FactTypeName | None, Query(alias="type")] = None,
    limit: Limit = 1000,
    q: str | None = None,
    tags: Tags = None,
    tags_match: TagsMatch = "all_strict",
    document_id: str | None = None,
    chunk_id: str | None = None,
) -> GraphDataResponse:
    """Facts and the links between them."""
    listing = Listing(
        types=(fact_type,) if fact_type else (),
        text=q or "",
        tags=tuple(tags or ()),
        tags_match=tags_match,
        document_id=document_id,
        chunk_id=chunk_id,
    )
    facts, total = listing.page(service.engine, bank, 0, limit)
    shown = {fact.id: fact for fact in facts}
    edges = {
        _edge(link): {
            "id": "-".join(_edge(link)),
            "source": link.source,
            "target": link.target,
            "linkType": link.kind.value,
            "weight": link.weight,
        }
        for link in _links(service.engine, bank, list(shown))
        if link.source in shown and link.target in shown
    }
    return GraphDataResponse(
        nodes=[{"data": _node(fact)} for fact in facts],
        edges=[{"data": edge} for edge in edges.values()],
        table_rows=[_row(fact) for fact in facts],
        total_units=total,
        limit=limit,
    )


def _node(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "label": fact.text if len(fact.text) <= 60 else fact.text[:59] + "…",
        "text": fact.text,
        "type": fact.type.value,
        "date": iso(fact.dated),
        "context": fact.context,
        "entities": ", ".join(fact.entities),
        "color": _COLOURS[fact.type.value],
    }


def _row(fact: Fact) -> dict[str, Any]:
    return fields_of(fact, _ROW) | {
        "date": iso(fact.dated),
        "entities": ", ".join(fact.entities),
        "fact_type": fact.type.value,
        "created_at": iso(fact.recorded_at),
    }
