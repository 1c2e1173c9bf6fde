"""`perdure export` and `reembed`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.output import console, emit, tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, reading


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to write; standard output when left out")
    ] = None,
    bank: BankName = DEFAULT_BANK,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a bank as JSON lines: documents, chunks, entities, facts with vectors, links."""
    if as_json and file is None:
        raise InvalidInput("--json", "a file to export to, as standard output would hold both")
    if file is not None:
        _check_writable(file, force)
    lines = 0
    with reading(database, bank) as engine, _target(file) as target:
        for line in engine.export_bank(bank):
            target.write(line + "\n")
            lines += 1
    if as_json:
        emit({"bank": bank, "file": file, "lines": lines})
    elif file is not None:
        console(stderr=True).print(f"exported bank {bank}: {lines:,} lines to {file}", markup=False)


def _check_writable(file: Path, force: bool) -> None:
    if not file.parent.is_dir():
        raise NotFound("folder", str(file.parent))
    if file.is_dir() or (file.exists() and not force):
        raise InvalidInput("file", "a new file, or --force", str(file))


@contextmanager
def _target(file: Path | None) -> Iterator[IO[str]]:
    """The file, complete or not there at all; or standard output."""
    if file is None:
        yield sys.stdout
        return
    partial = file.with_name(file.name + ".part")
    try:
        with partial.open("w", encoding="utf-8") as target:
            yield target
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def reembed(
    bank: Annotated[str, typer.Argument(metavar="BANK", help="The bank to change over")] = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Embed a bank's facts anew with the configured embedder; the bank stays in use meanwhile."""
    with reading(database, bank) as engine:
        count = engine.reembed(bank)
        model = engine.bank(bank).model
    line = f"re-embedded {count:,} facts of bank {bank} with {model}"
    tell(as_json, {"bank": bank, "facts": count, "model": model}, line)
