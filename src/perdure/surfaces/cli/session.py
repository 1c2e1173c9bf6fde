"""What every command needs: settings, an open engine, and times from text."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perdure.domain.time import Window, parse_instant
from perdure.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from perdure.engine import Perdure
    from perdure.settings import Settings

DEFAULT_BANK = "default"
_DATE_ONLY = len("2025-01-31")
_DAY = timedelta(days=1)
_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)
"""Nothing comes after it: as an end it is no bound."""


def load_settings(database: str | None = None, **overrides: Any) -> Settings:
    """The settings in force; a wrong one is named, and so is a name in perdure.toml that no setting has."""
    settings = settings_in_force(database, **overrides)
    for name in unknown_names():
        raise InvalidInput("perdure.toml", "names of settings; `perdure config` lists them", name)
    return settings


def settings_in_force(database: str | None = None, **overrides: Any) -> Settings:
    """The settings in force, whatever else perdure.toml names; a wrong one is named."""
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
    """The database with `~` written out, which no shell does inside a settings file or a client's configuration."""
    return str(Path(database).expanduser()) if database.startswith("~") else database


def database_file(settings: Settings) -> Path | None:
    """The file that holds the memory, None for a server's URL."""
    path = settings.database.removeprefix("sqlite:///")
    return None if "://" in path else Path(path)


@contextmanager
def memory(database: str | None, *, must_exist: bool = False, **overrides: Any) -> Iterator[Perdure]:
    """An open engine; commands that only read want a database that exists, instead of making an empty one."""
    settings = load_settings(database, **overrides)
    logging.basicConfig(
        level=settings.log_level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    file = database_file(settings)
    if must_exist and file is not None and not file.exists():
        raise NotFound("database", str(file))
    from perdure.engine import Perdure
    from perdure.models.blas import limit_blas_threads

    limit_blas_threads(settings.blas_threads)
    with Perdure.open(settings=settings) as engine:
        yield engine


@contextmanager
def reading(database: str | None, bank: str, **overrides: Any) -> Iterator[Perdure]:
    """An open engine whose database and bank both exist."""
    with memory(database, must_exist=True, **overrides) as engine:
        engine.bank(bank)
        yield engine


def read_window(since: str | None, until: str | None) -> Window | None:
    """The time between two options; a bare date as the end takes in that whole day."""
    start, end = parse_instant(since, "--since"), parse_instant(until, "--until")
    if start is not None and end is not None and start > end:
        raise InvalidInput("--since", f"a date not after --until ({until})", since)
    if end is not None and until is not None and len(until.strip()) == _DATE_ONLY:
        end = end + _DAY if end < _LAST_DAY else None
    return Window(start, end) if start is not None or end is not None else None


def read_moment(text: str | None, option: str) -> datetime | None:
    """An ISO 8601 option as a moment."""
    return parse_instant(text, option)


def read_text(argument: str) -> str:
    """The argument itself, or standard input for `-`."""
    return read_stdin() if argument == "-" else argument


def read_stdin() -> str:
    """All of standard input."""
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInput("standard input", "UTF-8 text") from error
