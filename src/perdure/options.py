"""Typed keyword options of the public methods, for signatures such as `**fields: Unpack[ItemFields]`.

Tests hold these in step with what they mirror: `Settings`, `Item`, `Fact` and `Perdure.recall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, TypedDict

from perdure.domain.fact import FactType, Tier
from perdure.domain.filter import Filter
from perdure.domain.mental_model import RefreshTrigger
from perdure.domain.recall import Budget, Precision
from perdure.domain.time import AsOf
from perdure.domain.webhook import WebhookHttp
from perdure.recall.options import Hints, Include, MinScores
from perdure.recall.recipe import Recipe


class ItemFields(TypedDict, total=False):
    """What may be said of everything in one retain; the fields of `Item`, in the forms that JSON has too."""

    document_id: str | None
    timestamp: datetime | str | None
    timeless: bool
    speaker: str | None
    role: str | None
    title: str | None
    context: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, str] | None
    entities: Sequence[str | tuple[str, str] | Mapping[str, str]] | None
    topic: str | None
    tier: Tier | str
    classification: int
    trust: int
    credibility: int
    relevance: float
    expires_at: datetime | str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    original_text: str | None
    observation_scopes: str | Sequence[Sequence[str]] | None


class FactFields(TypedDict, total=False):
    """What a person may change of a fact."""

    text: str
    type: FactType | str
    speaker: str
    context: str
    occurred_start: datetime | str | None
    occurred_end: datetime | str | None
    mentioned_at: datetime | str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    retired_at: datetime | str | None
    subject: str | None
    relation: str | None
    object: str | None
    tags: Sequence[str]
    metadata: Mapping[str, str]
    topic: str | None
    tier: Tier | str
    classification: int
    trust: int
    credibility: int
    relevance: float
    emotion: float
    emotion_tags: Sequence[str]
    confidence: float | None
    expires_at: datetime | str | None
    language: str
    original_text: str | None
    flags: Sequence[str]


class DirectiveFields(TypedDict, total=False):
    """What may be changed of a directive."""

    name: str
    content: str
    priority: int
    is_active: bool
    tags: Sequence[str]


class WebhookOptions(TypedDict, total=False):
    """What may be set of a webhook beside its address."""

    secret: str | None
    event_types: Sequence[str]
    enabled: bool
    http: WebhookHttp


class WebhookFields(WebhookOptions, total=False):
    """What may be changed of a webhook."""

    url: str


class MentalModelFields(TypedDict, total=False):
    """What may be changed of a mental model; its content is written by refreshes alone."""

    name: str
    source_query: str
    max_tokens: int
    tags: Sequence[str]
    trigger: RefreshTrigger | Mapping[str, object]


class KnowledgeNodeFields(TypedDict, total=False):
    """What may be changed of a node of the knowledge base; all but name and parent is of pages alone."""

    name: str
    parent_id: str | None
    source_query: str
    max_tokens: int
    tags: Sequence[str]
    trigger: Mapping[str, object]


class RecallOptions(TypedDict, total=False):
    """The keywords of `Perdure.recall`, for the methods that recall on the way."""

    budget: Budget | str
    max_tokens: int
    types: Sequence[str] | None
    tags: Sequence[str] | None
    as_of: AsOf | datetime | None
    limit: int | None
    recipe: str | Recipe | None
    explain: bool
    where: Filter | None
    include: Include | None
    hints: Hints | None
    min_scores: MinScores | None
    asked_at: datetime | None
    track: bool
    channel_timeout: float | None
    asker: str | None
    precision: Precision | str


class SettingOptions(TypedDict, total=False):
    """Settings by name, as `Perdure.open` takes them beside the database and the components."""

    notes_folder: Path | str | None
    synchronous: Literal["normal", "full"]
    busy_timeout_ms: int
    index_memory_mb: int
    consistency: str
    database_connections: int
    database_timeout: float
    database_patience: float
    database_prepared: bool
    large_bank_facts: int
    encrypt_content: bool
    late: bool
    tagger: Literal["auto", "spacy", "rules"]
    models_folder: Path | str | None
    allow_download: bool
    threads: int
    embedding_url: str
    embedding_model: str
    embedding_dimensions: int
    embedding_protocol: Literal["openai", "ollama"]
    embedding_key: str
    rerank_url: str
    rerank_model: str
    rerank_protocol: Literal["cohere", "tei"]
    rerank_key: str
    llm_retain: str
    llm_consolidation: str
    llm_reflect: str
    llm_fallbacks: str
    llm_url: str
    llm_key: str
    llm_window: int
    llm_reasoning: Literal["", "off", "minimal", "low", "medium", "high"]
    llm_timeout: float
    llm_calls_a_minute: int | None
    llm_tokens_a_minute: int | None
    llm_calls_a_day: int | None
    llm_tokens_a_day: int | None
    llm_price_a_day: float | None
    llm_log_texts: bool
    llm_log_days: int
    llm_reflect_seconds: float
    llm_unsupported: Literal["remove", "mark"]
    provider_timeout: float
    recipe: str
    budget_function: Literal["fixed", "adaptive"]
    budget_low: int
    budget_mid: int
    budget_high: int
    adaptive_low: float
    adaptive_mid: float
    adaptive_high: float
    budget_min: int
    budget_max: int
    rerank_pool: int | None
    channel_timeout: float
    similarity_floor: float
    decay_days: float
    decay_floor: float
    decay_emotion: float
    refine_after: float | None
    consolidate_after: float | None
    assistant_folder: str
    assistant_bank: str
    assistant_user: str
    assistant_idle_minutes: float
    webhook_allow_private: bool
    host: str
    port: int
    require_keys: bool
    max_concurrent_recalls: int
    max_concurrent_retains: int
    max_wait: float
    max_request_bytes: int
    request_timeout: float
    receive_timeout: float
    max_connections: int
    nodes: str
    node: str
    log_level: Literal["debug", "info", "warning", "error"]
    telemetry_content: bool
