"""Options and arguments on the command line, from the declarations of options and the signatures of verbs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer

from perdure.domain.options import FlatOption, Options, Surface, flat_options, read_flat
from perdure.domain.time import AsOf, parse_instant, read_as_of
from perdure.errors import InvalidInput
from perdure.surfaces.cli.session import filled

COLLECTIONS = (tuple, frozenset, Sequence, Collection)


@dataclass(frozen=True, slots=True)
class Typed:
    """How a type is typed at a shell."""

    kind: Any
    """What typer reads: bool, int, float, str or a list of texts."""
    is_mapping: bool = False
    """Whether each text is KEY=VALUE."""
    whole: Any = None
    """The type of the value that is read from the texts, where it differs."""
    is_json: bool = False
    """Whether each text is an object in JSON."""

    @classmethod
    def of(cls, annotation: Any) -> Typed | None:
        """Return how a type is typed, or None for what a shell has no words for."""
        kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
        for kind in kinds:
            if kind in (bool, int, float, str):
                return cls(kind)
            if kind in (AsOf, datetime, date):
                return cls(str, whole=kind)
            if isinstance(kind, type) and issubclass(kind, StrEnum):
                return cls(str)
            if get_origin(kind) in COLLECTIONS:
                return cls(list[str], is_json=get_origin(get_args(kind)[0]) is Mapping)
            if get_origin(kind) is Mapping:
                return cls(list[str], is_mapping=True, whole=dict if get_args(kind)[1] is str else None)
            if isinstance(kind, type) and is_dataclass(kind):
                return cls(list[str], is_mapping=True, whole=kind)
        return None

    def read(self, value: Any, flag: str) -> Any:
        """Return the value that was typed; raise InvalidInput that names the flag."""
        if self.is_mapping:
            pairs = _read_pairs(value, flag, as_text=self.whole is dict)
            return pairs if self.whole in (dict, None) else self.whole(**pairs)
        if self.whole is AsOf:
            return read_as_of(value, flag)
        if self.whole in (datetime, date):
            moment = parse_instant(value, flag)
            return moment.date() if moment is not None and self.whole is date else moment
        return value


def _read_pairs(pairs: Sequence[str], flag: str, *, as_text: bool) -> dict[str, Any]:
    """Return KEY=VALUE texts as a mapping, in which a value that is JSON is read as such."""
    read = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise InvalidInput(flag, "KEY=VALUE", pair)
        read[key] = value if as_text else _read_json(value)
    return read


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def options_parameters(kind: type[Options], without: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return the parameters of a command that stand for the options of a class."""
    return [_parameter(flat, changes_of(kind)) for flat in _flat(kind, without).values()]


def read_options(kind: type[Options], arguments: dict[str, Any], without: Collection[str] = ()) -> Any:
    """Take the options of a class out of a command's arguments: an object of it, or the changes that are given."""
    flat = _flat(kind, without)
    values = {name: arguments.pop(name) for name in flat}
    given = {name: value for name, value in values.items() if value not in (None, [])}
    for name in given:
        typed = _typed(flat[name])
        if typed.is_mapping:
            as_text = typed.whole is dict
            given[name] = _read_pairs(given[name], flag_of(flat[name]), as_text=as_text)
        elif typed.is_json:
            given[name] = [_read_json(text) for text in given[name]]
    if changes_of(kind):
        return _nested(flat, given)
    return read_flat(
        kind, given, Surface.CLI, spell=lambda name: flag_of(flat[name]) if name in flat else name
    )


def _nested(flat: Mapping[str, FlatOption], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes by the names that the verb knows: what belongs to a group below the name of the group."""
    changes: dict[str, Any] = {}
    for name, value in given.items():
        group = flat[name].group
        place = changes if group is None else changes.setdefault(group, {})
        place[flat[name].option.name] = value
    return changes


def changes_of(kind: type[Options]) -> bool:
    """Return whether a class says what may be changed, so that options that are not given change nothing."""
    return kind.__name__.endswith("Changes")


def _flat(kind: type[Options], without: Collection[str]) -> dict[str, FlatOption]:
    return {one.name: one for one in flat_options(kind, Surface.CLI) if one.name not in without}


def _typed(flat: FlatOption) -> Typed:
    return Typed.of(flat.option.kind) or Typed(str)


def flags(flat: FlatOption) -> Iterator[str]:
    """Yield the spellings of an option: the long one, then a short one where it has one."""
    declared = flat.option.flag
    long = declared if declared.startswith("--") else long_flag(flat.name, _typed(flat))
    switches_off = flat.option.default is True and "/" not in long
    yield f"{long}/--no-{long.removeprefix('--')}" if switches_off else long
    if declared and not declared.startswith("--"):
        yield declared


def flag_of(flat: FlatOption) -> str:
    """Return how an option is spelled, for errors."""
    return next(flags(flat)).partition("/")[0]


def long_flag(name: str, typed: Typed) -> str:
    """Return the spelling of a name; that of a list is in the singular, as each element has a flag of its own."""
    several = typed.kind == list[str] and name.endswith("s")
    return "--" + (name.removesuffix("s") if several else name).replace("_", "-")


def _parameter(flat: FlatOption, changes: bool) -> inspect.Parameter:
    declared, typed = flat.option, _typed(flat)
    spellings = tuple(flags(flat))
    several = typed.kind == list[str]
    settings: dict[str, Any] = {
        "help": declared.description.rstrip(".") + ("; may be repeated" if several else "")
    }
    default: Any = None if changes else declared.default
    if typed.kind in (int, float):
        settings |= {"min": declared.at_least, "max": declared.at_most, "metavar": "N"}
    elif typed.kind is not bool:
        settings |= {"callback": filled, "metavar": metavar(spellings[0], typed)}
        default = None if several or default in (None, "") else str(default)
    taken: Any = typed.kind if default is not None else typed.kind | None
    return keyword(flat.name, Annotated[taken, typer.Option(*spellings, **settings)], default)


def keyword(name: str, annotation: Any, default: object = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def metavar(flag: str, typed: Typed) -> str:
    """Return what help shows in the place of a value."""
    if typed.is_mapping:
        return "KEY=VALUE"
    return "TIME" if typed.whole is not None else flag.lstrip("-").upper().replace("-", "_")
