"""Mental models: standing questions and the documents that answer them from memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import HTTPException, Query
from pydantic import BaseModel, Field

from perdure import Perdure
from perdure.contrib.hindsight.bodies import (
    Body,
    Deleted,
    ListLimit,
    Offset,
    Page,
    SubmitResponse,
    TagGroup,
    Tags,
    TagsMatch,
    TokenUsage,
    fields_of,
    iso,
    sparse,
)
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.reflect import ReflectFact
from perdure.domain.fact import Fact
from perdure.domain.mental_model import (
    DEFAULT_TOKENS,
    MAX_TOKENS,
    MIN_TOKENS,
    MentalModel,
    MentalModelVersion,
    RefreshPreview,
    RefreshTrigger,
    cited_ids,
)
from perdure.domain.plain import to_plain
from perdure.surfaces.plugins.rest import ReadBank, Resource, Serving, WriteBank, on_recall_worker

router = Resource("Mental models", "/v1/default/banks/{bank_id}/mental-models")
Detail = Annotated[
    Literal["metadata", "content", "full"],
    Query(
        description="metadata: name and tags; content: also the document and its settings; full: also its sources"
    ),
]
Size = Annotated[int, Field(ge=MIN_TOKENS, le=MAX_TOKENS)]


class MentalModelTrigger(Body):
    """When a model is refreshed by itself, how, and from which facts."""

    mode: Literal["full", "delta"] = "full"
    refresh_after_consolidation: bool = False
    refresh_cron: str | None = Field(None, description="Five fields, in UTC")
    min_refresh_interval_seconds: int | None = Field(None, ge=0)
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None
    tags_match: TagsMatch | None = None
    tag_groups: list[TagGroup] | None = None
    include_chunks: bool | None = None
    recall_max_tokens: int | None = Field(None, ge=0)
    recall_chunks_max_tokens: int | None = Field(None, ge=0)
    response_schema: dict[str, Any] | None = None
    keep_trace: bool = False

    def named(self) -> dict[str, Any]:
        """Return the fields that the request names."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class LooseTrigger(MentalModelTrigger):
    """The same as clients send it, who give null where they mean the default."""

    mode: Literal["full", "delta"] | None = None  # type: ignore[assignment]
    refresh_after_consolidation: bool | None = None  # type: ignore[assignment]
    exclude_mental_models: bool | None = None  # type: ignore[assignment]
    keep_trace: bool | None = None  # type: ignore[assignment]


class CreateMentalModelRequest(Body):
    """A standing question."""

    id: str | None = Field(None, description="Lower case letters, digits and hyphens")
    name: str
    source_query: str
    tags: list[str] | None = None
    max_tokens: Size | None = None
    trigger: LooseTrigger | None = None


class UpdateMentalModelRequest(Body):
    """Settings to change; the trigger is replaced whole."""

    name: str | None = None
    source_query: str | None = None
    max_tokens: Size | None = None
    tags: list[str] | None = None
    trigger: LooseTrigger | None = None


class RefreshMentalModelRequest(Body):
    """How to refresh this once."""

    mode: Literal["full"] | None = None


class CreateMentalModelResponse(BaseModel):
    """A model, and the operation that writes its document for the first time."""

    mental_model_id: str
    operation_id: str


class MentalModelResponse(BaseModel):
    """A model; how much of it depends on the detail that was asked for."""

    id: str
    bank_id: str
    name: str
    source_query: str | None = None
    content: str | None = None
    tags: list[str] = []
    max_tokens: int | None = None
    trigger: dict[str, Any] | None = None
    last_refreshed_at: str | None = None
    last_memory_seen_at: str | None = None
    last_refresh_failed_at: str | None = None
    last_full_refreshed_at: str | None = None
    created_at: str | None = None
    is_knowledge_page: bool | None = None
    reflect_response: dict[str, Any] | None = None
    is_stale: bool | None = None


class MentalModelListResponse(Page[MentalModelResponse]):
    """A page of models."""


class MentalModelDryRunRefreshResult(BaseModel):
    """What a refresh would do."""

    mental_model_id: str
    name: str
    requested_mode: str
    effective_mode: str
    mode_fallback_reason: str | None = None
    outcome: str
    would_persist: bool
    scope: dict[str, Any]
    window: dict[str, Any]
    facts: dict[str, dict[str, int]]
    based_on: dict[str, list[dict[str, Any]]]
    current_content: str
    candidate_content: str
    preview_content: str
    diff: str
    delta_operations: dict[str, Any] | None = None
    retraction: dict[str, Any] | None = None
    trace: dict[str, Any]
    usage: TokenUsage = TokenUsage()
    duration_ms: int = 0
    warnings: list[str] = []


@router.get(
    "",
    operation_id="list_mental_models",
    dependencies=[StrictClients],
    response_model=MentalModelListResponse,
)
def list_mental_models(
    service: Serving,
    bank: ReadBank,
    tags: Tags = None,
    tags_match: Literal["any", "all", "exact"] = "any",
    detail: Detail = "full",
    limit: ListLimit = 100,
    offset: Offset = 0,
    exclude_knowledge_pages: bool = False,
) -> Mapping[str, object]:
    """Models, newest refresh first; by tags those that carry them."""
    engine = service.engine
    every = engine.models.list(bank, tags=tags or (), tags_match=tags_match)
    pages = engine.knowledge.page_models(bank)
    if exclude_knowledge_pages:
        every = [model for model in every if model.id not in pages]
    page = every[offset : offset + limit]
    stale = engine.models.stale(bank, [model.id for model in page])
    views = [
        _view(engine, model, detail, is_page=model.id in pages, is_stale=model.id in stale) for model in page
    ]
    return {"items": views, "total": len(every), "limit": limit, "offset": offset}


@router.post("", operation_id="create_mental_model")
def create_mental_model(
    service: Serving, bank: WriteBank, body: CreateMentalModelRequest
) -> CreateMentalModelResponse:
    """Make a model, and its bank if missing; the operation writes its document."""
    model, operation = service.engine.models.create(
        bank,
        body.name,
        body.source_query,
        model_id=body.id,
        tags=body.tags or (),
        max_tokens=body.max_tokens or DEFAULT_TOKENS,
        trigger=None if body.trigger is None else body.trigger.named(),
    )
    return CreateMentalModelResponse(mental_model_id=model.id, operation_id=operation.id)


@router.get(
    "/{mental_model_id}",
    operation_id="get_mental_model",
    dependencies=[StrictClients],
    response_model=MentalModelResponse,
)
def get_mental_model(
    service: Serving, bank: ReadBank, mental_model_id: str, detail: Detail = "full"
) -> Mapping[str, object]:
    """One model; whether it is stale is said at full detail."""
    return _shown(service.engine, service.engine.models.get(bank, mental_model_id), detail)


@router.patch("/{mental_model_id}", operation_id="update_mental_model", response_model=MentalModelResponse)
def update_mental_model(
    service: Serving, bank: WriteBank, mental_model_id: str, body: UpdateMentalModelRequest
) -> Mapping[str, object]:
    """Change settings; a new question waits for the next refresh."""
    changes: dict[str, Any] = {
        name: getattr(body, name)
        for name in ("name", "source_query", "max_tokens", "tags")
        if getattr(body, name) is not None
    }
    if body.trigger is not None:
        changes["trigger"] = body.trigger.named()
    if not changes:
        raise HTTPException(404, "no field to change was sent")
    return _shown(service.engine, service.engine.models.update(bank, mental_model_id, **changes), "full")


@router.delete("/{mental_model_id}", operation_id="delete_mental_model")
def delete_mental_model(service: Serving, bank: WriteBank, mental_model_id: str) -> Deleted:
    """Delete a model, its history and the page that shows it."""
    service.engine.models.delete(bank, mental_model_id)
    return Deleted()


@router.get(
    "/{mental_model_id}/history", operation_id="get_mental_model_history", dependencies=[StrictClients],
    response_model=list[dict[str, Any]],
)  # fmt: skip
def get_history(service: Serving, bank: ReadBank, mental_model_id: str) -> Sequence[Mapping[str, object]]:
    """Return what a model said before, newest first."""
    engine = service.engine
    return [_version(engine, bank, one) for one in engine.models.history(bank, mental_model_id)]


@router.post("/{mental_model_id}/refresh", operation_id="refresh_mental_model")
def refresh_mental_model(
    service: Serving, bank: WriteBank, mental_model_id: str, body: RefreshMentalModelRequest | None = None
) -> SubmitResponse:
    """Write a model anew in the background; one refresh that waits already stands for both."""
    mode = None if body is None else body.mode
    operation = service.engine.models.refresh(bank, mental_model_id, mode=mode)
    return SubmitResponse(operation_id=operation.id, status="queued")


@router.post(
    "/{mental_model_id}/dry-run-refresh",
    operation_id="dry_run_refresh_mental_model",
    response_model=MentalModelDryRunRefreshResult,
)
@on_recall_worker
def dry_run_refresh(service: Serving, bank: ReadBank, mental_model_id: str) -> Mapping[str, object]:
    """Return what a refresh would do, without writing anything."""
    preview = service.engine.models.preview(bank, mental_model_id)
    return sparse(_dry_run(service.engine, preview))


@router.post(
    "/{mental_model_id}/clear", operation_id="clear_mental_model", response_model=MentalModelResponse
)
def clear_mental_model(service: Serving, bank: WriteBank, mental_model_id: str) -> Mapping[str, object]:
    """Empty a model's document, so that its next refresh is a full one."""
    return _shown(service.engine, service.engine.models.clear(bank, mental_model_id), "full")


# Views


def trigger_view(trigger: RefreshTrigger) -> dict[str, Any]:
    """Return a trigger with every field that says something."""
    return {name: value for name, value in to_plain(trigger).items() if value is not None}


def _shown(engine: Perdure, model: MentalModel, detail: str) -> dict[str, Any]:
    stale = bool(engine.models.stale(model.bank, [model.id])) if detail == "full" else None
    is_page = model.id in engine.knowledge.page_models(model.bank)
    return _view(engine, model, detail, is_page=is_page, is_stale=stale)


_OF_MODEL = (
    "id", "name", "tags", "last_refreshed_at", "last_memory_seen_at", "last_refresh_failed_at", "last_full_refreshed_at",
    "created_at",
)  # fmt: skip


def _view(
    engine: Perdure, model: MentalModel, detail: str, *, is_page: bool, is_stale: bool | None
) -> dict[str, Any]:
    shown = MentalModelResponse(
        **fields_of(model, _OF_MODEL), bank_id=model.bank, is_knowledge_page=is_page, is_stale=is_stale
    )
    if detail != "metadata":
        shown.source_query, shown.content = model.source_query, model.content
        shown.max_tokens = model.max_tokens
        shown.trigger = trigger_view(model.trigger)
    if detail == "full":
        shown.reflect_response = _reflect_response(engine, model)
    return sparse(shown)


def _reflect_response(engine: Perdure, model: MentalModel) -> dict[str, Any] | None:
    if not model.generated and model.refresh_skipped is None:
        return None
    response: dict[str, Any] = {
        "text": model.content,
        "based_on": _based_on(engine, model.bank, model.cited_fact_ids),
    }
    kept = (
        ("structured_output", model.structured_output),
        ("trace", model.trace),
        ("refresh_skipped", model.refresh_skipped),
    )
    return response | {name: value for name, value in kept if value is not None}


def _version(engine: Perdure, bank: str, version: MentalModelVersion) -> dict[str, Any]:
    response: dict[str, Any] = {"based_on": _based_on(engine, bank, version.fact_ids)}
    if version.trace is not None:
        response["trace"] = version.trace
    return {
        "previous_content": version.content,
        "previous_reflect_response": response,
        "changed_at": version.changed_at.isoformat(),
    }


def _based_on(engine: Perdure, bank: str, fact_ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the cited facts by type; those that were forgotten are gone."""
    by_type: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for fact in engine.facts.get_many(bank, fact_ids) if fact_ids else ():
        by_type[fact.type.value].append(_fact(fact))
    return dict(by_type)


def _fact(fact: Fact) -> dict[str, Any]:
    shown = ReflectFact(
        **fields_of(fact, ReflectFact.model_fields)
        | {"context": fact.context or None, "metadata": dict(fact.metadata) or None}
    )
    return sparse(shown)


_OF_PREVIEW = (
    "requested_mode", "effective_mode", "mode_fallback_reason", "outcome", "would_persist", "current_content",
    "candidate_content", "preview_content", "diff", "duration_ms", "warnings",
)  # fmt: skip


def _dry_run(engine: Perdure, preview: RefreshPreview) -> MentalModelDryRunRefreshResult:
    model = preview.model
    trace = _filled(preview.trace(preview.snapshot_at))
    retraction = trace.get("retraction")
    if preview.retraction is not None:
        retraction = {**trace["retraction"], "fact_texts": list(preview.retraction.fact_texts)}
    watermark = max(filter(None, (model.last_memory_seen_at, preview.newest_seen_at)), default=None)
    window = {
        "created_after": iso(preview.read_after),
        "created_before": preview.snapshot_at.isoformat(),
        "watermark": iso(watermark),
    }
    return MentalModelDryRunRefreshResult(
        **fields_of(preview, _OF_PREVIEW),
        mental_model_id=model.id,
        name=model.name,
        scope=_scope(model),
        window=_filled(window),
        facts={"retrieved": dict(preview.retrieved), "used": dict(preview.used)},
        based_on=_based_on(engine, model.bank, cited_ids(preview.sections)),
        delta_operations=trace.get("delta_operations"),
        retraction=retraction,
        trace=trace,
    )


def _scope(model: MentalModel) -> dict[str, Any]:
    trigger = model.trigger
    types = trigger.fact_types
    return _filled(
        {
            "tags": sorted(model.tags) if model.tags and trigger.tag_groups is None else None,
            "tags_match": model.tags_match.value,
            "tag_groups": None if trigger.tag_groups is None else list(trigger.tag_groups),
            "fact_types": None if types is None else [one.value for one in types],
            "exclude_mental_models": trigger.exclude_mental_models,
            "exclude_mental_model_ids": [model.id, *(trigger.exclude_mental_model_ids or ())],
        }
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
