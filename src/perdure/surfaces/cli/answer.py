"""Commands: functions that answer from an open memory. Their options, and those that all share, are added here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import typer

from perdure.domain.options import Options
from perdure.surfaces.cli import exits, session
from perdure.surfaces.cli.options import options_parameters, read_options
from perdure.surfaces.cli.output import tell

if TYPE_CHECKING:  # a command's help loads none of it
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command: a value as JSON for programs; for people a line, or what draws it."""

    value: Any
    shown: str | Callable[[Console], None]
    code: int = exits.OK


Function = Callable[..., Answer]
Command = Callable[..., None]


@overload
def command(function: Function) -> Command: ...


@overload
def command(
    *, options: type[Options] | None = None, without: Collection[str] = (), creates: bool = False
) -> Callable[[Function], Command]: ...


def command(
    function: Function | None = None,
    *,
    options: type[Options] | None = None,
    without: Collection[str] = (),
    creates: bool = False,
) -> Command | Callable[[Function], Command]:
    """Make a command of a function, which has the options --database and --json, and as many as it has arguments.

    Its argument `memory` is the open memory, `bank` the option --bank, and `options` stands for the options of a class,
    except those `without`: an object of the class, or of a class of changes the options that are given. The database and
    the bank must exist, unless the command `creates` them.
    """

    def decorate(function: Function) -> Command:
        own = inspect.signature(function, eval_str=True)

        @functools.wraps(function)
        def run(*, database: str | None = None, as_json: bool = False, **arguments: Any) -> None:
            if options is not None:
                arguments["options"] = read_options(options, arguments, without)
            opened: Any = nullcontext()
            if "memory" in own.parameters and creates:
                opened = session.memory(database)
            elif "memory" in own.parameters and arguments.get("bank") is not None:
                opened = session.reading(database, arguments["bank"])
            elif "memory" in own.parameters:
                opened = session.memory(database, must_exist=True)
            elif "database" in own.parameters:
                arguments["database"] = database
            with opened as memory:
                answer = function(**({"memory": memory} if memory is not None else {}), **arguments)
            tell(as_json, answer.value, answer.shown)
            if answer.code:
                raise typer.Exit(answer.code)

        parameters: list[inspect.Parameter] = []
        for name, parameter in own.parameters.items():
            if name == "options" and options is not None:
                parameters += options_parameters(options, without)
            elif name == "bank" and parameter.annotation is str:
                parameters.append(_parameter("bank", session.BankName, session.DEFAULT_BANK))
            elif name not in ("memory", "database"):
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        if {"memory", "database"} & own.parameters.keys():
            parameters.append(_parameter("database", session.Database, None))
        parameters.append(_parameter("as_json", session.AsJson, False))
        run.__signature__ = own.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
        return run

    return decorate if function is None else decorate(function)


def _parameter(name: str, annotation: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def group(summary: str) -> typer.Typer:
    """Return a command with subcommands, which shows its help when it is called alone."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True, help=summary)

    @app.callback(help=summary)
    def show_help(ctx: typer.Context) -> None:
        if ctx.invoked_subcommand is None:
            print(ctx.get_help())

    return app
