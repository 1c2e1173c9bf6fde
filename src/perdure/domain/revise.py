"""Copies of frozen objects with some fields changed, for where hundreds are made in one recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")

_new = object.__new__
_set = object.__setattr__


def revised(item: T, **changes: object) -> T:
    """`dataclasses.replace` for frozen slotted types that check nothing when made, in a third of its time."""
    kind: Any = type(item)
    read, setters = _slots(kind)
    copy: T = _new(kind)
    for put, value in zip(setters, read(item), strict=True):
        put(copy, value)
    for name, value in changes.items():
        _set(copy, name, value)
    return copy


@cache
def _slots(kind: Any) -> tuple[Callable[[object], tuple[object, ...]], tuple[Callable[..., None], ...]]:
    """What reads all fields of a type, and what sets each."""
    names = [field.name for field in fields(kind)]
    return attrgetter(*names), tuple(vars(kind)[name].__set__ for name in names)
