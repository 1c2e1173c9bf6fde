"""Bodies of listings: memories, entities, documents, chunks, tags, graphs and counts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from perdure.surfaces.rest.schemas.recall import EntityObservation
from perdure.surfaces.rest.schemas.shared import Body


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
    state: Literal["valid", "invalidated"]
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
    retired_at: str | None
    superseded_by: str | None
    previous_id: str | None = Field(default=None, description="The fact that this one restates")
    entities: list[str]
    entity_ids: list[str]
    document_id: str | None
    chunk_id: str | None
    tags: list[str]
    metadata: dict[str, str]
    state: Literal["valid", "invalidated"]
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


class ListMemoryUnitsResponse(BaseModel):
    """A page of facts."""

    items: list[MemoryUnit]
    total: int
    limit: int
    offset: int


class UpdateMemoryRequest(Body):
    """Changes to a fact; an empty text clears a field that may be empty."""

    text: str | None = Field(default=None, min_length=1)
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    fact_type: Literal["world", "experience"] | None = None
    entities: list[str] | None = None
    resolve_entities: bool = True
    state: Literal["valid", "invalidated"] | None = None
    reason: str | None = None
    tags: list[str] | None = Field(default=None, description="Perdure")
    metadata: dict[str, str] | None = Field(default=None, description="Perdure")
    valid_from: str | None = Field(default=None, description="Perdure")
    valid_to: str | None = Field(default=None, description="Perdure")


class EntityListItem(BaseModel):
    """An entity in a listing."""

    id: str
    canonical_name: str
    mention_count: int
    first_seen: str | None = None
    last_seen: str | None = None
    metadata: dict[str, Any] | None = None


class EntityListResponse(BaseModel):
    """A page of entities, most mentioned first."""

    items: list[EntityListItem]
    total: int
    limit: int
    offset: int


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


class GraphDataResponse(BaseModel):
    """Facts and the links between them."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    table_rows: list[dict[str, Any]]
    total_units: int
    limit: int


class DocumentListItem(BaseModel):
    """A document in a listing."""

    id: str
    bank_id: str
    content_hash: str
    created_at: str
    updated_at: str
    text_length: int
    memory_unit_count: int
    tags: list[str]
    document_metadata: dict[str, Any]
    retain_params: dict[str, Any]


class ListDocumentsResponse(BaseModel):
    """A page of documents, newest first."""

    items: list[DocumentListItem]
    total: int
    limit: int
    offset: int


class DocumentResponse(BaseModel):
    """A document with its text."""

    id: str
    bank_id: str
    original_text: str | None
    content_hash: str | None
    created_at: str
    updated_at: str
    memory_unit_count: int
    nodes_by_fact_type: dict[str, int] | None = None
    tags: list[str] = []
    document_metadata: dict[str, Any] | None = None
    retain_params: dict[str, Any] | None = None
    observation_scopes: str | list[list[str]] | None = None


class UpdateDocumentRequest(Body):
    """Other tags."""

    tags: list[str] | None = None


class UpdateDocumentResponse(BaseModel):
    """Done."""

    success: bool = True


class DeleteDocumentResponse(BaseModel):
    """What went."""

    success: bool
    message: str
    document_id: str
    memory_units_deleted: int


class ChunkResponse(BaseModel):
    """A chunk."""

    chunk_id: str
    document_id: str
    bank_id: str
    chunk_index: int
    chunk_text: str
    created_at: str


class ListChunksResponse(BaseModel):
    """A page of chunks, in order."""

    items: list[ChunkResponse]
    total: int
    limit: int
    offset: int


class TagItem(BaseModel):
    """A tag and how many facts carry it."""

    tag: str
    count: int


class ListTagsResponse(BaseModel):
    """A page of tags, most used first."""

    items: list[TagItem]
    total: int
    limit: int
    offset: int


class BankStatsResponse(BaseModel):
    """Counts of what a bank holds."""

    bank_id: str
    total_nodes: int
    total_links: int
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int]
    links_by_fact_type: dict[str, int]
    links_breakdown: dict[str, dict[str, int]]
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int] = {}
    last_consolidated_at: str | None = None
    last_memory_write_at: str | None = None
    pending_consolidation: int = 0
    failed_consolidation: int = 0
    total_observations: int = 0
    total_entities: int = 0
    total_chunks: int = 0
    closed_nodes: int = 0


class TimeseriesBucket(BaseModel):
    """Facts of a stretch of time."""

    time: str
    world: int = 0
    experience: int = 0
    observation: int = 0
    opinion: int = 0


class MemoriesTimeseriesResponse(BaseModel):
    """How many facts came when."""

    bank_id: str
    period: str
    trunc: str
    time_field: str = "created_at"
    buckets: list[TimeseriesBucket]
