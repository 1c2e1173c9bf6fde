"""Bodies of banks, their profile, configuration and template."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from perdure.surfaces.rest.schemas.shared import Body, DispositionTraits


class CreateBankRequest(Body):
    """Make a bank or change what is given of it; the other fields of a bank's configuration may stand here too."""

    name: str | None = None
    disposition: DispositionTraits | None = None
    disposition_skepticism: int | None = Field(default=None, ge=1, le=5)
    disposition_literalism: int | None = Field(default=None, ge=1, le=5)
    disposition_empathy: int | None = Field(default=None, ge=1, le=5)
    mission: str | None = None
    background: str | None = Field(default=None, description="Older name of mission")
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
    inactive: list[str] = Field(default=[], description="Stored settings that have no effect on this server")


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


class BankListResponse(BaseModel):
    """A page of banks."""

    banks: list[BankListItem]
    total: int
    limit: int
    offset: int


class BankConfigUpdate(Body):
    """Overrides by name; a null takes one back."""

    updates: dict[str, Any]


class BankConfigResponse(BaseModel):
    """A bank's configuration, and what of it is its own."""

    bank_id: str
    config: dict[str, Any]
    overrides: dict[str, Any]
    inactive: list[str] = Field(default=[], description="Overrides that have no effect on this server")


class BankTemplateManifest(Body):
    """A bank's setup, to be made again elsewhere."""

    version: Literal["1"]
    bank: dict[str, Any] | None = None
    mental_models: list[dict[str, Any]] | None = None
    directives: list[dict[str, Any]] | None = None


class BankTemplateImportResponse(BaseModel):
    """What an import of a template did."""

    bank_id: str
    config_applied: bool
    mental_models_created: list[str] = []
    mental_models_updated: list[str] = []
    directives_created: list[str] = []
    directives_updated: list[str] = []
    operation_ids: list[str] = []
    dry_run: bool = False
