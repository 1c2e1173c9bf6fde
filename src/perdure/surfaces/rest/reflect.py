"""Reflect: extractive, cited, also in the form of a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from perdure.domain.item import check_text
from perdure.domain.recall import Recollection
from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.reflect.reflection import Reflection
from perdure.surfaces.arguments import RecallOptions, recall_with, reflect_with
from perdure.surfaces.plain import total_milliseconds
from perdure.surfaces.rest.bodies import (
    MOST_TOKENS,
    AsOfBody,
    Body,
    BudgetName,
    TagGroup,
    TagsMatch,
    TokenUsage,
    as_of,
    fields_of,
    tag_groups,
)
from perdure.surfaces.rest.config import acting
from perdure.surfaces.rest.recall import recipe_of
from perdure.surfaces.rest.service import ReadBank, Resource, Serving, StrictClients, on_recall_worker

router = Resource("Memory", "/v1/default/banks/{bank_id}", [StrictClients])
MOST_IN_A_LIST = 5
_STRING = "string"


class ToolCallsIncludeOptions(Body):
    """The steps that led to an answer."""

    output: bool = True


class ReflectIncludeOptions(Body):
    """What to give beside the answer."""

    facts: dict[str, Any] | None = None
    tool_calls: ToolCallsIncludeOptions | None = None


class ReflectRequest(Body):
    """A question to be answered from memory."""

    query: str
    budget: BudgetName = "low"
    context: str | None = None
    max_tokens: int = Field(4096, ge=1, le=MOST_TOKENS)
    include: ReflectIncludeOptions = Field(default_factory=ReflectIncludeOptions)
    response_schema: dict[str, Any] | None = None
    tags: list[str] | None = None
    tags_match: TagsMatch = "any"
    tag_groups: list[TagGroup] | None = None
    apply_all_directives: bool = False
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None
    recipe: str | None = Field(None, description="Perdure: as in recall")
    as_of: datetime | AsOfBody | None = Field(None, description="Perdure: as in recall")


class ReflectFact(BaseModel):
    """A fact that the answer rests on."""

    id: str | None = None
    text: str
    type: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, str] | None = None


class ReflectBasedOn(BaseModel):
    """Evidence; the numbers in the answer count the memories from 1."""

    memories: list[ReflectFact] = []
    mental_models: list[dict[str, Any]] = []
    directives: list[dict[str, Any]] = []


class ReflectToolCall(BaseModel):
    """A step that led to the answer."""

    tool: str
    input: dict[str, Any]
    output: dict[str, Any] | None = None
    duration_ms: int
    iteration: int = 0


class ReflectTrace(BaseModel):
    """How the answer came about."""

    tool_calls: list[ReflectToolCall] = []
    llm_calls: list[dict[str, Any]] = []


class ReflectResponse(BaseModel):
    """A cited answer."""

    text: str
    based_on: ReflectBasedOn | None = None
    structured_output: dict[str, Any] | None = None
    usage: TokenUsage | None = None
    trace: ReflectTrace | None = None
    evidence: str


@router.post("/reflect", operation_id="reflect")
@on_recall_worker
def reflect(service: Serving, bank: ReadBank, body: ReflectRequest) -> ReflectResponse:
    """An answer whose every sentence cites a fact, or that memory holds none."""
    engine = service.engine
    query = f"{body.query}\n{body.context}" if body.context else body.query
    options = _options(engine, bank, body)
    fields = _fillable(body.response_schema) if body.response_schema is not None else None
    reflection = reflect_with(engine, bank, query, options)
    based_on = ReflectBasedOn(memories=[_fact(recollection) for recollection in reflection.based_on])
    return ReflectResponse(
        text=reflection.text,
        based_on=based_on if body.include.facts is not None else None,
        structured_output=_filled(engine, bank, query, options, fields) if fields is not None else None,
        usage=TokenUsage(),
        trace=_trace(query, options, reflection, body.include.tool_calls),
        evidence=reflection.evidence.value,
    )


def _options(engine: Perdure, bank: str, body: ReflectRequest) -> RecallOptions:
    if body.tags and body.tag_groups:
        raise InvalidInput("tag_groups", "tags or tag_groups, not both")
    return {
        "budget": body.budget,
        "max_tokens": body.max_tokens,
        "types": body.fact_types,
        "tags": body.tags,
        "tags_match": body.tags_match,
        "tag_groups": tag_groups(body.tag_groups),
        "as_of": as_of(body.as_of),
        "recipe": recipe_of(engine, acting(engine, bank), body.recipe),
    }


def _fact(recollection: Recollection) -> ReflectFact:
    fact = recollection.fact
    return ReflectFact(
        **fields_of(fact, ReflectFact.model_fields)
        | {"context": fact.context or None, "metadata": dict(fact.metadata) or None}
    )


def _trace(
    query: str, options: RecallOptions, reflection: Reflection, asked: ToolCallsIncludeOptions | None
) -> ReflectTrace | None:
    if asked is None:
        return None
    recalled = reflection.recalled
    memories = (
        [_fact(r).model_dump(exclude_none=True) for r in recalled.recollections] if asked.output else []
    )
    call = ReflectToolCall(
        tool="recall",
        input={
            "query": query,
            "budget": options["budget"],
            "max_tokens": options["max_tokens"],
            "types": options["types"],
            "tags": options["tags"],
        },
        output={"memories": memories} if asked.output else None,
        duration_ms=round(total_milliseconds(recalled)),
        iteration=1,
    )
    return ReflectTrace(tool_calls=[call])


def _fillable(schema: Mapping[str, Any]) -> dict[str, bool]:
    """The schema's text fields -> whether they are lists; other fields need a language model."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InvalidInput("response_schema", "an object schema with properties")
    required = schema.get("required") or []
    valid = isinstance(required, list) and all(
        isinstance(name, str) and name in properties for name in required
    )
    if not valid:
        raise InvalidInput("response_schema.required", "a list of names that properties has", required)
    fields: dict[str, bool] = {}
    for name, field in properties.items():
        check_text("response_schema.properties", name)
        kind = _kind(field)
        if kind is not None:
            fields[str(name)] = kind == "array"
        elif name in required:
            raise InvalidInput(
                f"response_schema.{str(name)[:80]}",
                "a string or a list of strings; others need a language model",
            )
    return fields


def _kind(schema: object) -> str | None:
    """`string` or `array` for what facts can fill, None for anything else."""
    if not isinstance(schema, Mapping) or "enum" in schema or "const" in schema:
        return None
    options = schema.get("anyOf")
    if isinstance(options, list):
        return next((kind for option in options if (kind := _kind(option)) is not None), None)
    if schema.get("type") == _STRING and "pattern" not in schema and "format" not in schema:
        return _STRING
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, Mapping) and _kind(items) == _STRING:
        return "array"
    return None


def _filled(
    engine: Perdure, bank: str, query: str, options: RecallOptions, fields: Mapping[str, bool]
) -> dict[str, Any]:
    """Each field holds the facts that answer the question with the field's name added; no text is made up."""
    output: dict[str, Any] = {}
    asked: RecallOptions = {**options, "limit": MOST_IN_A_LIST, "track": False}
    for name, is_list in fields.items():
        result = recall_with(engine, bank, f"{query}\n{name.replace('_', ' ')}", asked)
        texts = [recollection.fact.text for recollection in result.recollections]
        output[name] = texts if is_list else next(iter(texts), "")
    return output
