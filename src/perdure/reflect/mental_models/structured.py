"""Structured output of a refresh: the fields of a JSON Schema, filled with the facts that answer each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.errors import InvalidInput

MAX_VALUES = 5
"""Facts in a list."""


@dataclass(frozen=True, slots=True)
class Structured:
    """The values by field, and the facts they are the texts of."""

    values: Mapping[str, object]
    fact_ids: tuple[str, ...]


def fillable_fields(schema: Mapping[str, object]) -> dict[str, bool]:
    """The schema's text fields -> whether they are lists; a required field of another kind is refused."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InvalidInput("response_schema", "an object schema with properties")
    required = schema.get("required") or []
    if not isinstance(required, list) or not all(name in properties for name in required):
        raise InvalidInput("response_schema.required", "a list of names that properties has", required)
    fields: dict[str, bool] = {}
    for name, field in properties.items():
        kind = (
            field.get("type") if isinstance(field, Mapping) and not {"enum", "const"} & set(field) else None
        )
        items = field.get("items") if isinstance(field, Mapping) else None
        if kind == "string":
            fields[str(name)] = False
        elif kind == "array" and isinstance(items, Mapping) and items.get("type") == "string":
            fields[str(name)] = True
        elif name in required:
            expected = "a string or a list of strings; others need a language model"
            raise InvalidInput(f"response_schema.{str(name)[:80]}", expected)
    return fields


def fill_fields(schema: Mapping[str, object], query: str, answers: Callable[[str], list[Fact]]) -> Structured:
    """Each field holds the facts that answer the question with the field's name added; no text is made up."""
    values: dict[str, object] = {}
    fact_ids: dict[str, None] = {}
    for name, is_list in fillable_fields(schema).items():
        facts = answers(f"{query}\n{name.replace('_', ' ')}")[: MAX_VALUES if is_list else 1]
        fact_ids |= dict.fromkeys(fact.id for fact in facts)
        texts = [fact.text for fact in facts]
        values[name] = texts if is_list else next(iter(texts), "")
    return Structured(values, tuple(fact_ids))
