"""What commands share: options, settings, an open engine, standard input and a question before something is lost."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.output import harmless

if TYPE_CHECKING:  # a command's help loads neither
    from perdure.engine import Perdure
    from perdure.settings import Settings

    Memory = Perdure
else:
    Memory = Any

DEFAULT_BANK = "default"


def filled(param: typer.CallbackParam, value: str | list[str] | None) -> str | list[str] | None:
    """Return the value of an option; raise InvalidInput if it is blank, as that of an unset shell variable is."""
    for part in [value] if isinstance(value, str) else value or ():
        if not part.strip():
            raise InvalidInput(param.opts[0], "non-empty text", part)
    return value


Database = Annotated[
    str | None,
    typer.Option(
        "--database", "-d", metavar="FILE", help="Database file or URL [setting database: perdure.db]"
    ),
]
BankName = Annotated[str, typer.Option("--bank", "-b", metavar="BANK", help="Memory bank")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag; may be repeated", callback=filled)
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")]


def load_settings(database: str | None = None, **overrides: Any) -> Settings:
    """Return the settings in force; raise InvalidInput that names a wrong one, or an unknown name in perdure.toml."""
    settings = settings_in_force(database, **overrides)
    for name in unknown_names():
        raise InvalidInput("perdure.toml", "names of settings; `perdure config` lists them", name)
    return settings


def settings_in_force(database: str | None = None, **overrides: Any) -> Settings:
    """Return the settings in force, whatever else perdure.toml names; raise InvalidInput that names a wrong one."""
    from tomllib import TOMLDecodeError

    from pydantic import ValidationError

    from perdure.settings import Settings

    if database is not None:
        overrides["database"] = database
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"setting {name.lower()}", first["msg"], first["input"]) from error
    except TOMLDecodeError as error:
        raise InvalidInput("perdure.toml", f"valid TOML: {error}") from error
    return settings.model_copy(update={"database": _in_full(settings.database)})


def unknown_names() -> list[str]:
    """Names in perdure.toml that no setting has: misspelt ones, which have no effect."""
    from perdure.settings import Settings, setting_origins

    return [name for name in setting_origins() if name not in Settings.model_fields]


def _in_full(database: str) -> str:
    """Return the database with `~` expanded, which no shell does in a settings file or a client's configuration."""
    return str(Path(database).expanduser()) if database.startswith("~") else database


def database_file(settings: Settings) -> Path | None:
    """Return the file that holds the memory, None for a server's URL."""
    path = settings.database.removeprefix("sqlite:///")
    return None if "://" in path else Path(path)


@contextmanager
def memory(database: str | None, *, must_exist: bool = False, **overrides: Any) -> Iterator[Perdure]:
    """Open a memory; with `must_exist` raise NotFound instead of making an empty database."""
    settings = load_settings(database, **overrides)
    logging.basicConfig(
        level=settings.log_level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    file = database_file(settings)
    if must_exist and file is not None and not file.exists():
        raise NotFound("database", str(file))
    from perdure.engine import Perdure

    with Perdure.open(settings=settings) as engine:
        yield engine


@contextmanager
def reading(database: str | None, bank: str, **overrides: Any) -> Iterator[Perdure]:
    """Open a memory whose database and bank both exist."""
    with memory(database, must_exist=True, **overrides) as engine:
        engine.banks.get(bank)
        yield engine


def read_text(argument: str) -> str:
    """Return the argument itself, or standard input for `-`."""
    return read_stdin() if argument == "-" else argument


def read_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInput("standard input", "UTF-8 text") from error


def confirm(question: str, yes: bool) -> None:
    """Go on only if somebody says yes; where nobody can be asked, `--yes` must say so."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("--yes", "this option, as nobody can be asked here")
    typer.confirm(harmless(question), abort=True, err=True)
