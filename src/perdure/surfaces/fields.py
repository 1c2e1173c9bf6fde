"""Options of a verb as fields of pydantic models: bodies of Perdure's own REST paths and arguments of MCP tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING
from datetime import datetime
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from perdure.domain.options import Option, Options, Surface, options_of
from perdure.domain.time import AsOf, Window


def read_json(value: object) -> object:
    """Return what a text says in JSON: models often write a list or an object as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def read_names(value: object) -> object:
    """Return a list, one that is written as text, or one name alone."""
    read = read_json(value)
    return [value] if isinstance(value, str) and not isinstance(read, list) else read


Names = Annotated[list[str], BeforeValidator(read_names)]
Moments = dict[str, str | None]
"""Moments by name: `valid` and `known`, or `start` and `end`."""


def body_of(kind: type[Options]) -> type[BaseModel]:
    """Return the model of a REST body with the options of a class."""
    fields: dict[str, Any] = {one.name: field_of(one, Surface.REST) for one in options_of(kind, Surface.REST)}
    return create_model(kind.__name__, __doc__=kind.__doc__, __config__=ConfigDict(extra="forbid"), **fields)


def field_of(declared: Option, surface: Surface, default: object = MISSING) -> tuple[Any, Any]:
    """Return an option as (annotation, field); `default` stands in for the declared one."""
    default = declared.default if default is MISSING else default
    kind = _json_type(declared, surface)
    if isinstance(default, Options) or default in ((), {}, frozenset(), "") or isinstance(default, AsOf):
        default = None
    described: dict[str, Any] = {"description": declared.description}
    if declared.kind in (int, float):
        described |= {"ge": declared.at_least, "le": declared.at_most}
    annotation = kind | None if default is None or declared.nullable else kind
    return annotation, Field(... if default is MISSING else default, **described)


def _json_type(declared: Option, surface: Surface) -> Any:
    """Return the type that an option has in JSON."""
    kind = declared.kind
    if declared.group is not None:
        return body_of(declared.group)
    if kind in (bool, int, float):
        return kind
    if declared.is_collection:
        return Names if get_args(kind)[0] is str or declared.choices else list[dict[str, Any]]
    if kind is AsOf:
        return str | Moments if surface is Surface.REST else str
    if kind is Window:
        return Moments
    if get_origin(kind) is Mapping:
        return dict[str, Any] if kind != Mapping[str, str] else dict[str, str]
    if declared.choices:
        return Literal[tuple(str(name) for name in declared.choices)]
    return str if kind in (str, datetime) or str in get_args(kind) else Any
