"""Banks: listing, making, changing, deleting; their profile and mission."""

from __future__ import annotations

from fastapi import Query
from pydantic import BaseModel, Field

from perdure import Perdure
from perdure.contrib.hindsight.aliases import ALIAS, delete_aliases
from perdure.contrib.hindsight.bodies import Body, DeleteResponse, Limit, Offset, fields_of, iso
from perdure.contrib.hindsight.config import TRAITS, apply_updates, inactive
from perdure.domain.bank import Bank, Disposition
from perdure.domain.record import Record
from perdure.surfaces.plugins.rest import AdminBank, Known, ReadBank, Resource, Scope, Serving, WriteBank

router = Resource("Banks", "/v1/default")

_NOT_CONFIG = {"name", "disposition", "mission", "background", "reflect_mission"}


class DispositionTraits(BaseModel):
    """How a bank reasons."""

    skepticism: int = Field(ge=1, le=5)
    literalism: int = Field(ge=1, le=5)
    empathy: int = Field(ge=1, le=5)


class CreateBankRequest(Body):
    """Make a bank or change what is given of it; the other fields of a bank's configuration may stand here too."""

    name: str | None = None
    disposition: DispositionTraits | None = None
    disposition_skepticism: int | None = Field(None, ge=1, le=5)
    disposition_literalism: int | None = Field(None, ge=1, le=5)
    disposition_empathy: int | None = Field(None, ge=1, le=5)
    mission: str | None = None
    background: str | None = Field(None, description="Older name of mission")
    reflect_mission: str | None = None
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    enable_observations: bool | None = None
    observations_mission: str | None = None
    enable_text_search: bool | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None


class BankProfileResponse(BaseModel):
    """Who a bank is."""

    bank_id: str
    name: str
    disposition: DispositionTraits
    mission: str
    background: str | None = None
    inactive: list[str] = Field([], description="Stored settings that have no effect on this server")


class UpdateDispositionRequest(Body):
    """Other traits."""

    disposition: DispositionTraits


class AddBackgroundRequest(Body):
    """Text to add to the mission."""

    content: str
    update_disposition: bool = True


class BackgroundResponse(BaseModel):
    """The mission as it reads now."""

    mission: str
    background: str | None = None
    disposition: DispositionTraits | None = None


class BankListItem(BaseModel):
    """A bank in a listing."""

    bank_id: str
    name: str | None = None
    disposition: DispositionTraits
    mission: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    fact_count: int = 0
    last_document_at: str | None = None
    last_write_at: str | None = None
    display_alias: str | None = Field(None, description="The alias that the bank is shown under")
    matched_aliases: list[str] = Field(
        [], description="Aliases that matched the search, where the id and name did not"
    )


class BankListResponse(BaseModel):
    """A page of banks."""

    banks: list[BankListItem]
    total: int
    limit: int
    offset: int


@router.get("/banks", operation_id="list_banks")
def list_banks(
    service: Serving,
    caller: Known,
    q: str | None = Query(None, description="Part of an id or name"),
    limit: Limit = 100,
    offset: Offset = 0,
) -> BankListResponse:
    """Return the banks that the caller may read, by id."""
    part = (q or "").casefold()
    aliases: dict[str, list[Record]] = {}
    for record in service.engine.records.list(ALIAS):
        aliases.setdefault(str(record.body["bank"]), []).append(record)

    def matched(bank: Bank) -> list[str]:
        if part in bank.id.casefold() or part in bank.name.casefold():
            return []
        return [record.id for record in aliases.get(bank.id, ()) if part in record.id.casefold()]

    banks = [
        bank
        for bank in service.engine.banks.list()
        if caller.may(Scope.READ, bank.id)
        and (part in bank.id.casefold() or part in bank.name.casefold() or matched(bank))
    ]
    page = [_item(service.engine, bank) for bank in banks[offset : offset + limit]]
    for item, bank in zip(page, banks[offset : offset + limit], strict=True):
        shown = [record.id for record in aliases.get(bank.id, ()) if record.body["primary"]]
        item.display_alias = shown[0] if shown else None
        item.matched_aliases = matched(bank)
    return BankListResponse(banks=page, total=len(banks), limit=limit, offset=offset)


def _item(engine: Perdure, bank: Bank) -> BankListItem:
    newest = engine.facts.list(bank.id, limit=1).facts
    documents = engine.documents.list(bank.id)
    created = [document.created_at for document in documents if document.created_at]
    written = [document.updated_at for document in documents if document.updated_at]
    written += [fact.recorded_at for fact in newest if fact.recorded_at]
    return BankListItem(
        bank_id=bank.id,
        name=bank.name,
        disposition=_traits(bank.disposition),
        mission=bank.mission,
        created_at=iso(bank.created_at),
        updated_at=iso(bank.updated_at),
        fact_count=engine.banks.stats(bank.id).current_facts,
        last_document_at=iso(max(created, default=None)),
        last_write_at=iso(max(written, default=None)),
    )


@router.put("/banks/{bank_id}", operation_id="create_or_update_bank")
def create_or_update_bank(service: Serving, bank: WriteBank, body: CreateBankRequest) -> BankProfileResponse:
    """Make a bank, or change what is given of it."""
    return _change(service.engine, bank, body)


@router.patch("/banks/{bank_id}", operation_id="update_bank")
def update_bank(service: Serving, bank: WriteBank, body: CreateBankRequest) -> BankProfileResponse:
    """Change what is given of a bank, made if missing."""
    return _change(service.engine, bank, body)


def _change(engine: Perdure, bank: str, body: CreateBankRequest) -> BankProfileResponse:
    updates = body.model_dump(exclude_none=True, exclude=_NOT_CONFIG)
    if body.disposition is not None:
        for trait in TRAITS:
            updates.setdefault(f"disposition_{trait}", getattr(body.disposition, trait))
    mission = next((m for m in (body.reflect_mission, body.mission, body.background) if m is not None), None)
    if mission is not None:
        updates["reflect_mission"] = mission
    return _profile(engine, apply_updates(engine, bank, updates, name=body.name))


@router.delete("/banks/{bank_id}", operation_id="delete_bank")
def delete_bank(service: Serving, bank: AdminBank) -> DeleteResponse:
    """Erase a bank with all it holds."""
    if service.engine.banks.find(bank) is None:
        return DeleteResponse(success=True, message=f"Bank '{bank}' did not exist", deleted_count=0)
    count = service.forget(bank, everything=True).facts
    delete_aliases(service.engine, bank)
    return DeleteResponse(
        success=True, message=f"Bank '{bank}' and its {count} facts were erased", deleted_count=count
    )


@router.get("/banks/{bank_id}/profile", operation_id="get_bank_profile")
def get_profile(service: Serving, bank: ReadBank) -> BankProfileResponse:
    """Name, mission and disposition."""
    return _profile(service.engine, service.engine.banks.get(bank))


@router.put("/banks/{bank_id}/profile", operation_id="update_bank_disposition")
def update_disposition(
    service: Serving, bank: WriteBank, body: UpdateDispositionRequest
) -> BankProfileResponse:
    """Other traits."""
    updates = {f"disposition_{trait}": getattr(body.disposition, trait) for trait in TRAITS}
    return _profile(service.engine, apply_updates(service.engine, bank, updates))


@router.post("/banks/{bank_id}/background", operation_id="add_bank_background")
def add_background(service: Serving, bank: WriteBank, body: AddBackgroundRequest) -> BackgroundResponse:
    """Add to the mission."""
    current = service.engine.banks.find(bank)
    before = current.mission if current is not None else ""
    added = body.content.strip()
    mission = before if added in before else "\n".join(part for part in (before, added) if part)
    changed = apply_updates(service.engine, bank, {"reflect_mission": mission})
    return BackgroundResponse(
        mission=changed.mission, background=changed.mission, disposition=_traits(changed.disposition)
    )


def _profile(engine: Perdure, bank: Bank) -> BankProfileResponse:
    return BankProfileResponse(
        bank_id=bank.id,
        name=bank.name,
        disposition=_traits(bank.disposition),
        mission=bank.mission,
        background=bank.mission,
        inactive=inactive(engine, bank),
    )


def _traits(disposition: Disposition) -> DispositionTraits:
    return DispositionTraits(**fields_of(disposition, DispositionTraits.model_fields))
