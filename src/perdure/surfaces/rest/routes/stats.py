"""Counts, and the graph of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.domain.fact import Fact
from perdure.domain.operation import OperationStatus
from perdure.engine import Perdure
from perdure.ports.store import BankStats
from perdure.surfaces.rest.auth import ReadBank
from perdure.surfaces.rest.browsing import Wanted, every_fact, list_facts
from perdure.surfaces.rest.present import iso
from perdure.surfaces.rest.schemas.browse import (
    BankStatsResponse,
    GraphDataResponse,
    MemoriesTimeseriesResponse,
    TimeseriesBucket,
)
from perdure.surfaces.rest.schemas.shared import ERRORS, FactTypeName, Limit, Tags, TagsMatch
from perdure.surfaces.rest.service import Serving, StrictClients, reply

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}", tags=["Statistics"], responses=ERRORS, dependencies=[StrictClients]
)
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


@router.get("/stats", operation_id="get_agent_stats", response_model=BankStatsResponse)
async def get_stats(
    service: Serving,
    bank: ReadBank,
    refresh: Annotated[bool, Query(description="Nothing is cached: always fresh")] = False,
) -> Response:
    """Counts of what the bank holds."""
    return reply(await service.workers.run(_stats, service.engine, bank))


def _stats(engine: Perdure, bank: str) -> BankStatsResponse:
    stats = engine.stats(bank)
    operations = Counter(operation.status.value for operation in engine.operations(bank))
    newest = engine.facts(bank, include_closed=True, limit=1).facts
    breakdown = _links_by_type(engine, bank, stats)
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
        total_observations=stats.facts_by_type.get("observation", 0),
        total_entities=stats.entities,
        total_chunks=stats.chunks,
        closed_nodes=stats.facts - stats.current_facts,
    )


def _links_by_type(engine: Perdure, bank: str, stats: BankStats) -> dict[str, dict[str, int]]:
    """Fact type -> link kind -> how many links start at a fact of that type; read only where types are mixed."""
    there = [kind for kind, count in stats.facts_by_type.items() if count]
    if len(there) == 1 and stats.facts == stats.current_facts:
        return {there[0]: dict(stats.links_by_kind)} if stats.links_by_kind else {}
    kinds = {fact.id: fact.type.value for fact in every_fact(engine, bank, Wanted(invalidated=True))}
    counts: dict[str, Counter[str]] = {}
    ids = list(kinds)
    seen: set[tuple[str, str, str]] = set()
    for start in range(0, len(ids), 500):
        for link in engine.links(bank, ids[start : start + 500]):
            edge = (link.source, link.target, link.kind.value)
            if edge not in seen and link.source in kinds:
                seen.add(edge)
                counts.setdefault(kinds[link.source], Counter())[link.kind.value] += 1
    return {kind: dict(counter) for kind, counter in counts.items()}


@router.get(
    "/stats/memories-timeseries",
    operation_id="get_memories_timeseries",
    response_model=MemoriesTimeseriesResponse,
)
async def timeseries(
    service: Serving, bank: ReadBank, period: Period = "7d", time_field: str = "created_at"
) -> Response:
    """How many facts came when; an unknown time_field means created_at."""
    field = time_field if time_field in ("mentioned_at", "occurred_start") else "created_at"
    return reply(await service.workers.run(_timeseries, service.engine, bank, period, field))


def _timeseries(engine: Perdure, bank: str, period: str, field: str) -> MemoriesTimeseriesResponse:
    length, trunc, step = _PERIODS[period]
    last = _floor(engine.clock().astimezone(UTC), trunc)
    count = int(length / step)
    starts = [last - step * back for back in range(count, -1, -1)]
    buckets = {start: TimeseriesBucket(time=start.isoformat()) for start in starts}
    for fact in every_fact(engine, bank, Wanted()):
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


@router.get("/graph", operation_id="get_graph", response_model=GraphDataResponse)
async def get_graph(
    service: Serving,
    bank: ReadBank,
    fact_type: Annotated[FactTypeName | None, Query(alias="type")] = None,
    limit: Limit = 1000,
    q: str | None = None,
    tags: Tags = None,
    tags_match: TagsMatch = "all_strict",
    document_id: str | None = None,
    chunk_id: str | None = None,
) -> Response:
    """Facts and the links between them."""
    wanted = Wanted(
        types=(fact_type,) if fact_type else (),
        text=q or "",
        tags=tuple(tags or ()),
        tags_match=tags_match,
        document_id=document_id,
        chunk_id=chunk_id,
    )
    return reply(await service.workers.run(_graph, service.engine, bank, wanted, limit))


def _graph(engine: Perdure, bank: str, wanted: Wanted, limit: int) -> GraphDataResponse:
    facts, total = list_facts(engine, bank, wanted, 0, limit)
    shown = {fact.id for fact in facts}
    links = [
        link
        for start in range(0, len(facts), 500)
        for link in engine.links(bank, [fact.id for fact in facts[start : start + 500]])
        if link.source in shown and link.target in shown
    ]
    edges = {
        (link.source, link.target, link.kind.value): {
            "data": {
                "id": f"{link.source}-{link.target}-{link.kind.value}",
                "source": link.source,
                "target": link.target,
                "linkType": link.kind.value,
                "weight": link.weight,
            }
        }
        for link in links
    }
    return GraphDataResponse(
        nodes=[_node(fact) for fact in facts],
        edges=list(edges.values()),
        table_rows=_rows(facts),
        total_units=total,
        limit=limit,
    )


def _node(fact: Fact) -> dict[str, object]:
    return {
        "data": {
            "id": fact.id,
            "label": fact.text if len(fact.text) <= 60 else fact.text[:59] + "…",
            "text": fact.text,
            "type": fact.type.value,
            "date": iso(fact.dated),
            "context": fact.context,
            "entities": ", ".join(fact.entities),
            "color": _COLOURS[fact.type.value],
        }
    }


def _rows(facts: Iterable[Fact]) -> list[dict[str, object]]:
    return [
        {
            "id": fact.id,
            "text": fact.text,
            "context": fact.context,
            "occurred_start": iso(fact.occurred_start),
            "occurred_end": iso(fact.occurred_end),
            "mentioned_at": iso(fact.mentioned_at),
            "date": iso(fact.dated),
            "entities": ", ".join(fact.entities),
            "document_id": fact.document_id,
            "chunk_id": fact.chunk_id,
            "fact_type": fact.type.value,
            "tags": sorted(fact.tags),
            "created_at": iso(fact.recorded_at),
            "proof_count": fact.proof_count,
        }
        for fact in facts
    ]
