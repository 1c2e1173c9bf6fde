"""Reflect: a short answer and cited sentences, also in the form of a JSON Schema."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from perdure import Perdure
from perdure.contrib.hindsight.bodies import (
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
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.config import acting
from perdure.contrib.hindsight.recall import recipe_of
from perdure.domain.filter import read_tags
from perdure.domain.recall import Recollection
from perdure.domain.work import departure
from perdure.errors import InvalidInput
from perdure.reflect.reflection import MODEL_STEP, Reflection, ReflectionStep
from perdure.surfaces.plugins.rest import Departure, ReadBank, Resource, Serving, on_recall_worker

router = Resource("Memory", "/v1/default/banks/{bank_id}", [StrictClients])


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
    asker: str | None = Field(None, description="Perdure: as in recall")
    query_timestamp: datetime | None = Field(None, description="Perdure: as in recall")
    context_string: bool = Field(
        False,
        description="Perdure: the answer as a fenced text for a prompt, too; all of it within max_tokens",
    )


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


class ReflectSentence(BaseModel):
    """A sentence of the answer and the facts it rests on."""

    text: str
    fact_ids: list[str]
    evidence: str


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
    reader: str = Field("", description="Perdure: which reader gave the short answer")
    disposition: list[str] = Field([], description="Perdure: what the bank's traits changed")
    notes: list[str] = Field([], description="Perdure: what was left out, and how a value was worked out")
    degraded: list[str] = Field([], description="Perdure: what should have contributed and could not")


class ReflectResponse(BaseModel):
    """A cited answer."""

    text: str
    answer: str | None = Field(None, description="Perdure: the answer in a few words")
    sentences: list[ReflectSentence] = Field([], description="Perdure: what the text is made of")
    based_on: ReflectBasedOn | None = None
    structured_output: dict[str, Any] | None = None
    usage: TokenUsage | None = None
    trace: ReflectTrace | None = None
    evidence: str
    context: str | None = Field(None, description="Perdure: with `context_string`, the fenced text")


@router.post("/reflect", operation_id="reflect")
@on_recall_worker
def reflect(service: Serving, bank: ReadBank, body: ReflectRequest, has_left: Departure) -> ReflectResponse:
    """Return an answer whose every sentence cites a fact, or that memory holds none."""
    engine = service.engine
    query = f"{body.query}\n{body.context}" if body.context else body.query
    options = _options(engine, bank, body)
    called_off = departure()
    reflection = engine.reflect(
        bank,
        query,
        apply_all_directives=body.apply_all_directives,
        response_schema=body.response_schema,
        mental_models=not body.exclude_mental_models,
        exclude_mental_model_ids=body.exclude_mental_model_ids or (),
        cancelled=lambda: called_off() or has_left(),
        **options,
    )
    return ReflectResponse(
        text=reflection.text,
        answer=reflection.answer,
        sentences=[
            ReflectSentence(text=one.text, fact_ids=list(one.fact_ids), evidence=one.evidence.value)
            for one in reflection.sentences
        ],
        based_on=_based_on(reflection) if body.include.facts is not None else None,
        structured_output=dict(reflection.structured) if reflection.structured is not None else None,
        usage=TokenUsage(
            input_tokens=reflection.usage.input_tokens,
            output_tokens=reflection.usage.output_tokens,
            total_tokens=reflection.usage.total_tokens,
        ),
        trace=_trace(body, reflection, body.include.tool_calls),
        evidence=reflection.evidence.value,
        context=reflection.to_prompt() if body.context_string else None,
    )


def _options(engine: Perdure, bank: str, body: ReflectRequest) -> Any:
    if body.tags and body.tag_groups:
        raise InvalidInput("tag_groups", "tags or tag_groups, not both")
    if body.fact_types is not None and not body.fact_types:
        raise InvalidInput("fact_types", "at least one type, or none of the field")
    return {
        **body.model_dump(include={"budget", "max_tokens", "tags", "tags_match", "asker", "query_timestamp"}),
        "types": body.fact_types,
        "where": {"tags": read_tags(None, tag_groups=tag_groups(body.tag_groups))},
        "as_of": as_of(body.as_of),
        "recipe": recipe_of(engine, acting(engine, bank), body.recipe),
    }


def _fact(recollection: Recollection) -> ReflectFact:
    fact = recollection.fact
    return ReflectFact(
        **fields_of(fact, ReflectFact.model_fields)
        | {"context": fact.context or None, "metadata": dict(fact.metadata) or None}
    )


def _based_on(reflection: Reflection) -> ReflectBasedOn:
    return ReflectBasedOn(
        memories=[_fact(recollection) for recollection in reflection.based_on],
        mental_models=[
            {"id": model.id, "text": f"{model.name}: {model.content}"} for model in reflection.mental_models
        ],
        directives=[
            {"id": use.id, "name": use.name, "content": use.content} for use in reflection.trace.directives
        ],
    )


def _trace(
    body: ReflectRequest, reflection: Reflection, asked: ToolCallsIncludeOptions | None
) -> ReflectTrace | None:
    if asked is None:
        return None
    trace = reflection.trace
    calls = [
        ReflectToolCall(
            tool=step.tool,
            input={
                "query": step.query,
                "budget": body.budget,
                "max_tokens": body.max_tokens,
                "types": body.fact_types,
                "tags": body.tags,
            },
            output=_output(step) if asked.output else None,
            duration_ms=round(step.milliseconds),
            iteration=number,
        )
        for number, step in enumerate((one for one in trace.steps if one.tool != MODEL_STEP), start=1)
    ]
    return ReflectTrace(
        tool_calls=calls,
        llm_calls=[
            {
                "scope": "reflect",
                "model": trace.model,
                "asked_for": step.query,
                "input_tokens": step.input_tokens,
                "output_tokens": step.output_tokens,
                "duration_ms": round(step.milliseconds),
            }
            for step in trace.steps
            if step.tool == MODEL_STEP
        ],
        degraded=[f"{one.part}: {one.reason}" for one in trace.degraded],
        reader=trace.reader,
        disposition=list(trace.disposition),
        notes=list(trace.notes),
    )


def _output(step: ReflectionStep) -> dict[str, Any]:
    if step.refused:
        return {"refused": step.refused}
    if step.recalled is None:
        return {"mental_models": list(step.model_ids)}
    recollections = step.recalled.recollections
    return {"memories": [_fact(one).model_dump(exclude_none=True) for one in recollections]}
