"""Structured output: each property of a response schema is asked for by itself and filled from what is cited, null where memory has nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.item import check_text
from perdure.domain.rendering import one_line
from perdure.errors import InvalidInput
from perdure.reflect.reflection import Reflection
from perdure.text.terms import index_terms

TYPES = ("string", "number", "integer", "boolean", "array", "object")
MAX_FIELDS = 32
MAX_DEPTH = 4
_ANSWER = frozenset({"answer", "result", "response", "value", "reply"})
_TEXT = frozenset({"text", "summary", "explanation", "details"})
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """A property to fill."""

    name: str
    kind: str
    """One of `TYPES`."""
    description: str = ""
    item: SchemaField | None = None
    """What the elements of an array are."""
    fields: tuple[SchemaField, ...] = ()
    """The properties of an object."""
    choices: tuple[object, ...] = ()
    """What the value must be one of, by `enum` or `const`."""
    pattern: str = ""
    date_format: str = ""
    """`date` or `date-time`."""
    minimum: float | None = None
    maximum: float | None = None


def read_schema(schema: object, path: str = "response_schema") -> tuple[SchemaField, ...]:
    """The properties of an object schema; InvalidInput names what cannot be read."""
    fields = _object_fields(schema, path, 0)
    if sum(1 for _ in _all(fields)) > MAX_FIELDS:
        raise InvalidInput(f"{path}.properties", f"at most {MAX_FIELDS} properties")
    return fields


def _all(fields: Sequence[SchemaField]) -> Iterator[SchemaField]:
    for field in fields:
        yield field
        yield from _all(field.fields)


def _object_fields(schema: object, path: str, depth: int) -> tuple[SchemaField, ...]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(properties, Mapping) or not properties:
        raise InvalidInput(path, "an object schema with properties")
    if depth > MAX_DEPTH:
        raise InvalidInput(path, f"objects at most {MAX_DEPTH} deep")
    if schema.get("type", "object") != "object":
        raise InvalidInput(f"{path}.type", "object", schema.get("type"))
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(
        isinstance(name, str) and name in properties for name in required
    ):
        raise InvalidInput(f"{path}.required", "a list of names that properties has", required)
    return tuple(_field(name, part, path, depth) for name, part in properties.items())


def _field(name: object, schema: object, path: str, depth: int) -> SchemaField:
    check_text(f"{path}.properties", name)
    place = f"{path}.{str(name)[:80]}"
    if not isinstance(schema, Mapping):
        raise InvalidInput(place, "a schema", schema)
    chosen = _alternative(schema)
    kind = chosen.get(
        "type", "object" if "properties" in chosen else "array" if "items" in chosen else "string"
    )
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if kind not in TYPES:
        raise InvalidInput(f"{place}.type", "one of " + ", ".join(TYPES), kind)
    items = chosen.get("items", {})
    choices = chosen.get("enum", [chosen["const"]] if "const" in chosen else [])
    if not isinstance(choices, list):
        raise InvalidInput(f"{place}.enum", "a list of values", choices)
    description = schema.get("description", "")
    return SchemaField(
        name=str(name),
        kind=str(kind),
        description=description if isinstance(description, str) else "",
        item=_field(name, items, path, depth + 1) if kind == "array" else None,
        fields=_object_fields(chosen, place, depth + 1)
        if kind == "object" and "properties" in chosen
        else (),
        choices=tuple(choices),
        pattern=_pattern(chosen.get("pattern", ""), place),
        date_format=str(chosen.get("format", "")) if chosen.get("format") in ("date", "date-time") else "",
        minimum=_bound(chosen.get("minimum"), f"{place}.minimum"),
        maximum=_bound(chosen.get("maximum"), f"{place}.maximum"),
    )


def _alternative(schema: Mapping[str, object]) -> Mapping[str, object]:
    """The first of `anyOf` or `oneOf` that is not null, else the schema itself."""
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list):
            return next(
                (one for one in options if isinstance(one, Mapping) and one.get("type") != "null"), schema
            )
    return schema


def _pattern(pattern: object, place: str) -> str:
    try:
        re.compile(pattern if isinstance(pattern, str) else "(")
    except re.error as error:
        raise InvalidInput(f"{place}.pattern", "a regular expression", pattern) from error
    return str(pattern)


def _bound(value: object, place: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(place, "a number", value)
    return float(value)


def fill_schema(
    fields: Sequence[SchemaField], reflection: Reflection, ask: Callable[[str], Reflection]
) -> dict[str, object] | None:
    """The object, each property by a reading of its own; None when memory fills none of it."""
    query = reflection.recalled.query.text
    output = {field.name: _value(field, query, reflection, ask) for field in fields}
    return output if any(value is not None for value in output.values()) else None


def _value(field: SchemaField, query: str, whole: Reflection, ask: Callable[[str], Reflection]) -> object:
    if field.kind == "object":
        parts = {part.name: _value(part, query, whole, ask) for part in field.fields}
        return parts if any(value is not None for value in parts.values()) else None
    name = field.name.lower()
    if name in _TEXT and field.kind == "string" and not field.choices:
        return None if whole.is_refusal else whole.text
    reflection = whole if name in _ANSWER else ask(question_of(field, query))
    if reflection.is_refusal:
        return None
    if field.kind == "array":
        return _array(field, reflection)
    value = _scalar(field, reflection, reflection.answer)
    return value if _is_valid(field, value) else None


def question_of(field: SchemaField, query: str) -> str:
    """Return the question that a property stands for: its description where that asks, else its name next to what was asked."""
    description = " ".join(field.description.split())
    if description.endswith("?"):
        return description
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", field.name).replace("_", " ").replace("-", " ").lower()
    return " ".join(filter(None, (f"{words}:", query, description)))


def _array(field: SchemaField, reflection: Reflection) -> list[object] | None:
    item = field.item or SchemaField(name=field.name, kind="string")
    texts = reflection.values or tuple(one_line(source.fact.text) for source in reflection.based_on)
    values = [_scalar(item, reflection, text) for text in texts]
    valid = [value for value in values if value is not None and _is_valid(item, value)]
    return valid or None


def _scalar(field: SchemaField, reflection: Reflection, answer: str | None) -> object:
    """Return the value: the short answer, else what the first statement says; a boolean is left to a language model."""
    text = answer or next((one_line(source.fact.text) for source in reflection.based_on), "")
    if field.choices:
        return _choice(field, text)
    if field.date_format:
        return _date(field, reflection)
    if field.kind == "boolean":
        return None
    if field.kind in ("number", "integer"):
        return read_number(text, whole=field.kind == "integer")
    return text or None


def _choice(field: SchemaField, text: str) -> object:
    """Return the only choice whose words stand in the text."""
    terms = index_terms(text).keys()
    said = [choice for choice in field.choices if (own := index_terms(str(choice)).keys()) and own <= terms]
    return said[0] if len(said) == 1 else None


def _date(field: SchemaField, reflection: Reflection) -> str | None:
    """Return when the first fact surely happened."""
    for source in reflection.based_on[:1]:
        start = None if source.fact.has_unsure_date else source.fact.occurred_start
        if start is not None:
            return start.date().isoformat() if field.date_format == "date" else start.isoformat()
    return None


def read_number(text: str, *, whole: bool = False) -> int | float | None:
    """Return the number of a text that has exactly one."""
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        return None
    value = float(numbers[0].replace(",", ""))
    return int(value) if value.is_integer() else None if whole else value


def _is_valid(field: SchemaField, value: object) -> bool:
    """Whether a value keeps what the schema says of it."""
    if value is None:
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (field.minimum is None or value >= field.minimum) and (
            field.maximum is None or value <= field.maximum
        )
    return not (field.pattern and isinstance(value, str)) or re.search(field.pattern, str(value)) is not None
