"""The options of a verb on the command line, from their declaration."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from perdure.domain.options import FlatOption, Options, Surface, flat_options, read_flat
from perdure.domain.time import AsOf
from perdure.surfaces.cli.session import filled

Command = Callable[..., None]


def with_options(kind: type[Options], *, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the options of a class, read as its argument `options`."""
    flat = {one.name: one for one in flat_options(kind, Surface.CLI) if one.name not in without}

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def run(**arguments: Any) -> None:
            values = {name: arguments.pop(name) for name in flat}
            given = {name: value for name, value in values.items() if value not in (None, [])}
            command(
                **arguments, options=read_flat(kind, given, Surface.CLI, spell=lambda name: _flag(flat, name))
            )

        parameters: list[inspect.Parameter] = []
        for name, parameter in own.parameters.items():
            parameters += map(_parameter, flat.values()) if name == "options" else [parameter]
        keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        run.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
        return run

    return decorate


def flags(flat: FlatOption) -> Iterator[str]:
    """Yield the spellings of an option: the long one, then a short one where it has one."""
    declared = flat.option.flag
    long = declared if declared.startswith("--") else f"--{flat.name.replace('_', '-')}"
    yield f"{long}/--no-{long.removeprefix('--')}" if flat.option.default is True else long
    if declared and not declared.startswith("--"):
        yield declared


def _flag(flat: dict[str, FlatOption], name: str) -> str:
    """Return how an option is spelled, for errors; what is no option is named as it is."""
    return next(flags(flat[name])).partition("/")[0] if name in flat else name


def _parameter(flat: FlatOption) -> inspect.Parameter:
    declared = flat.option
    spellings = tuple(flags(flat))
    repeated = "; may be repeated" if declared.is_collection else ""
    settings: dict[str, Any] = {"help": declared.description.rstrip(".") + repeated}
    kind: Any = declared.kind
    default: Any = declared.default
    if kind is int:
        settings |= {"min": declared.at_least, "max": declared.at_most, "metavar": "N"}
    elif kind is not bool:
        settings |= {"callback": filled, "metavar": _metavar(kind, spellings[0])}
        kind = list[str] if declared.is_collection else str
        default = None if declared.is_collection or default is None else str(default)
    taken: Any = kind if default is not None else kind | None
    annotation = Annotated[taken, typer.Option(*spellings, **settings)]
    return inspect.Parameter(
        flat.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _metavar(kind: object, flag: str) -> str:
    return "TIME" if kind in (datetime, AsOf) else flag.removeprefix("--").upper().replace("-", "_")
