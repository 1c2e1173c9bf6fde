"""Typed keyword options of the public methods, for signatures such as `**fields: Unpack[ItemFields]`.

Tests hold these in step with what they mirror: `Settings`, `Item`, `Fact` and `Perdure.recall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from perdure.domain.fact import FactType, Tier
from perdure.domain.mental_model import RefreshTrigger
from perdure.domain.webhook import WebhookHttp


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
