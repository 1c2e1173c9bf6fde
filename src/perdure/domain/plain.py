"""Objects as JSON values and back, and as records, by the declarations of their classes."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from perdure.domain.record import Record
from perdure.errors import DamagedRow, InvalidInput

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

log = logging.getLogger(__name__)
T = TypeVar("T")
RECORD_FIELDS = ("id", "bank", "created_at", "updated_at")
"""Fields that a record has itself; its body has the others."""


def to_plain(value: object) -> Any:
    """Convert objects, dates, paths, sets and bytes to JSON values, defaults included."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(part) for part in value]
    return b64encode(value).decode() if isinstance(value, bytes) else value


def from_plain(kind: type[T], value: object) -> T:
    """Build an object from JSON values; raise `InvalidInput` for the first wrong one."""
    try:
        plain = json.dumps(to_plain(value), allow_nan=False)
        return cast(T, _adapter(cast(Hashable, kind)).validate_json(plain, strict=True))
    except ValidationError as error:
        raise first_problem(error) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def first_problem(error: ValidationError) -> InvalidInput:
    """Return the first problem: the engine's own error, else the field and what was expected."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        return cause
    field = ".".join(str(step) for step in first["loc"])
    return InvalidInput(field or "arguments", f"something else: {first['msg']}")


def to_record(kind: str, item: DataclassInstance, **own: Any) -> Record:
    """Return the record that stores an object; `own` are fields of the record that the object lacks."""
    body = to_plain(item)
    for name in RECORD_FIELDS:
        if name in body:
            del body[name]
            own[name] = getattr(item, name)
    return Record(kind=kind, body=body, **own)


def from_record(kind: type[T], record: Record, **own: object) -> T:
    """Return the object of a record and of `own` fields. Raise `DamagedRow` if it is none."""
    stored = {name: getattr(record, name) for name in RECORD_FIELDS}
    try:
        return from_plain(kind, {**record.body, **stored, **own})
    except (TypeError, ValueError) as error:
        raise DamagedRow(record.kind, record.id) from error


def readable(
    records: Iterable[Record],
    read: Callable[[Record], T],
    unreadable: Callable[[Record], object] = lambda record: None,
) -> Iterator[T]:
    """Yield what `read` makes of records, without the damaged ones, which are logged and passed to `unreadable`."""
    for record in records:
        try:
            yield read(record)
        except (DamagedRow, LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
            log.warning(
                "record %s %r of bank %r cannot be read: %s", record.kind, record.id, record.bank, error
            )
            unreadable(record)
