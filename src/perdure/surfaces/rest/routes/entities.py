"""Entities and which of them go together."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import combinations
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.engine import Perdure
from perdure.errors import NotFound
from perdure.surfaces.rest.auth import ReadBank
from perdure.surfaces.rest.browsing import Wanted, every_fact
from perdure.surfaces.rest.present import entity_item, iso
from perdure.surfaces.rest.schemas.browse import (
    EntityDetailResponse,
    EntityGraphResponse,
    EntityListResponse,
)
from perdure.surfaces.rest.schemas.recall import EntityObservation
from perdure.surfaces.rest.schemas.shared import ERRORS, Limit, Offset
from perdure.surfaces.rest.service import Serving, StrictClients, reply

router = APIRouter(prefix="/v1/default/banks/{bank_id}/entities", tags=["Entities"], responses=ERRORS)
OBSERVATIONS = 50
MOST_TOGETHER = 30
"""A fact that mentions more than these says little about any two of them."""


@router.get("", operation_id="list_entities", response_model=EntityListResponse, dependencies=[StrictClients])
async def list_entities(service: Serving, bank: ReadBank, limit: Limit = 100, offset: Offset = 0) -> Response:
    """A page of entities, most mentioned first."""
    every = await service.workers.run(service.engine.entities, bank)
    page = [entity_item(entity) for entity in every[offset : offset + limit]]
    return reply(EntityListResponse(items=page, total=len(every), limit=limit, offset=offset))


@router.get(
    "/graph",
    operation_id="get_entity_graph",
    response_model=EntityGraphResponse,
    dependencies=[StrictClients],
)
async def entity_graph(
    service: Serving,
    bank: ReadBank,
    limit: Limit = 1000,
    min_count: Annotated[int, Query(description="Fewest facts that mention both")] = 1,
) -> Response:
    """Entities joined by the facts that mention both."""
    return reply(await service.workers.run(_graph, service.engine, bank, limit, min_count))


def _graph(engine: Perdure, bank: str, limit: int, min_count: int) -> EntityGraphResponse:
    together: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], datetime] = {}
    for fact in every_fact(engine, bank, Wanted()):
        ids = sorted(set(fact.entity_ids))
        for pair in combinations(ids, 2) if len(ids) <= MOST_TOGETHER else ():
            together[pair] += 1
            if fact.dated is not None and fact.dated > last.get(
                pair, fact.dated.min.replace(tzinfo=fact.dated.tzinfo)
            ):
                last[pair] = fact.dated
    pairs = sorted(((n, pair) for pair, n in together.items() if n >= min_count), key=lambda p: (-p[0], p[1]))
    shown = pairs[:limit]
    entities = {entity.id: entity for entity in engine.entities(bank)}
    nodes = {one: entities[one] for _, pair in shown for one in pair if one in entities}
    return EntityGraphResponse(
        nodes=[
            {
                "data": {
                    "id": e.id,
                    "label": e.name,
                    "mentionCount": e.mentions,
                    "type": e.type,
                    "color": "#42a5f5",
                }
            }
            for e in nodes.values()
        ],
        edges=[
            {
                "data": {
                    "id": f"{one}-{other}",
                    "source": one,
                    "target": other,
                    "linkType": "cooccurrence",
                    "weight": count,
                    "lastCooccurred": iso(last.get((one, other))),
                    "color": "#ffd700",
                    "lineStyle": "solid",
                }
            }
            for count, (one, other) in shown
            if one in nodes and other in nodes
        ],
        total_entities=len(entities),
        total_edges=len(pairs),
        limit=limit,
    )


@router.get("/{entity_id}", operation_id="get_entity", response_model=EntityDetailResponse)
async def get_entity(service: Serving, bank: ReadBank, entity_id: str) -> Response:
    """An entity with the observations about it."""
    return reply(await service.workers.run(_entity, service.engine, bank, entity_id))


def _entity(engine: Perdure, bank: str, entity_id: str) -> EntityDetailResponse:
    found = engine.entities(bank, [entity_id])
    if not found:
        raise NotFound("entity", entity_id)
    about = engine.facts(bank, types=["observation"], entity_id=entity_id, limit=OBSERVATIONS).facts
    observations = [EntityObservation(text=fact.text, mentioned_at=iso(fact.mentioned_at)) for fact in about]
    return EntityDetailResponse(**entity_item(found[0]).model_dump(), observations=observations)
