"""`perdure export` and `reembed`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from perdure.errors import InvalidInput
from perdure.surfaces.cli.output import console, emit, tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, reading


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to write; standard output when left out")
    ] = None,
    bank: BankName = DEFAULT_BANK,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="perdure (everything, to import again), jsonl (a fact a line), markdown (a vault), hindsight, dot, graphml",
        ),
    ] = "perdure",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a bank for Perdure (documents, chunks, entities, facts with vectors, links) or for other programs."""
    if as_json and file is None:
        raise InvalidInput("--json", "a file to export to, as standard output would hold both")
    if form in ("markdown", "hindsight") and file is None:
        raise InvalidInput("FILE", f"a path to write to, as {form} is no text", None)
    with reading(database, bank) as engine:
        if file is None:
            for line in engine.banks.export_lines(bank, form):
                sys.stdout.write(line + "\n")
            return
        report = engine.banks.export_to(bank, file, format=form, force=force)
    if as_json:
        emit({"bank": bank, "file": file, "format": form, "lines": report.written})
    else:
        what = {"markdown": "pages", "hindsight": "facts"}.get(form, "lines")
        console(stderr=True).print(f"exported bank {bank}: {report.written:,} {what} to {file}", markup=False)


def reembed(
    bank: Annotated[str, typer.Argument(metavar="BANK", help="The bank to change over")] = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Embed a bank's facts anew with the configured embedder; the bank stays in use meanwhile."""
    with reading(database, bank) as engine:
        count = engine.banks.reembed(bank)
        model = engine.banks.get(bank).model
    line = f"re-embedded {count:,} facts of bank {bank} with {model}"
    tell(as_json, {"bank": bank, "facts": count, "model": model}, line)
