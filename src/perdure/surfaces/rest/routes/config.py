"""A bank's configuration, and its setup as a template."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.domain.bank import Bank
from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.surfaces.rest.auth import AdminBank, ReadBank
from perdure.surfaces.rest.bank_config import (
    apply_updates,
    find_bank,
    inactive,
    overrides,
    read_updates,
    reset,
    resolved,
)
from perdure.surfaces.rest.schemas.bank import (
    BankConfigResponse,
    BankConfigUpdate,
    BankTemplateImportResponse,
    BankTemplateManifest,
)
from perdure.surfaces.rest.schemas.shared import ERRORS
from perdure.surfaces.rest.service import Serving, StrictClients, reply

router = APIRouter(prefix="/v1", tags=["Configuration"], responses=ERRORS)
_CONFIG = "/default/banks/{bank_id}/config"


@router.get(
    _CONFIG, operation_id="get_bank_config", response_model=BankConfigResponse, dependencies=[StrictClients]
)
async def get_config(service: Serving, bank: ReadBank) -> Response:
    """The configuration in force, and what of it is the bank's own."""
    found = await service.workers.run(find_bank, service.engine, bank)
    return reply(_config(service.engine, found or Bank(id=bank)))


@router.patch(_CONFIG, operation_id="update_bank_config", response_model=BankConfigResponse)
async def update_config(service: Serving, bank: AdminBank, body: BankConfigUpdate) -> Response:
    """Set overrides by name; a null takes one back."""
    changed = await service.workers.run(apply_updates, service.engine, bank, body.updates)
    return reply(_config(service.engine, changed))


@router.delete(_CONFIG, operation_id="reset_bank_config", response_model=BankConfigResponse)
async def reset_config(service: Serving, bank: AdminBank) -> Response:
    """Take all overrides back."""
    return reply(_config(service.engine, await service.workers.run(reset, service.engine, bank)))


def _config(engine: Perdure, bank: Bank) -> BankConfigResponse:
    return BankConfigResponse(
        bank_id=bank.id, config=resolved(engine, bank), overrides=overrides(bank), inactive=inactive(bank)
    )


@router.get(
    "/default/banks/{bank_id}/export",
    operation_id="export_bank_template",
    response_model=BankTemplateManifest,
)
async def export_template(service: Serving, bank: ReadBank) -> Response:
    """The bank's setup, without its memories."""
    found = await service.workers.run(service.engine.bank, bank)
    return reply(BankTemplateManifest(version="1", bank=overrides(found)))


@router.post(
    "/default/banks/{bank_id}/import",
    operation_id="import_bank_template",
    response_model=BankTemplateImportResponse,
)
async def import_template(
    service: Serving,
    bank: AdminBank,
    manifest: BankTemplateManifest,
    dry_run: bool = Query(False, description="Check only"),
) -> Response:
    """Set a bank up as a template says; made if missing."""
    for name in ("mental_models", "directives"):
        if getattr(manifest, name):
            raise InvalidInput(name, "nothing, as they are not built yet")
    updates = {key: value for key, value in (manifest.bank or {}).items() if value is not None}
    read_updates(updates)
    if not dry_run:
        await service.workers.run(apply_updates, service.engine, bank, updates)
    return reply(
        BankTemplateImportResponse(
            bank_id=bank, config_applied=bool(updates) and not dry_run, dry_run=dry_run
        )
    )


@router.get("/bank-template-schema", operation_id="get_bank_template_schema", response_model=dict[str, Any])
async def template_schema() -> dict[str, Any]:
    """The JSON Schema of a template."""
    return BankTemplateManifest.model_json_schema()
