"""The object that a response schema asks for, as a model filled it: every property checked, values that nobody said left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from perdure.reflect.loop.tools import ToolRefused
from perdure.reflect.schema import SchemaField
from perdure.reflect.support import SourceText, unsaid


def read_structured(
    fields: Sequence[SchemaField], value: object, path: str = "structured"
) -> dict[str, object]:
    """The object with the properties of the schema, null where it has none; ToolRefused names what does not satisfy it."""
    if not isinstance(value, Mapping):
        raise ToolRefused(f"{path}: an object is expected")
    return {field.name: _read(field, value.get(field.name), f"{path}.{field.name}") for field in fields}


def _read(field: SchemaField, value: object, path: str) -> object:
    if value is None:
        return None
    if field.kind == "object":
        return read_structured(field.fields, value, path) if field.fields else value
    if field.kind == "array":
        if not isinstance(value, list):
            raise ToolRefused(f"{path}: an array is expected")
        item = field.item or SchemaField(name=field.name, kind="string")
        return [_read(item, one, f"{path}[{place}]") for place, one in enumerate(value)]
    if not _is_kind(field.kind, value):
        raise ToolRefused(f"{path}: {field.kind} or null is expected")
    if field.choices and value not in field.choices:
        raise ToolRefused(f"{path}: one of {', '.join(map(str, field.choices))} is expected")
    if isinstance(value, str):
        if field.pattern and re.search(field.pattern, value) is None:
            raise ToolRefused(f"{path}: a text that matches {field.pattern} is expected")
        if field.date_format and not _is_moment(value):
            raise ToolRefused(f"{path}: a {field.date_format} as in ISO 8601 is expected")
    elif not isinstance(value, bool) and isinstance(value, int | float):
        low, high = field.minimum, field.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise ToolRefused(f"{path}: a number within {low} and {high} is expected")
    return value


def _is_kind(kind: str, value: object) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)


def _is_moment(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def without_unsaid(
    fields: Sequence[SchemaField],
    value: Mapping[str, object],
    sources: Sequence[SourceText],
    notes: list[str],
) -> dict[str, object]:
    """The object with null in the place of numbers and names that no source has; choices of the schema stay."""
    return {field.name: _said(field, value.get(field.name), sources, notes) for field in fields}


def _said(field: SchemaField, value: object, sources: Sequence[SourceText], notes: list[str]) -> object:
    if value is None or isinstance(value, bool) or field.choices:
        return value
    if isinstance(value, Mapping):
        return without_unsaid(field.fields, value, sources, notes) if field.fields else dict(value)
    if isinstance(value, list):
        item = field.item or SchemaField(name=field.name, kind="string")
        parts = [_said(item, one, sources, notes) for one in value]
        return [part for part in parts if part is not None]
    missing = unsaid(str(value), sources, is_value=True)
    if missing:
        notes.append(f"{field.name} was left out: no source says {', '.join(missing)}")
        return None
    return value
