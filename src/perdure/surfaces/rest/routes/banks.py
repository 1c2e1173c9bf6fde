"""Banks: listing, making, changing, deleting; their profile and mission."""

from __future__ import annotations

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.domain.bank import Bank
from perdure.engine import Perdure
from perdure.surfaces.keys import Scope
from perdure.surfaces.rest.auth import AdminBank, Known, ReadBank, WriteBank
from perdure.surfaces.rest.bank_config import TRAITS, apply_updates, find_bank, inactive
from perdure.surfaces.rest.present import iso, traits
from perdure.surfaces.rest.schemas.bank import (
    AddBackgroundRequest,
    BackgroundResponse,
    BankListItem,
    BankListResponse,
    BankProfileResponse,
    CreateBankRequest,
    UpdateDispositionRequest,
)
from perdure.surfaces.rest.schemas.shared import ERRORS, DeleteResponse, Limit, Offset
from perdure.surfaces.rest.service import Serving, reply

router = APIRouter(prefix="/v1/default", tags=["Banks"], responses=ERRORS)

_NOT_CONFIG = {"name", "disposition", "mission", "background", "reflect_mission"}


@router.get("/banks", operation_id="list_banks", response_model=BankListResponse)
async def list_banks(
    service: Serving,
    caller: Known,
    q: str | None = Query(None, description="Part of an id or name"),
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """The banks that the caller may read, by id."""
    return reply(await service.workers.run(_list, service.engine, caller, q, limit, offset))


def _list(engine: Perdure, caller: Known, q: str | None, limit: int, offset: int) -> BankListResponse:
    wanted = (q or "").casefold()
    banks = [
        bank
        for bank in engine.banks()
        if caller.may(Scope.READ, bank.id)
        and (wanted in bank.id.casefold() or wanted in bank.name.casefold())
    ]
    page = [_item(engine, bank) for bank in banks[offset : offset + limit]]
    return BankListResponse(banks=page, total=len(banks), limit=limit, offset=offset)


def _item(engine: Perdure, bank: Bank) -> BankListItem:
    newest = engine.facts(bank.id, limit=1).facts
    documents = engine.documents(bank.id)
    written = [document.updated_at for document in documents if document.updated_at]
    made = [document.created_at for document in documents if document.created_at]
    written += [fact.recorded_at for fact in newest if fact.recorded_at]
    return BankListItem(
        bank_id=bank.id,
        name=bank.name,
        disposition=traits(bank.disposition),
        mission=bank.mission,
        created_at=iso(bank.created_at),
        updated_at=iso(bank.updated_at),
        fact_count=engine.stats(bank.id).current_facts,
        last_document_at=iso(max(made, default=None)),
        last_write_at=iso(max(written, default=None)),
    )


@router.put("/banks/{bank_id}", operation_id="create_or_update_bank", response_model=BankProfileResponse)
async def create_or_update_bank(service: Serving, bank: WriteBank, body: CreateBankRequest) -> Response:
    """Make a bank, or change what is given of it."""
    return reply(await service.workers.run(_change, service.engine, bank, body))


@router.patch("/banks/{bank_id}", operation_id="update_bank", response_model=BankProfileResponse)
async def update_bank(service: Serving, bank: WriteBank, body: CreateBankRequest) -> Response:
    """Change what is given of a bank, made if missing."""
    return reply(await service.workers.run(_change, service.engine, bank, body))


def _change(engine: Perdure, bank: str, body: CreateBankRequest) -> BankProfileResponse:
    updates = body.model_dump(exclude_none=True, exclude=_NOT_CONFIG)
    if body.disposition is not None:
        for trait in TRAITS:
            updates.setdefault(f"disposition_{trait}", getattr(body.disposition, trait))
    mission = next((m for m in (body.reflect_mission, body.mission, body.background) if m is not None), None)
    if mission is not None:
        updates["reflect_mission"] = mission
    return _profile(apply_updates(engine, bank, updates, name=body.name))


@router.delete("/banks/{bank_id}", operation_id="delete_bank", response_model=DeleteResponse)
async def delete_bank(service: Serving, bank: AdminBank) -> Response:
    """Erase a bank with all it holds."""
    return reply(await service.workers.run(_delete, service, bank))


def _delete(service: Serving, bank: str) -> DeleteResponse:
    if find_bank(service.engine, bank) is None:
        return DeleteResponse(success=True, message=f"Bank '{bank}' did not exist", deleted_count=0)
    count = service.engine.forget(bank, everything=True)
    service.spool.drop_bank(bank)
    return DeleteResponse(
        success=True, message=f"Bank '{bank}' and its {count} facts were erased", deleted_count=count
    )


@router.get("/banks/{bank_id}/profile", operation_id="get_bank_profile", response_model=BankProfileResponse)
async def get_profile(service: Serving, bank: ReadBank) -> Response:
    """Name, mission and disposition."""
    return reply(_profile(await service.workers.run(service.engine.bank, bank)))


@router.put(
    "/banks/{bank_id}/profile", operation_id="update_bank_disposition", response_model=BankProfileResponse
)
async def update_disposition(service: Serving, bank: WriteBank, body: UpdateDispositionRequest) -> Response:
    """Other traits."""
    updates = {f"disposition_{trait}": getattr(body.disposition, trait) for trait in TRAITS}
    return reply(_profile(await service.workers.run(apply_updates, service.engine, bank, updates)))


@router.post(
    "/banks/{bank_id}/background", operation_id="add_bank_background", response_model=BackgroundResponse
)
async def add_background(service: Serving, bank: WriteBank, body: AddBackgroundRequest) -> Response:
    """Add to the mission."""
    changed = await service.workers.run(_add_background, service.engine, bank, body.content)
    return reply(
        BackgroundResponse(
            mission=changed.mission, background=changed.mission, disposition=traits(changed.disposition)
        )
    )


def _add_background(engine: Perdure, bank: str, content: str) -> Bank:
    current = find_bank(engine, bank)
    before = current.mission if current is not None else ""
    added = content.strip()
    mission = before if added in before else "\n".join(part for part in (before, added) if part)
    return apply_updates(engine, bank, {"reflect_mission": mission})


def _profile(bank: Bank) -> BankProfileResponse:
    return BankProfileResponse(
        bank_id=bank.id,
        name=bank.name,
        disposition=traits(bank.disposition),
        mission=bank.mission,
        background=bank.mission,
        inactive=inactive(bank),
    )
