"""Consolidation and what is known of observations."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body as RequestBody
from pydantic import BaseModel, Field

from perdure import Perdure
from perdure.contrib.hindsight.bodies import Body, DeleteResponse
from perdure.contrib.hindsight.clients import StrictClients
from perdure.errors import NotFound
from perdure.surfaces.plugins.rest import AdminBank, ReadBank, Resource, Serving, WriteBank

router = Resource("Consolidation", "/v1/default/banks/{bank_id}")


class ConsolidationRequest(Body):
    """Which facts to look at; all that is new unless said otherwise."""

    observation_scopes: list[list[str]] | None = Field(
        None, description="Only facts that carry all tags of one of these lists"
    )


class ConsolidationResponse(BaseModel):
    """The work that was begun."""

    operation_id: str
    deduplicated: bool = Field(False, description="Whether a run that was under way is returned")


class RecoverConsolidationResponse(BaseModel):
    """How many facts will be looked at again."""

    retried_count: int


class ClearMemoryObservationsResponse(BaseModel):
    """How many observations went."""

    deleted_count: int


class ObservationScope(BaseModel):
    """Tags that observations carry together."""

    tags: list[str]
    count: int


class ObservationScopesResponse(BaseModel):
    """The scopes of a bank, most observations first."""

    scopes: list[ObservationScope]


@router.post("/consolidate", operation_id="trigger_consolidation")
def consolidate(
    service: Serving,
    bank: WriteBank,
    body: Annotated[ConsolidationRequest | None, RequestBody()] = None,
) -> ConsolidationResponse:
    """Form observations, questions and notes of what is new, in the background."""
    engine = service.engine
    scopes = body.observation_scopes if body is not None else None
    under_way = {
        operation.id
        for operation in engine.operations.list(bank)
        if operation.kind == "consolidation" and not operation.finished
    }
    operation = engine.consolidate(bank, observation_scopes=scopes or None)
    return ConsolidationResponse(operation_id=operation.id, deduplicated=operation.id in under_way)


@router.post("/consolidation/recover", operation_id="recover_consolidation")
def recover(service: Serving, bank: WriteBank) -> RecoverConsolidationResponse:
    """Have the facts that consolidation set aside looked at again by the next run, which this does not start."""
    _require_bank(service.engine, bank)
    return RecoverConsolidationResponse(retried_count=service.engine.observations.recover(bank))


@router.delete("/observations", operation_id="clear_observations")
def clear_observations(service: Serving, bank: AdminBank) -> DeleteResponse:
    """Delete all observations with their versions; the next run makes them anew."""
    count = service.engine.observations.delete(bank) if service.engine.banks.find(bank) is not None else 0
    return DeleteResponse(success=True, message=f"{count} observations were deleted", deleted_count=count)


@router.get("/observations/scopes", operation_id="list_observation_scopes", dependencies=[StrictClients])
def scopes(service: Serving, bank: ReadBank) -> ObservationScopesResponse:
    """Return the tags that observations carry together."""
    listed = service.engine.observations.scopes(bank)
    return ObservationScopesResponse(
        scopes=[ObservationScope(tags=list(tags), count=count) for tags, count in listed]
    )


@router.delete("/memories/{memory_id}/observations", operation_id="clear_memory_observations")
def clear_memory_observations(
    service: Serving, bank: WriteBank, memory_id: str
) -> ClearMemoryObservationsResponse:
    """Delete the observations that rest on a fact; where the bank consolidates by itself, a run makes them anew."""
    engine = service.engine
    count = engine.observations.delete(bank, fact_id=memory_id)
    if count and engine.banks.get(bank).settings.get("enable_auto_consolidation") is True:
        engine.consolidate(bank)
    return ClearMemoryObservationsResponse(deleted_count=count)


def _require_bank(engine: Perdure, bank: str) -> None:
    if engine.banks.find(bank) is None:
        raise NotFound("bank", bank)
