"""Frozen objects made by the hundred in one recall: copies with some fields changed, and many from columns.

To set a field of a frozen object costs ten times as much as to set that of another. So they are made as objects of
a twin type, which has the same slots and can be written, and become frozen when they are whole. That is for slotted
types whose values need no checking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


def revised(item: T, **changes: object) -> T:
    """`dataclasses.replace` in a sixth of its time."""
    kind: Any = type(item)
    read, places, twin = _form(kind)
    values = list(read(item))
    for name, value in changes.items():
        values[places[name]] = value
    copy = twin(*values)
    copy.__class__ = kind
    return copy  # type: ignore[no-any-return]


def made(kind: type[T], **columns: Iterable[Any]) -> list[T]:
    """Objects of which each takes the next value of every column, until one ends; other fields have their defaults."""
    form: Any = kind
    twin, order = _filled(form, frozenset(columns))
    items = list(map(twin, *(columns[name] for name in order)))
    for item in items:
        item.__class__ = form
    return items


@cache
def _form(kind: Any) -> tuple[Callable[[object], tuple[object, ...]], Mapping[str, int], Any]:
    """What reads all fields of a type, their places, and the twin that takes them all."""
    names = [one.name for one in fields(kind)]
    twin, _ = _filled(kind, frozenset(names))
    return attrgetter(*names), {name: place for place, name in enumerate(names)}, twin


@cache
def _filled(kind: Any, given: frozenset[str]) -> tuple[Any, Sequence[str]]:
    """A twin that takes the given fields and fills in the rest, and their order; to make one takes milliseconds."""
    own = {one.name: one for one in fields(kind)}
    order = [name for name in own if name in given]
    unknown = given - own.keys()
    lacking = {name for name, one in own.items() if name not in given and not _has_default(one)}
    if unknown or lacking:
        raise KeyError(*sorted(unknown | lacking))
    slots = [
        (name, Any, field())
        if name in given
        else (name, Any, field(init=False, default=one.default))
        if one.default is not MISSING
        else (name, Any, field(init=False, default_factory=one.default_factory))
        for name, one in own.items()
    ]
    return make_dataclass("Draft", slots, slots=True), order


def _has_default(one: Any) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING
