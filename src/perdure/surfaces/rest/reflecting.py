"""Reflect as clients ask for it: extractive, cited, also in the form of a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.domain.item import check_text
from perdure.domain.recall import Recollection
from perdure.domain.time import AsOf
from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.reflect.pipeline import Reflection
from perdure.surfaces.rest.bank_config import acting, find_bank
from perdure.surfaces.rest.present import as_of_parts, iso
from perdure.surfaces.rest.recalling import recipe_of, tag_groups
from perdure.surfaces.rest.schemas import recall as bodies
from perdure.surfaces.rest.schemas.shared import TokenUsage

MOST_IN_A_LIST = 5
_STRING = "string"


def run_reflect(engine: Perdure, bank: str, body: bodies.ReflectRequest) -> bodies.ReflectResponse:
    """The engine's answer; the citation [n] names the n-th of `based_on.memories`."""
    query = f"{body.query}\n{body.context}" if body.context else body.query
    options = _options(engine, bank, body)
    fields = _fillable(body.response_schema) if body.response_schema is not None else None
    reflection = engine.reflect(bank, query, **options)
    return bodies.ReflectResponse(
        text=reflection.text,
        based_on=_based_on(reflection) if body.include.facts is not None else None,
        structured_output=_filled(engine, bank, query, options, fields) if fields is not None else None,
        usage=TokenUsage(),
        trace=_trace(query, options, reflection, body.include.tool_calls),
        evidence=reflection.evidence.value,
    )


def _options(engine: Perdure, bank: str, body: bodies.ReflectRequest) -> dict[str, Any]:
    if body.tags and body.tag_groups:
        raise InvalidInput("tag_groups", "tags or tag_groups, not both")
    valid, known = as_of_parts(body.as_of)
    return {
        "budget": body.budget,
        "max_tokens": body.max_tokens,
        "types": body.fact_types,
        "tags": body.tags,
        "tags_match": body.tags_match,
        "tag_groups": tag_groups(body.tag_groups),
        "as_of": AsOf(valid=valid, known=known),
        "recipe": recipe_of(engine, acting(find_bank(engine, bank)), body.recipe),
    }


def _based_on(reflection: Reflection) -> bodies.ReflectBasedOn:
    return bodies.ReflectBasedOn(memories=[_fact(recollection) for recollection in reflection.based_on])


def _fact(recollection: Recollection) -> bodies.ReflectFact:
    fact = recollection.fact
    return bodies.ReflectFact(
        id=fact.id,
        text=fact.text,
        type=fact.type.value,
        context=fact.context or None,
        occurred_start=iso(fact.occurred_start),
        occurred_end=iso(fact.occurred_end),
        mentioned_at=iso(fact.mentioned_at),
        document_id=fact.document_id,
        chunk_id=fact.chunk_id,
        tags=sorted(fact.tags),
        metadata=dict(fact.metadata) or None,
    )


def _trace(
    query: str,
    options: Mapping[str, Any],
    reflection: Reflection,
    wanted: bodies.ToolCallsIncludeOptions | None,
) -> bodies.ReflectTrace | None:
    if wanted is None:
        return None
    recalled = reflection.recalled
    total = next((time.milliseconds for time in recalled.timings if time.stage == "total"), 0.0)
    call = bodies.ReflectToolCall(
        tool="recall",
        input={"query": query, **{name: options[name] for name in ("budget", "max_tokens", "types", "tags")}},
        output={"memories": [_fact(r).model_dump(exclude_none=True) for r in recalled.recollections]}
        if wanted.output
        else None,
        duration_ms=round(total),
        iteration=1,
    )
    return bodies.ReflectTrace(tool_calls=[call])


def _fillable(schema: Mapping[str, Any]) -> dict[str, bool]:
    """The schema's text fields -> whether they are lists; other fields need a language model."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InvalidInput("response_schema", "an object schema with properties")
    required = schema.get("required") or []
    known = isinstance(required, list) and all(
        isinstance(name, str) and name in properties for name in required
    )
    if not known:
        raise InvalidInput("response_schema.required", "a list of names that properties has", required)
    fields: dict[str, bool] = {}
    for name, given in properties.items():
        check_text("response_schema.properties", name)
        kind = _kind(given)
        if kind is not None:
            fields[str(name)] = kind == "array"
        elif name in required:
            raise InvalidInput(
                f"response_schema.{str(name)[:80]}",
                "a string or a list of strings; others need a language model",
            )
    return fields


def _kind(given: object) -> str | None:
    """`string` or `array` for what facts can fill, None for anything else."""
    if not isinstance(given, Mapping) or "enum" in given or "const" in given:
        return None
    options = given.get("anyOf")
    if isinstance(options, list):
        return next((kind for option in options if (kind := _kind(option)) is not None), None)
    if given.get("type") == _STRING and "pattern" not in given and "format" not in given:
        return _STRING
    items = given.get("items")
    if given.get("type") == "array" and isinstance(items, Mapping) and _kind(items) == _STRING:
        return "array"
    return None


def _filled(
    engine: Perdure, bank: str, query: str, options: Mapping[str, Any], fields: Mapping[str, bool]
) -> dict[str, Any]:
    """Each field holds the facts that answer the question with the field's name added; no text is made up."""
    output: dict[str, Any] = {}
    for name, is_list in fields.items():
        asked = f"{query}\n{name.replace('_', ' ')}"
        found = engine.recall(bank, asked, **{**options, "limit": MOST_IN_A_LIST, "track": False})
        texts = [recollection.fact.text for recollection in found.recollections]
        if is_list:
            output[name] = texts
        else:
            output[name] = texts[0] if texts else ""
    return output
