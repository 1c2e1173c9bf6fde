"""Conversion of stored objects to plain JSON values and back, with checks by type."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import numpy as np

from perdure.domain.bank import Disposition, EmbeddingModel
from perdure.domain.fact import FactType, LinkKind, Tier, TurnSpan
from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput
from perdure.ports.embedder import Vector

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def plain_fields(item: DataclassInstance) -> dict[str, object]:
    """Return all fields of an object as JSON values, defaults included, so that files explain themselves."""
    return {field.name: to_plain(getattr(item, field.name)) for field in fields(item)}


def to_plain(value: object) -> object:
    """Convert objects, dates, sets, bytes and vectors to JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain_fields(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return to_plain(np.asarray(value, dtype="<f4").tobytes())
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def from_plain(kind: type[T], body: Mapping[str, object], /, **own: object) -> T:
    """Build an object from plain values and from finished fields; raise `InvalidInput` for the first wrong one."""
    types = field_types(kind)
    unknown = sorted(body.keys() - types.keys())
    if unknown:
        raise InvalidInput(unknown[0], "one of " + ", ".join(sorted(types)))
    read = {name: read_field(name, types[name], value) for name, value in body.items() if name not in own}
    return kind(**{**read, **own})


def field_types(kind: type[object]) -> Mapping[str, object]:
    if kind not in _FIELD_TYPES:
        _FIELD_TYPES[kind] = get_type_hints(kind)
    return _FIELD_TYPES[kind]


_FIELD_TYPES: dict[type[object], Mapping[str, object]] = {}
"""Cache: finding the types takes longer than reading an object."""


def read_field(name: str, of_type: object, value: object) -> object:
    """Return the value of a field; raise `InvalidInput` if it is of another type."""
    form = _FORMS[of_type]
    try:
        read = form.read(value)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise InvalidInput(name, form.expected, value) from error
    if not form.fits(read):
        raise InvalidInput(name, form.expected, value)
    return read


@dataclass(frozen=True, slots=True)
class _Form:
    """How a field of some type is read from JSON."""

    expected: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], Any] = lambda value: value


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


def _are_texts_by_name(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts(value) and _are_texts(value.values())


def _are_numbers_by_name(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts(value) and all(map(_is_number, value.values()))


def _are_finite(views: Mapping[str, Any]) -> bool:
    return all(bool(np.isfinite(vector).all()) for vector in views.values())


def _always(_: Any) -> bool:
    return True


def _or_none(check: Callable[[Any], Any], otherwise: Any) -> Callable[[Any], Any]:
    return lambda value: otherwise if value is None else check(value)


def _listed(values: Iterable[Any]) -> Iterable[Any]:
    """Reject a bare string, which would be read as a list of letters."""
    if isinstance(values, str):
        raise TypeError("a list")
    return values


def _vector(data: str) -> Any:
    return np.frombuffer(base64.b64decode(data), dtype="<f4").astype(np.float32)


_FORMS: Mapping[object, _Form] = {
    str: _Form("text", _is_text),
    str | None: _Form("text", _or_none(_is_text, True)),
    int: _Form("an integer", _is_integer),
    float: _Form("a number", _is_number),
    float | None: _Form("a number", _or_none(_is_number, True)),
    datetime | None: _Form("an ISO 8601 date or datetime", _always, lambda value: parse_instant(value, "")),
    tuple[str, ...]: _Form("a list of texts", _are_texts, lambda values: tuple(_listed(values))),
    frozenset[str]: _Form("a list of texts", _are_texts, lambda values: frozenset(_listed(values))),
    tuple[tuple[str, str], ...]: _Form(
        "a list of pairs of texts",
        lambda pairs: all(len(pair) == 2 and _are_texts(pair) for pair in pairs),
        lambda pairs: tuple(tuple(_listed(pair)) for pair in _listed(pairs)),
    ),
    tuple[datetime, ...]: _Form("dates", _always, lambda values: tuple(map(datetime.fromisoformat, values))),
    bool: _Form("true or false", lambda value: isinstance(value, bool)),
    Mapping[str, object]: _Form("values by name", lambda value: isinstance(value, Mapping)),
    Mapping[str, str]: _Form("texts by name", _are_texts_by_name),
    Mapping[str, float]: _Form("numbers by name", _are_numbers_by_name),
    bytes: _Form("bytes in base64", _always, base64.b64decode),
    Mapping[str, Vector]: _Form(
        "vectors of finite numbers in base64",
        _are_finite,
        lambda views: {view: _vector(data) for view, data in views.items()},
    ),
    FactType: _Form("one of " + ", ".join(FactType), _always, FactType),
    Tier: _Form("one of " + ", ".join(Tier), _always, Tier),
    LinkKind: _Form("one of " + ", ".join(LinkKind), _always, LinkKind),
    Disposition: _Form("a disposition", _always, lambda body: from_plain(Disposition, body)),
    EmbeddingModel | None: _Form(
        "a model", _always, _or_none(lambda body: from_plain(EmbeddingModel, body), None)
    ),
    tuple[TurnSpan, ...]: _Form(
        "turns", _always, lambda spans: tuple(from_plain(TurnSpan, span) for span in spans)
    ),
}
"""By the type of a field; a field of a type without an entry fails every test that reads one."""


def check_count(field: str, value: object) -> None:
    """Raise `InvalidInput` unless the value is an integer of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(field, "a number from 0 on", value)
