"""Entities and which of them go together."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import combinations
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel

from perdure.contrib.hindsight.bodies import Limit, Offset, Page, iso
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.listing import Listing
from perdure.domain.fact import Entity
from perdure.errors import NotFound
from perdure.surfaces.plugins.rest import ReadBank, Resource, Serving

router = Resource("Entities", "/v1/default/banks/{bank_id}/entities")
OBSERVATIONS = 50
MOST_TOGETHER = 30
"""A fact that mentions more than these says little about any two of them."""


class EntityObservation(BaseModel):
    """An observation about an entity."""

    text: str
    mentioned_at: str | None = None


class EntityListItem(BaseModel):
    """An entity in a listing."""

    id: str
    canonical_name: str
    mention_count: int
    first_seen: str | None = None
    last_seen: str | None = None
    metadata: dict[str, Any] | None = None


class EntityListResponse(Page[EntityListItem]):
    """A page of entities, most mentioned first."""


class EntityDetailResponse(EntityListItem):
    """An entity and what was observed about it."""

    observations: list[EntityObservation]


class EntityGraphResponse(BaseModel):
    """Which entities facts mention together."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    total_entities: int
    total_edges: int
    limit: int


@router.get("", operation_id="list_entities", dependencies=[StrictClients])
def list_entities(
    service: Serving, bank: ReadBank, limit: Limit = 100, offset: Offset = 0
) -> EntityListResponse:
    """Return a page of entities, most mentioned first."""
    return EntityListResponse.cut(service.engine.entities.list(bank), offset, limit, _item)


def _item(entity: Entity) -> EntityListItem:
    return EntityListItem(
        id=entity.id,
        canonical_name=entity.name,
        mention_count=entity.mentions,
        first_seen=iso(entity.first_seen),
        last_seen=iso(entity.last_seen),
        metadata={"type": entity.type, "aliases": list(entity.aliases)},
    )


@router.get("/graph", operation_id="get_entity_graph", dependencies=[StrictClients])
def entity_graph(
    service: Serving,
    bank: ReadBank,
    limit: Limit = 1000,
    min_count: Annotated[int, Query(description="Fewest facts that mention both")] = 1,
) -> EntityGraphResponse:
    """Entities joined by the facts that mention both."""
    together: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], datetime] = {}
    for fact in Listing().every(service.engine, bank):
        ids = sorted(set(fact.entity_ids))
        for pair in combinations(ids, 2) if len(ids) <= MOST_TOGETHER else ():
            together[pair] += 1
            if fact.dated is not None:
                last[pair] = max(fact.dated, last.get(pair, fact.dated))
    pairs = sorted(((n, pair) for pair, n in together.items() if n >= min_count), key=lambda p: (-p[0], p[1]))
    entities = {entity.id: entity for entity in service.engine.entities.list(bank)}
    shown = [(count, pair) for count, pair in pairs[:limit] if entities.keys() >= set(pair)]
    nodes = {one: entities[one] for _, pair in pairs[:limit] for one in pair if one in entities}
    return EntityGraphResponse(
        nodes=[{"data": _node(entity)} for entity in nodes.values()],
        edges=[{"data": _edge(pair, count, last.get(pair))} for count, pair in shown],
        total_entities=len(entities),
        total_edges=len(pairs),
        limit=limit,
    )


def _node(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "label": entity.name,
        "mentionCount": entity.mentions,
        "type": entity.type,
        "color": "#42a5f5",
    }


def _edge(pair: tuple[str, str], count: int, last: datetime | None) -> dict[str, Any]:
    one, other = pair
    return {
        "id": f"{one}-{other}",
        "source": one,
        "target": other,
        "linkType": "cooccurrence",
        "weight": count,
        "lastCooccurred": iso(last),
        "color": "#ffd700",
        "lineStyle": "solid",
    }


@router.get("/{entity_id}", operation_id="get_entity")
def get_entity(service: Serving, bank: ReadBank, entity_id: str) -> EntityDetailResponse:
    """Return an entity with the observations about it."""
    engine = service.engine
    entities = engine.entities.list(bank, [entity_id])
    if not entities:
        raise NotFound("entity", entity_id)
    name = entities[0].name
    about = [one for one in engine.observations.list(bank, name=name) if one.subject.key == entity_id]
    facts = engine.facts.get_many(bank, [one.id for one in about[:OBSERVATIONS]])
    observations = [EntityObservation(text=fact.text, mentioned_at=iso(fact.mentioned_at)) for fact in facts]
    return EntityDetailResponse(**_item(entities[0]).model_dump(), observations=observations)
