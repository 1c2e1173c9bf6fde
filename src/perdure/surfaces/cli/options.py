"""The options of a verb on the command line, from their declaration."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, get_origin

import typer

from perdure.domain.options import FlatOption, Options, Surface, flat_options, read_flat
from perdure.domain.time import AsOf
from perdure.errors import InvalidInput
from perdure.surfaces.cli.session import filled


def options_parameters(kind: type[Options], without: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return the parameters of a command that stand for the options of a class."""
    return [_parameter(flat, changes_of(kind)) for flat in _flat(kind, without).values()]


def read_options(kind: type[Options], arguments: dict[str, Any], without: Collection[str] = ()) -> Any:
    """Take the options of a class out of a command's arguments: an object of it, or the changes that are given."""
    flat = _flat(kind, without)
    values = {name: arguments.pop(name) for name in flat}
    given = {name: value for name, value in values.items() if value not in (None, [])}
    for name in given.keys() & {name for name, one in flat.items() if _is_mapping(one)}:
        given[name] = _read_pairs(given[name], _flag(flat, name))
    if changes_of(kind):
        return given
    return read_flat(kind, given, Surface.CLI, spell=lambda name: _flag(flat, name))


def changes_of(kind: type[Options]) -> bool:
    """Return whether a class says what may be changed, so that options that are not given change nothing."""
    return kind.__name__.endswith("Changes")


def _flat(kind: type[Options], without: Collection[str]) -> dict[str, FlatOption]:
    return {one.name: one for one in flat_options(kind, Surface.CLI) if one.name not in without}


def _is_mapping(flat: FlatOption) -> bool:
    return get_origin(flat.option.kind) is Mapping


def _read_pairs(pairs: Sequence[str], flag: str) -> dict[str, str]:
    """Return KEY=VALUE texts as a mapping."""
    for pair in pairs:
        if not pair.partition("=")[0].strip() or "=" not in pair:
            raise InvalidInput(flag, "KEY=VALUE", pair)
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def flags(flat: FlatOption) -> Iterator[str]:
    """Yield the spellings of an option: the long one, then a short one where it has one."""
    declared = flat.option.flag
    long = declared if declared.startswith("--") else f"--{flat.name.replace('_', '-')}"
    switches_off = flat.option.default is True and "/" not in long
    yield f"{long}/--no-{long.removeprefix('--')}" if switches_off else long
    if declared and not declared.startswith("--"):
        yield declared


def _flag(flat: dict[str, FlatOption], name: str) -> str:
    """Return how an option is spelled, for errors; what is no option is named as it is."""
    return next(flags(flat[name])).partition("/")[0] if name in flat else name


def _parameter(flat: FlatOption, changes: bool) -> inspect.Parameter:
    declared = flat.option
    spellings = tuple(flags(flat))
    several = declared.is_collection or _is_mapping(flat)
    help_text = declared.description.rstrip(".") + ("; may be repeated" if several else "")
    settings: dict[str, Any] = {"help": help_text}
    kind: Any = declared.kind
    default: Any = None if changes else declared.default
    if kind is int:
        settings |= {"min": declared.at_least, "max": declared.at_most, "metavar": "N"}
    elif kind is not bool:
        settings |= {"callback": filled, "metavar": _metavar(flat, spellings[0])}
        kind = list[str] if several else str
        default = None if several or default in (None, "") else str(default)
    taken: Any = kind if default is not None else kind | None
    annotation = Annotated[taken, typer.Option(*spellings, **settings)]
    return inspect.Parameter(
        flat.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _metavar(flat: FlatOption, flag: str) -> str:
    if _is_mapping(flat):
        return "KEY=VALUE"
    return (
        "TIME" if flat.option.kind in (datetime, AsOf) else flag.removeprefix("--").upper().replace("-", "_")
    )
