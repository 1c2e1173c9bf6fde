"""Recall and reflect."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from perdure.surfaces.rest.auth import ReadBank
from perdure.surfaces.rest.recalling import run_recall
from perdure.surfaces.rest.reflecting import run_reflect
from perdure.surfaces.rest.schemas.recall import (
    RecallRequest,
    RecallResponse,
    ReflectRequest,
    ReflectResponse,
)
from perdure.surfaces.rest.schemas.shared import ERRORS
from perdure.surfaces.rest.service import Serving, StrictClients, reply, reply_plain

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}", tags=["Memory"], responses=ERRORS, dependencies=[StrictClients]
)


@router.post("/memories/recall", operation_id="recall_memories", response_model=RecallResponse)
async def recall(service: Serving, bank: ReadBank, body: RecallRequest) -> Response:
    """What memory holds on a question, best first, within the token budget."""

    def work() -> Response:
        return reply_plain(run_recall(service.engine, bank, body))

    return await service.workers.recall(work)


@router.post("/reflect", operation_id="reflect", response_model=ReflectResponse)
async def reflect(service: Serving, bank: ReadBank, body: ReflectRequest) -> Response:
    """An answer whose every sentence cites a fact, or that memory holds none."""

    def work() -> Response:
        return reply(run_reflect(service.engine, bank, body))

    return await service.workers.recall(work)
