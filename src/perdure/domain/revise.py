"""Copies of frozen objects with some fields changed, for where hundreds are made in one recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, make_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


def revised(item: T, **changes: object) -> T:
    """`dataclasses.replace` for frozen slotted types that check nothing when made, in a sixth of its time."""
    kind: Any = type(item)
    read, places, draft = _form(kind)
    values = list(read(item))
    for name, value in changes.items():
        values[places[name]] = value
    copy = draft(*values)
    copy.__class__ = kind
    return copy  # type: ignore[no-any-return]


@cache
def _form(kind: Any) -> tuple[Callable[[object], tuple[object, ...]], Mapping[str, int], type[Any]]:
    """What reads all fields of a type, their places, and a type of the same slots that can be written.

    To set a field of a frozen object costs ten times as much as to set that of another.
    """
    names = [field.name for field in fields(kind)]
    places = {name: place for place, name in enumerate(names)}
    return attrgetter(*names), places, make_dataclass("Draft", names, slots=True)
