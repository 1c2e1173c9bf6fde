"""What would be extracted, and what a language model would be sent; and paths of which Perdure holds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from perdure.contrib.hindsight.bodies import Body, TokenUsage, iso
from perdure.domain.fact import Fact, FactType
from perdure.domain.llm_call import LlmOperation
from perdure.domain.time import parse_utc
from perdure.errors import InvalidInput, NotFound
from perdure.extending import load_prompt
from perdure.surfaces.plugins.rest import Known, ReadBank, Resource, Serving, WriteBank, plain_error

router = Resource("Previews", "/v1/default/banks/{bank_id}")
NO_MODEL = "no language model is configured: this server extracts, consolidates and reflects without one"
OPERATIONS: Mapping[str, tuple[LlmOperation, str]] = {
    "retain": (LlmOperation.RETAIN, "extract"),
    "consolidation": (LlmOperation.CONSOLIDATE, "observe"),
    "reflect": (LlmOperation.REFLECT, "reflect"),
}
"""Hindsight's name of an operation -> ours, and the prompt that it is asked with."""


class DryRunExtractRequest(Body):
    """A text to extract facts from. What would steer a language model is taken and has no effect."""

    content: str | list[dict[str, Any]]
    context: str = ""
    timestamp: datetime | None = None
    agent_name: str | None = None


class ExtractedFactResponse(BaseModel):
    """A fact that a retain would draw."""

    text: str
    fact_type: str
    occurred_start: str | None = None
    occurred_end: str | None = None
    entities: list[str] = []


class DryRunExtractionResult(BaseModel):
    """What a retain would draw; nothing is stored."""

    facts: list[ExtractedFactResponse]
    usage: TokenUsage = Field(default_factory=TokenUsage)


class PromptPreviewRequest(Body):
    """Whose prompts to show."""

    operation: Literal["retain", "consolidation", "reflect"] = "retain"
    strategy: str | None = None


class PromptPreviewResponse(BaseModel):
    """What would be sent to a language model, or why nothing is."""

    messages: list[dict[str, Any]] = []
    strategy: str | None = None
    strategies: list[str] = []
    run_settings: list[dict[str, Any]] = []
    response_schema: dict[str, Any] | None = None
    skipped_reason: str | None = None


class LlmOperationHealth(BaseModel):
    """Whether the language model of an operation can be reached."""

    operation: str
    ok: bool
    status: str
    latency_ms: float | None = None


class BankLlmHealthResponse(BaseModel):
    """The same of all operations."""

    bank_id: str
    operations: list[LlmOperationHealth]


@router.post("/memories/dry-run-extract", operation_id="dry_run_extract_memories")
def dry_run_extract(service: Serving, bank: ReadBank, body: DryRunExtractRequest) -> DryRunExtractionResult:
    """Return the facts that a retain of the text would draw; nothing is stored, and no bank made."""
    if isinstance(body.content, str) and not body.content.strip():
        raise InvalidInput("content", "non-empty text")
    content = body.content if isinstance(body.content, str) else [{"content": body.content}]
    facts = service.engine.facts.preview(
        bank, content, context=body.context, timestamp=parse_utc(body.timestamp, "timestamp")
    )
    return DryRunExtractionResult(facts=[_view(fact) for fact in facts])


@router.post("/prompts/preview", operation_id="preview_prompt")
def preview_prompt(service: Serving, bank: ReadBank, body: PromptPreviewRequest) -> PromptPreviewResponse:
    """Return the prompt that an operation would send to its language model, with its places for texts; or why none is sent."""
    service.engine.banks.get(bank)
    operation, name = OPERATIONS[body.operation]
    models = service.engine.llm.models(operation)
    if not models:
        return PromptPreviewResponse(strategy=body.strategy, skipped_reason=NO_MODEL)
    prompt = load_prompt(name)
    return PromptPreviewResponse(
        strategy=body.strategy,
        messages=[{"role": "system", "content": prompt.text}],
        run_settings=[{"prompt": prompt.version, "models": models}],
    )


@router.post("/health/llm", operation_id="test_bank_llm")
def test_bank_llm(bank: WriteBank, service: Serving) -> BankLlmHealthResponse:
    """Whether the language models answer: each is asked for one word."""
    names = {operation: name for name, (operation, _) in OPERATIONS.items()}
    health = [
        LlmOperationHealth(
            operation=names[one.operation],
            ok=one.status == "connected",
            status=one.status.value,
            latency_ms=None if one.seconds is None else one.seconds * 1000.0,
        )
        for one in service.engine.llm.health(bank)
    ]
    return BankLlmHealthResponse(bank_id=bank, operations=health)


@router.post("/consolidation-strategies/preview", include_in_schema=False, response_model=None)
async def preview_strategies(caller: Known, request: Request) -> JSONResponse:
    """Answer 501: strategies steer consolidation by language models, and nothing here has them."""
    del caller
    template = getattr(request.scope.get("route"), "path", request.url.path)
    return plain_error(501, "not_built", f"{request.method} {template} is not built yet")


@router.get("/attachments/{attachment_id}", operation_id="get_bank_attachment", status_code=404)
async def get_attachment(bank: ReadBank, attachment_id: str) -> None:
    """404: retain keeps the text of a content, and passes over images and files inside it (it names them in its answer)."""
    del bank
    raise NotFound("attachment", attachment_id)


@router.post(
    "/entities/{entity_id}/regenerate", operation_id="regenerate_entity_observations", status_code=410
)
async def regenerate_entity(bank: WriteBank, entity_id: str) -> None:
    """Gone in Hindsight too: observations of an entity are formed by consolidation."""
    del bank, entity_id
    raise HTTPException(410, "post to consolidate instead; it forms the observations of every entity")


def _view(fact: Fact) -> ExtractedFactResponse:
    sure = not fact.has_unsure_date
    return ExtractedFactResponse(
        text=fact.text,
        fact_type=fact.type.value if fact.type is not FactType.OPINION else FactType.WORLD.value,
        occurred_start=iso(fact.occurred_start) if sure else None,
        occurred_end=iso(fact.occurred_end) if sure else None,
        entities=list(fact.entities),
    )
