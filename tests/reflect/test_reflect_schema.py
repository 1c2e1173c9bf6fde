"""A response schema is checked and filled by readings; what memory does not hold is null."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.errors import InvalidInput
from perdure.reflect.answer import compose
from perdure.reflect.reflection import Reflection
from perdure.reflect.schema import fill_schema, read_schema
from tests.reflect.reflect_kit import fact, recalled

HUT = fact(
    "Aino bought a red hut for $900.", 1, speaker="Aino",
    occurred_start=datetime(2026, 5, 3, tzinfo=UTC), occurred_end=datetime(2026, 5, 4, tzinfo=UTC),
)  # fmt: skip


def filled(properties: dict[str, Any], question: str = "What did Aino buy?") -> dict[str, object] | None:
    def ask(asked: str) -> Reflection:
        asked_of.append(asked)
        return compose(recalled(asked, [HUT] if "buy" in asked else []))

    asked_of: list[str] = []
    return fill_schema(read_schema({"type": "object", "properties": properties}), question, ask)


def test_a_value_has_the_type_of_its_property() -> None:
    output = filled(
        {
            "price": {"type": "number", "description": "How much did what Aino did buy cost?"},
            "when": {"type": "string", "format": "date", "description": "When did Aino buy the hut?"},
            "bought": {"type": "boolean", "description": "Did Aino buy a hut?"},
            "colour": {
                "type": "string",
                "enum": ["blue", "red"],
                "description": "Which colour did Aino buy?",
            },
        }
    )
    assert output == {"price": 900, "when": "2026-05-03", "bought": None, "colour": "red"}


def test_what_memory_does_not_hold_is_null() -> None:
    properties = {
        "price": {"type": "number", "description": "How much did what Aino did buy cost?"},
        "rent": {"type": "number", "description": "How much is the rent?"},
        "far": {"type": "integer", "maximum": 10, "description": "How much did what Aino did buy cost?"},
    }
    assert filled(properties) == {"price": 900, "rent": None, "far": None}
    assert filled({"rent": {"type": "number", "description": "How much is the rent?"}}) is None


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ([], "response_schema"),
        ({"type": "object"}, "response_schema"),
        ({"properties": {}}, "response_schema"),
        ({"type": "array", "properties": {"a": {"type": "string"}}}, "response_schema.type"),
        ({"properties": {"a": {"type": "money"}}}, "response_schema.a.type"),
        ({"properties": {"a": 5}}, "response_schema.a"),
        ({"properties": {"a": {"type": "string"}}, "required": ["b"]}, "response_schema.required"),
        ({"properties": {"a": {"type": "string", "pattern": "("}}}, "response_schema.a.pattern"),
        ({"properties": {f"p{n}": {"type": "string"} for n in range(40)}}, "response_schema.properties"),
    ],
)
def test_a_schema_that_cannot_be_read_is_refused_by_its_place(schema: object, place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_schema(schema)
    assert refused.value.field == place


def test_nullable_and_nested_properties_are_read() -> None:
    fields = read_schema(
        {
            "properties": {
                "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"type": ["integer", "null"]},
                "c": {"type": "object", "properties": {"d": {"type": "boolean"}}},
                "e": {"type": "array", "items": {"type": "string"}},
            }
        }
    )
    assert [field.kind for field in fields] == ["string", "integer", "object", "array"]
    assert fields[2].fields[0].kind == "boolean"
