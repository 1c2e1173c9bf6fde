"""`perdure import`: an exported bank, or what other programs keep."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Annotated

import typer

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.draw import draw_done
from perdure.surfaces.cli.output import progress, tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Tags,
    database_file,
    filled,
    load_settings,
    memory,
)

if TYPE_CHECKING:  # a command's help loads none of it
    from perdure.engine import Perdure

OWN = "perdure"


def import_(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[SOURCE] PATH",
            help="A file, folder, ZIP archive or server's address; before it the kind of source [auto]: perdure, chatgpt, "
            "claude, claude-code, codex, obsidian, markdown, basic-memory, server-memory, mem0, hindsight, graphiti, letta, "
            "mempalace, whatsapp, slack, mbox",
        ),
    ],
    bank: BankName = DEFAULT_BANK,
    user: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Name of the user in chats", callback=filled)
    ] = None,
    tags: Tags = None,
    split: Annotated[
        bool, typer.Option("--split", help="A bank per user, project or group of the source: BANK.NAME")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read everything, write nothing")] = False,
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="Key of the server", envvar="HINDSIGHT_API_KEY")
    ] = "",
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Import an exported bank into an empty one, or what other programs keep into any; again, only what has changed."""
    source, path = _arguments(what)
    if source == OWN or (source == "auto" and _is_own(path)):
        _import_bank(path, bank, database, as_json, dry_run)
        return
    from perdure.manage.importers import open_source

    open_source(path, source, key=key).close()  # before a database is made for what cannot be read
    with _target(database, dry_run) as engine, progress(quiet=as_json) as show:
        report = engine.banks.import_from(
            bank, path, source=source, user=user, tags=tags or (), split=split, dry_run=dry_run, key=key,
            progress=lambda at: show(at.stage, at.documents, at.total, at.document_id),
        )  # fmt: skip
    skipped = [f"skipped {part.path}: {part.reason}" for part in report.skipped]
    tell(as_json, report, lambda shown: draw_done(shown, str(report), skipped, report.skipped_total))


@contextmanager
def _target(database: str | None, dry_run: bool) -> Iterator[Perdure]:
    """Open the memory to import into; a dry run into a file that does not exist makes none there."""
    file = database_file(load_settings(database))
    if not dry_run or file is None or file.exists():
        with memory(database) as engine:
            yield engine
        return
    with TemporaryDirectory() as folder, memory(str(Path(folder) / "empty.db")) as engine:
        yield engine


def _arguments(what: list[str]) -> tuple[str, str]:
    """Kind of source and path."""
    if len(what) > 2:
        raise InvalidInput("import", "[SOURCE] PATH", what)
    return ("auto", what[0]) if len(what) == 1 else (what[0], what[1])


def _is_own(path: str) -> bool:
    """Whether it is a bank that `perdure export` wrote; standard input is nothing else."""
    if path == "-":
        return True
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        head = file.readline(65_536)
    try:
        first = json.loads(head)
    except (ValueError, RecursionError):
        return b'"perdure-bank"' in head
    return isinstance(first, dict) and first.get("format") == "perdure-bank"


def _import_bank(file: str, bank: str, database: str | None, as_json: bool, dry_run: bool) -> None:
    if dry_run:
        raise InvalidInput(
            "--dry-run", "a source of another program; an exported bank comes whole or not at all"
        )
    if file != "-" and not Path(file).is_file():
        raise NotFound("file", file)
    from perdure.manage.transfer import bounded_lines

    try:
        with memory(database) as engine, _origin(file) as origin:
            count = engine.banks.restore(bank, bounded_lines(origin))
    except UnicodeDecodeError as error:
        raise InvalidInput("file", "an exported bank, in UTF-8", file) from error
    tell(as_json, {"bank": bank, "facts": count}, f"imported {count:,} facts into bank {bank}")


@contextmanager
def _origin(file: str) -> Iterator[IO[str]]:
    if file == "-":
        yield sys.stdin
    else:
        with Path(file).open(encoding="utf-8") as origin:
            yield origin
