"""Whether the fields of a domain object hold what their types say, for objects made from what somebody wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from perdure.errors import InvalidInput

T = TypeVar("T")


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _are_texts(values: Iterable[Any]) -> bool:
    return all(map(_is_text, values))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts(value) and _are_texts(value.values())


def _is_weighing(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts(value) and all(map(_is_number, value.values()))


def _are_finite(views: Mapping[str, Any]) -> bool:
    return all(bool(np.isfinite(vector).all()) for vector in views.values())


_FORMS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("text", _is_text),
    "str | None": ("text", lambda value: value is None or _is_text(value)),
    "int": ("an integer", _is_integer),
    "float": ("a number", _is_number),
    "float | None": ("a number", lambda value: value is None or _is_number(value)),
    "tuple[str, ...]": ("texts", _are_texts),
    "frozenset[str]": ("texts", _are_texts),
    "Mapping[str, str]": ("texts by name", _is_mapping),
    "Mapping[str, float]": ("numbers by name", _is_weighing),
    "Mapping[str, Vector]": ("vectors of finite numbers", _are_finite),
}
"""What a field holds, by its annotation."""


def validate_fields(item: T) -> T:
    """The dataclass object itself; raises InvalidInput naming the first field that holds something else."""
    for field in fields(item):  # type: ignore[arg-type]
        expected, holds = _FORMS.get(str(field.type), ("", None))
        value = getattr(item, field.name)
        if holds is not None and not holds(value):
            raise InvalidInput(field.name, expected, value)
    return item
