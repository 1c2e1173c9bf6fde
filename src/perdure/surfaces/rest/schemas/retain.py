"""Bodies of retain and of background operations."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from perdure.surfaces.rest.schemas.shared import Body, TokenUsage

OperationStatusName = Literal["pending", "processing", "completed", "failed", "cancelled", "not_found"]


class EntityInput(Body):
    """An entity that the content is about."""

    text: str = Field(min_length=1)
    type: str | None = None


class TextBlock(Body):
    """A part of a message's content."""

    type: Literal["text"]
    text: str


class MemoryItem(Body):
    """One text to remember."""

    content: str | list[TextBlock]
    timestamp: datetime | Literal["unset"] | str | None = Field(
        default=None,
        description="When it was said, ISO 8601; `unset` for timeless text; the present by default",
    )
    context: str | None = None
    metadata: dict[str, str] | None = None
    document_id: str | None = Field(default=None, min_length=1)
    entities: list[EntityInput] | None = None
    resolve_entities: bool = True
    tags: list[str] | None = None
    observation_scopes: (
        Literal["per_tag", "combined", "all_combinations", "shared"] | list[list[str]] | None
    ) = None
    strategy: str | None = None
    update_mode: Literal["replace", "append"] | None = None

    speaker: str | None = Field(default=None, description="Perdure: who said it")
    role: str | None = Field(default=None, description="Perdure: user, assistant, ...")
    title: str | None = Field(default=None, description="Perdure: title of the document")
    topic: str | None = Field(default=None, description="Perdure: what it is about")
    tier: Literal["core", "general"] | None = Field(default=None, description="Perdure: how central it is")
    classification: int | None = Field(default=None, ge=0, le=3, description="Perdure: 0 public to 3 secret")
    trust: int | None = Field(default=None, ge=0, le=3, description="Perdure")
    credibility: int | None = Field(default=None, ge=1, le=6, description="Perdure")
    expires_at: datetime | None = Field(default=None, description="Perdure: no longer recalled from then on")
    valid_from: datetime | None = Field(default=None, description="Perdure: true from then on")
    valid_to: datetime | None = Field(default=None, description="Perdure: true until then")


class RetainRequest(Body):
    """Texts to remember."""

    items: list[MemoryItem]
    later: bool = Field(
        default=False, validation_alias="async", description="Return at once and carry on in the background"
    )
    document_tags: list[str] | None = None
    operation_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=128,
        pattern="^[^/]*$",
        description="Identity of background work: sent again, it is the same; without slashes, as paths name it",
    )


class RetainResponse(BaseModel):
    """What was taken in."""

    success: bool
    bank_id: str
    items_count: int
    later: bool = Field(serialization_alias="async")
    operation_id: str | None = None
    operation_ids: list[str] | None = None
    usage: TokenUsage | None = None
    document_ids: list[str] | None = Field(
        default=None, description="Perdure: the documents that were written"
    )
    fact_ids: list[str] | None = Field(default=None, description="Perdure: the facts that are new")
    superseded: list[str] | None = Field(default=None, description="Perdure: facts that the new ones closed")
    warnings: list[str] = Field(default=[], description="Perdure: what was given and had no effect")


class FileRetainResponse(BaseModel):
    """One operation a file."""

    operation_ids: list[str]


class OperationProgress(BaseModel):
    """How far work is."""

    stage: str
    at: str
    processed: int | None = None
    total: int | None = None
    detail: dict[str, int] | None = None


class OperationResponse(BaseModel):
    """Background work in a listing."""

    id: str
    task_type: str
    operation_id: str
    operation_type: str
    items_count: int
    document_id: str | None = None
    filename: str | None = None
    mental_model_id: str | None = None
    details: dict[str, Any] | None = None
    created_at: str
    updated_at: str | None = None
    status: str
    error_message: str | None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None


class OperationsListResponse(BaseModel):
    """A page of background work, newest first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class OperationStatusResponse(BaseModel):
    """Background work."""

    operation_id: str
    status: OperationStatusName
    operation_type: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    completed_at: str | None = None
    error_message: str | None = None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None
    result_metadata: dict[str, Any] | None = None
    details: dict[str, Any] | None = None
    child_operations: list[dict[str, Any]] | None = None
    task_payload: dict[str, Any] | None = None


class OperationChangeResponse(BaseModel):
    """What happened to background work."""

    success: bool
    message: str
    operation_id: str


class SubmitResponse(BaseModel):
    """Background work that was taken in."""

    operation_id: str
    status: str = "pending"
