"""Facts one by one: listing, reading, curating, clearing."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.domain.fact import Fact
from perdure.engine import Perdure
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.rest.auth import AdminBank, ReadBank, WriteBank
from perdure.surfaces.rest.bank_config import find_bank
from perdure.surfaces.rest.browsing import Wanted, list_facts
from perdure.surfaces.rest.present import INVALIDATED, instant, memory_detail, memory_unit
from perdure.surfaces.rest.schemas.browse import (
    ListMemoryUnitsResponse,
    MemoryDetail,
    UpdateMemoryRequest,
)
from perdure.surfaces.rest.schemas.shared import (
    ERRORS,
    DeleteResponse,
    FactTypeName,
    Limit,
    Offset,
    Tags,
    TagsMatch,
)
from perdure.surfaces.rest.service import Serving, StrictClients, reply

router = APIRouter(prefix="/v1/default/banks/{bank_id}", tags=["Memory"], responses=ERRORS)
TimeField = Literal["created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end"]
PAGE = 500


@router.get(
    "/memories/list",
    operation_id="list_memories",
    response_model=ListMemoryUnitsResponse,
    dependencies=[StrictClients],
)
async def list_memories(
    service: Serving,
    bank: ReadBank,
    fact_type: Annotated[FactTypeName | None, Query(alias="type")] = None,
    q: Annotated[str | None, Query(description="Part of the text")] = None,
    consolidation_state: str | None = None,
    state: Literal["valid", "invalidated"] | None = None,
    document_id: str | None = None,
    entity_id: str | None = None,
    tags: Tags = None,
    tags_match: TagsMatch = "any",
    time_field: Annotated[TimeField | None, Query(description="Axis of start_date and end_date")] = None,
    start_date: str | None = None,
    end_date: str | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """A page of facts, newest recorded first."""
    if consolidation_state is not None:
        raise InvalidInput("consolidation_state", "nothing, as consolidation is not built yet")
    wanted = Wanted(
        types=(fact_type,) if fact_type else (),
        text=q or "",
        invalidated=state == "invalidated",
        document_id=document_id,
        entity_id=entity_id,
        tags=tuple(tags or ()),
        tags_match=tags_match,
        time_field=time_field or ("created_at" if start_date or end_date else None),
        start=instant(start_date, "start_date"),
        end=instant(end_date, "end_date"),
    )
    facts, total = await service.workers.run(list_facts, service.engine, bank, wanted, offset, limit)
    items = [memory_unit(fact) for fact in facts]
    return reply(
        ListMemoryUnitsResponse.model_construct(items=items, total=total, limit=limit, offset=offset)
    )


@router.get("/memories/{memory_id}", operation_id="get_memory", response_model=MemoryDetail)
async def get_memory(service: Serving, bank: ReadBank, memory_id: str) -> Response:
    """One fact, closed or not."""
    return reply(memory_detail(await service.workers.run(service.engine.fact, bank, memory_id)))


@router.patch("/memories/{memory_id}", operation_id="update_memory", response_model=MemoryDetail)
async def update_memory(
    service: Serving, bank: WriteBank, memory_id: str, body: UpdateMemoryRequest
) -> Response:
    """Change a fact, declare it wrong, or take that back; a changed text makes a new fact and closes this one."""
    fact = await service.workers.run(_update, service.engine, bank, memory_id, body)
    return reply(memory_detail(fact, memory_id if fact.id != memory_id else None))


def _update(engine: Perdure, bank: str, fact_id: str, body: UpdateMemoryRequest) -> Fact:
    fact = engine.fact(bank, fact_id)
    changes = _changes(body)
    if body.state is not None:
        changes |= _state_changes(fact, body.state == "invalidated", body.reason, engine.clock())
    if not changes and body.entities is None:
        raise InvalidInput("body", "at least one field to change")
    if changes:
        fact = engine.update_fact(bank, fact_id, **changes)
    if body.entities is not None:
        fact = engine.set_fact_entities(bank, fact.id, body.entities, resolve=body.resolve_entities)
    return fact


def _changes(body: UpdateMemoryRequest) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if body.text is not None:
        changes["text"] = body.text
    if body.context is not None:
        changes["context"] = body.context
    if body.fact_type is not None:
        changes["type"] = body.fact_type
    if body.tags is not None:
        changes["tags"] = body.tags
    if body.metadata is not None:
        changes["metadata"] = body.metadata
    for name in ("occurred_start", "occurred_end", "mentioned_at", "valid_from", "valid_to"):
        value = getattr(body, name)
        if value is not None:
            changes[name] = instant(value, name) if value else None
    return changes


def _state_changes(fact: Fact, invalidate: bool, reason: str | None, now: datetime) -> dict[str, Any]:
    """A fact that another superseded stays so: only what somebody declared wrong can be taken back."""
    others = [flag for flag in fact.flags if not flag.startswith(INVALIDATED)]
    if invalidate:
        retired = fact.retired_at or now
        return {"retired_at": retired, "flags": [*others, INVALIDATED + (reason or "")]}
    if fact.superseded_by is not None:
        raise InvalidInput("state", "a fact that no newer one superseded", fact.superseded_by)
    return {"retired_at": None, "flags": others}


@router.get(
    "/memories/{memory_id}/history", operation_id="get_observation_history", response_model=list[MemoryDetail]
)
async def get_history(service: Serving, bank: ReadBank, memory_id: str) -> Response:
    """Every value that the fact's subject and relation ever had, oldest first; else the fact itself."""
    body = await service.workers.run(_history, service.engine, bank, memory_id)
    return Response(f"[{','.join(body)}]", media_type="application/json")


def _history(engine: Perdure, bank: str, fact_id: str) -> list[str]:
    fact = engine.fact(bank, fact_id)
    versions = [fact]
    if fact.subject and fact.relation:
        versions = engine.history(bank, fact.subject, fact.relation) or versions
    return [memory_detail(version).model_dump_json() for version in versions]


@router.delete("/memories", operation_id="clear_bank_memories", response_model=DeleteResponse)
async def clear_memories(
    service: Serving,
    bank: AdminBank,
    fact_type: Annotated[
        FactTypeName | None, Query(alias="type", description="Only facts of this type")
    ] = None,
) -> Response:
    """Erase a bank's facts and documents; its profile and configuration stay."""
    count = await service.workers.run(_clear, service.engine, bank, fact_type)
    return reply(DeleteResponse(success=True, message=f"{count} facts were erased", deleted_count=count))


def _clear(engine: Perdure, bank: str, fact_type: str | None) -> int:
    if fact_type is not None:
        return _clear_type(engine, bank, fact_type)
    found = find_bank(engine, bank)
    if found is None:
        return 0
    count = engine.forget(bank, everything=True)
    engine.configure_bank(
        bank,
        name=found.name,
        mission=found.mission,
        disposition=found.disposition,
        settings=found.settings,
    )
    return count


def _clear_type(engine: Perdure, bank: str, fact_type: str) -> int:
    count = 0
    while facts := engine.facts(bank, types=[fact_type], include_closed=True, limit=PAGE).facts:
        gone = sum(_forget(engine, bank, fact.id) for fact in facts)
        count += gone
        if not gone:
            raise NotFound("fact", facts[0].id)
    return count


def _forget(engine: Perdure, bank: str, fact_id: str) -> int:
    """Zero for a fact that went along with an earlier one."""
    return engine.forget(bank, fact_id=fact_id)
