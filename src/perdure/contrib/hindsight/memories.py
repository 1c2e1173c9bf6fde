"""Facts one by one: listing, reading, curating, clearing."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from perdure import Perdure
from perdure.contrib.hindsight.bodies import (
    Body,
    DeleteResponse,
    FactTypeName,
    Limit,
    Offset,
    Page,
    Tags,
    TagsMatch,
    fields_of,
    iso,
)
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.config import restore_profile
from perdure.contrib.hindsight.listing import ConsolidationState, Listing
from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter
from perdure.domain.plain import to_record
from perdure.domain.time import parse_utc
from perdure.domain.webhook import WEBHOOK
from perdure.errors import InvalidInput, NotFound
from perdure.extending import RESTATED_AS
from perdure.surfaces.plugins.rest import AdminBank, ReadBank, Resource, Service, Serving, WriteBank

router = Resource("Memory", "/v1/default/banks/{bank_id}")
TimeField = Literal["created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end"]
State = Literal["valid", "invalidated"]
FACTS_PER_ERASURE = 500
"""Flag of a fact that somebody declared wrong; the reason follows."""
_TIMES = ("occurred_start", "occurred_end", "mentioned_at", "valid_from", "valid_to")
_OTHERS = {"text": "text", "context": "context", "fact_type": "type", "tags": "tags", "metadata": "metadata"}
"""Fields of a change beside its times, and their names in the engine."""


class MemoryUnit(BaseModel):
    """A fact in a listing; `entities` is one line of names, as Hindsight gives it here."""

    id: str
    text: str
    context: str | None = None
    date: str | None = None
    type: str
    fact_type: str
    document_id: str | None = None
    chunk_id: str | None = None
    mentioned_at: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    entities: str
    proof_count: int
    tags: list[str]
    metadata: dict[str, Any]
    state: State
    invalidated_at: str | None = None
    invalidation_reason: str | None = None
    source_memory_ids: list[str] | None = None
    superseded_by: str | None = None


class MemoryDetail(BaseModel):
    """One fact with everything that is known of it."""

    id: str
    bank_id: str
    text: str
    context: str
    date: str | None
    type: str
    mentioned_at: str | None
    occurred_start: str | None
    occurred_end: str | None
    valid_from: str | None
    valid_to: str | None
    recorded_at: str | None
    end_recorded_at: str | None
    retired_at: str | None
    superseded_by: str | None
    previous_id: str | None = Field(None, description="The fact that this one restates")
    entities: list[str]
    entity_ids: list[str]
    document_id: str | None
    chunk_id: str | None
    tags: list[str]
    metadata: dict[str, str]
    state: State
    invalidation_reason: str | None
    proof_count: int
    source_memory_ids: list[str]
    subject: str | None
    relation: str | None
    object: str | None
    topic: str | None
    tier: str
    classification: int
    trust: int
    confidence: float | None
    emotion: float
    language: str
    speaker: str
    recall_count: int
    last_recalled_at: str | None


class ListMemoryUnitsResponse(Page[MemoryUnit]):
    """A page of facts."""


class ObservationChange(BaseModel):
    """What a new version of an observation replaced, and what it rests on."""

    previous_text: str
    previous_tags: list[str]
    changed_at: str | None = None
    new_source_memory_ids: list[str]
    source_facts: list[dict[str, Any]]


class UpdateMemoryRequest(Body):
    """Changes to a fact; an empty text clears a field that may be empty."""

    text: str | None = Field(None, min_length=1)
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    fact_type: Literal["world", "experience"] | None = None
    entities: list[str] | None = None
    resolve_entities: bool = True
    entity_resolution_mode: str | None = Field(None, description="`exact` is resolve_entities: false")
    state: State | None = None
    reason: str | None = None
    tags: list[str] | None = Field(None, description="Perdure")
    metadata: dict[str, str] | None = Field(None, description="Perdure")
    valid_from: str | None = Field(None, description="Perdure")
    valid_to: str | None = Field(None, description="Perdure")


@router.get("/memories/list", operation_id="list_memories", dependencies=[StrictClients])
def list_memories(
    service: Serving,
    bank: ReadBank,
    fact_type: Annotated[FactTypeName | None, Query(alias="type")] = None,
    q: Annotated[str | None, Query(description="Part of the text")] = None,
    consolidation_state: ConsolidationState | None = None,
    state: State | None = None,
    document_id: str | None = None,
    entity_id: str | None = None,
    tags: Tags = None,
    tags_match: TagsMatch = "any",
    time_field: Annotated[TimeField | None, Query(description="Axis of start_date and end_date")] = None,
    start_date: str | None = None,
    end_date: str | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> ListMemoryUnitsResponse:
    """Return a page of facts, newest recorded first."""
    listing = Listing(
        types=(fact_type,) if fact_type else (),
        text=q or "",
        invalidated=state == "invalidated",
        document_id=document_id,
        entity_id=entity_id,
        tags=tuple(tags or ()),
        tags_match=tags_match,
        time_field=time_field or ("created_at" if start_date or end_date else None),
        start=parse_utc(start_date, "start_date"),
        end=parse_utc(end_date, "end_date"),
        consolidation=consolidation_state,
    )
    facts, total = listing.page(service.engine, bank, offset, limit)
    items = [_unit(fact) for fact in facts]
    return ListMemoryUnitsResponse.model_construct(items=items, total=total, limit=limit, offset=offset)


def _unit(fact: Fact) -> MemoryUnit:
    fields = fields_of(fact, MemoryUnit.model_fields) | {
        "date": iso(fact.dated),
        "fact_type": fact.type.value,
        "entities": ", ".join(fact.entities),
        "state": _state(fact),
        "invalidated_at": iso(fact.retired_at),
        "invalidation_reason": fact.invalid_reason,
        "source_memory_ids": list(fact.source_fact_ids) or None,
    }
    return MemoryUnit.model_construct(**fields)


def _detail(fact: Fact, previous_id: str | None = None) -> MemoryDetail:
    fields = fields_of(fact, MemoryDetail.model_fields) | {
        "bank_id": fact.bank,
        "date": iso(fact.dated),
        "previous_id": previous_id,
        "state": _state(fact),
        "invalidation_reason": fact.invalid_reason,
        "source_memory_ids": list(fact.source_fact_ids),
    }
    return MemoryDetail.model_construct(**fields)


def _state(fact: Fact) -> State:
    """Hindsight's word for whether a fact is still believed."""
    return "valid" if fact.retired_at is None else "invalidated"


@router.get("/memories/{memory_id}", operation_id="get_memory")
def get_memory(service: Serving, bank: ReadBank, memory_id: str) -> MemoryDetail:
    """One fact, closed or not; of one whose text was changed what it says now, with `previous_id`."""
    fact = _present(service.engine, bank, memory_id)
    return _detail(fact, memory_id if fact.id != memory_id else None)


def _present(engine: Perdure, bank: str, memory_id: str) -> Fact:
    """Return the fact that an id means: a changed text makes a new fact, and clients go on with the id that they know."""
    fact = engine.facts.get(bank, memory_id)
    seen = {fact.id}
    while fact.retired_at is not None:
        names = [
            str(record.body["fact"]) for record in engine.records.list(RESTATED_AS, bank=bank, ids=[fact.id])
        ]
        later = engine.facts.get_many(bank, [name for name in names if name not in seen])
        if not later:
            return fact
        fact = later[0]
        seen.add(fact.id)
    return fact


@router.patch("/memories/{memory_id}", operation_id="update_memory")
def update_memory(
    service: Serving, bank: WriteBank, memory_id: str, body: UpdateMemoryRequest
) -> MemoryDetail:
    """Change a fact, declare it wrong, or take that back; a changed text makes a new fact and closes this one."""
    engine = service.engine
    fact = _present(engine, bank, memory_id)
    if fact.type is FactType.OBSERVATION:
        raise InvalidInput("memory_id", "a fact that was stated: observations follow from those", memory_id)
    resolves = body.resolve_entities and body.entity_resolution_mode != "exact"
    changes = _changes(body)
    if not changes and body.entities is None and body.state is None:
        raise InvalidInput("body", "at least one field to change")
    if changes:
        fact = engine.facts.update(bank, fact.id, **changes)
    if body.state == "invalidated":
        fact = engine.facts.invalidate(bank, fact.id, body.reason)
    elif body.state == "valid":
        fact = engine.facts.restore(bank, fact.id)
    if body.entities is not None:
        fact = engine.facts.set_entities(bank, fact.id, body.entities, resolve=resolves)
    return _detail(fact, memory_id if fact.id != memory_id else None)


def _changes(body: UpdateMemoryRequest) -> dict[str, Any]:
    changes: dict[str, Any] = {
        own: value for name, own in _OTHERS.items() if (value := getattr(body, name)) is not None
    }
    for name in _TIMES:
        value = getattr(body, name)
        if value is not None:
            changes[name] = parse_utc(value, name) if value else None
    return changes


@router.get("/memories/{memory_id}/history", operation_id="get_observation_history")
def get_history(
    service: Serving, bank: ReadBank, memory_id: str
) -> list[MemoryDetail] | list[ObservationChange]:
    """Of an observation its earlier versions; of other facts every value that subject and relation ever had; oldest first."""
    fact = service.engine.facts.get(bank, memory_id)
    if fact.type is FactType.OBSERVATION:
        return _observation_changes(service.engine, bank, fact)
    versions = [fact]
    if fact.subject and fact.relation:
        versions = service.engine.facts.history(bank, fact.subject, fact.relation) or versions
    return [_detail(version) for version in versions]


def _observation_changes(engine: Perdure, bank: str, fact: Fact) -> list[ObservationChange]:
    """Return what each version after the first changed; none for an observation that consolidation did not make."""
    try:
        versions = engine.observations.versions(bank, fact.id)
    except NotFound:
        return []
    changes = []
    for before, after in pairwise(versions):
        new = [source for source in after.source_fact_ids if source not in before.source_fact_ids]
        sources = engine.facts.get_many(bank, after.source_fact_ids)
        changes.append(
            ObservationChange(
                previous_text=before.text,
                previous_tags=sorted(before.tags),
                changed_at=iso(after.recorded_at),
                new_source_memory_ids=new,
                source_facts=[
                    {
                        "id": source.id,
                        "text": source.text,
                        "type": source.type.value,
                        "context": source.context,
                        "is_new": source.id in new,
                    }
                    for source in sources
                ],
            )
        )
    return changes


@router.delete("/memories", operation_id="clear_bank_memories")
def clear_memories(
    service: Serving,
    bank: AdminBank,
    fact_type: Annotated[
        FactTypeName | None, Query(alias="type", description="Only facts of this type")
    ] = None,
) -> DeleteResponse:
    """Erase a bank's facts and documents; its profile and configuration stay."""
    if fact_type is not None:
        count = _clear_type(service, bank, fact_type)
    elif (profile := service.engine.banks.find(bank)) is not None:
        webhooks = service.engine.webhooks.list(bank)
        count = service.forget(bank, everything=True).facts
        restore_profile(service.engine, profile)
        for webhook in webhooks:
            service.engine.records.save_own(to_record(WEBHOOK, webhook))
    else:
        count = 0
    return DeleteResponse(success=True, message=f"{count} facts were erased", deleted_count=count)


def _clear_type(service: Service, bank: str, fact_type: str) -> int:
    """Erase the facts of a type. A fact may go along with an earlier one: then forgetting it counts as none."""
    count = 0
    where = Filter(types=frozenset({FactType(fact_type)}), include_closed=True, include_expired=True)
    while facts := service.engine.facts.list(bank, where=where, limit=FACTS_PER_ERASURE).facts:
        gone = sum(service.forget(bank, fact_id=fact.id).facts for fact in facts)
        count += gone
        if not gone:
            raise NotFound("fact", facts[0].id)
    return count
