"""Structured output: each property of a response schema is asked for separately and filled from what is cited, null if memory has nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.item import check_text
from perdure.domain.rendering import one_line
from perdure.errors import InvalidInput
from perdure.reflect.reflection import Reflection
from perdure.text.terms import index_terms

TYPES = ("string", "number", "integer", "boolean", "array", "object")
MAX_FIELDS = 32
MAX_DEPTH = 4
MAX_ITEMS = 5
_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (Mapping,),
}  # fmt: skip
_ANSWERS = frozenset({"answer", "text", "summary", "result", "response"})
"""Names of properties that stand for the answer itself."""
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
    """The values that `enum` or `const` allow."""
    pattern: str = ""
    date_format: str = ""
    """`date` or `date-time`."""
    minimum: float | None = None
    maximum: float | None = None


def read_schema(schema: object, path: str = "response_schema") -> tuple[SchemaField, ...]:
    """Return the properties of an object schema. Raise `InvalidInput` with the place that cannot be read."""
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
    """Return the first of `anyOf` or `oneOf` that is not null, else the schema itself."""
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


def check_value(field: SchemaField, value: object, path: str) -> object:
    """Return a value that satisfies the schema, with null for what is missing. Raise `InvalidInput` if it does not."""
    if value is None:
        return None
    kinds = _KINDS[field.kind]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise InvalidInput(path, f"{field.kind} or null")
    if field.choices and value not in field.choices:
        raise InvalidInput(path, "one of " + ", ".join(map(str, field.choices)))
    if isinstance(value, Mapping):
        return check_object(field.fields, value, path) if field.fields else value
    if isinstance(value, list):
        item = _item(field)
        return [check_value(item, one, f"{path}[{place}]") for place, one in enumerate(value)]
    if isinstance(value, str):
        if field.pattern and re.search(field.pattern, value) is None:
            raise InvalidInput(path, f"a text that matches {field.pattern}")
        if field.date_format and not _is_moment(value):
            raise InvalidInput(path, f"a {field.date_format} as in ISO 8601")
    elif isinstance(value, int | float):
        low, high = field.minimum, field.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise InvalidInput(path, f"a number from {low} to {high}")
    return value


def check_object(fields: Sequence[SchemaField], value: object, path: str) -> dict[str, object]:
    """Return the object with the properties of the schema. Raise `InvalidInput` with the place that does not satisfy it."""
    if not isinstance(value, Mapping):
        raise InvalidInput(path, "an object")
    return {field.name: check_value(field, value.get(field.name), f"{path}.{field.name}") for field in fields}


def _item(field: SchemaField) -> SchemaField:
    return field.item or SchemaField(name=field.name, kind="string")


def _is_moment(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def fill_schema(
    fields: Sequence[SchemaField], query: str, ask: Callable[[str], Reflection]
) -> dict[str, object] | None:
    """Return the object, each property from an answer of its own; None if memory fills none of it."""
    output = {field.name: _fill(field, query, ask) for field in fields}
    return output if any(value is not None for value in output.values()) else None


def _fill(field: SchemaField, query: str, ask: Callable[[str], Reflection]) -> object:
    if field.kind == "object" and field.fields:
        return fill_schema(field.fields, query, ask)
    reflection = ask(question_of(field, query))
    texts = [one_line(source.fact.text) for source in reflection.based_on[:MAX_ITEMS]]
    if field.kind == "array":
        values = (_scalar(_item(field), reflection, text) for text in texts)
        return [value for value in values if value is not None] or None
    return _scalar(field, reflection, reflection.answer or next(iter(texts), ""))


def question_of(field: SchemaField, query: str) -> str:
    """Return the question that a property stands for: its description if that is one, else its name next to the query."""
    description = " ".join(field.description.split())
    if description.endswith("?"):
        return description
    if field.name.lower() in _ANSWERS:
        return query
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", field.name).replace("_", " ").replace("-", " ").lower()
    return " ".join(filter(None, (f"{words}:", query, description)))


def _scalar(field: SchemaField, reflection: Reflection, text: str) -> object:
    """Return the value that a text has for a property, null if it has none or not a valid one."""
    value: object = text if field.kind == "string" and text else None
    if field.choices:
        terms = index_terms(text).keys()
        said = [one for one in field.choices if (own := index_terms(str(one)).keys()) and own <= terms]
        value = said[0] if len(said) == 1 else None
    elif field.date_format:
        source = next(iter(reflection.based_on), None)
        start = None if source is None or source.fact.has_unsure_date else source.fact.occurred_start
        value = start and (start.date() if field.date_format == "date" else start).isoformat()
    elif field.kind in ("number", "integer"):
        value = _number(text, whole=field.kind == "integer")
    try:
        return check_value(field, value, field.name)
    except InvalidInput:
        return None


def _number(text: str, *, whole: bool) -> int | float | None:
    """Return the number of a text that has exactly one."""
    numbers = _NUMBER.findall(text)
    value = float(numbers[0].replace(",", "")) if len(numbers) == 1 else None
    return int(value) if value is not None and value.is_integer() else None if whole else value
