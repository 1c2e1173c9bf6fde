"""`perdure export`, `reembed`, `verify`, `backup` and `restore`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from perdure.errors import InvalidInput, NotFound, PerdureError
from perdure.surfaces.cli import exits, session
from perdure.surfaces.cli.answer import Answer, command
from perdure.surfaces.cli.draw import plural, size
from perdure.surfaces.cli.output import console as make_console
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Memory,
    Yes,
    confirm,
    database_file,
    load_settings,
)

if TYPE_CHECKING:
    from perdure.domain.damage import Verification
    from perdure.domain.item import ReprocessPreview
    from perdure.settings import Settings

SHOWN = 50
"""Damaged things that are listed for people."""


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
    with session.reading(database, bank) as memory:
        if file is None:
            for line in memory.banks.export_lines(bank, form):
                sys.stdout.write(line + "\n")
            return
        report = memory.banks.export_to(bank, file, format=form, force=force)
    what = {"markdown": "pages", "hindsight": "facts"}.get(form, "lines")
    line = f"exported bank {bank}: {report.written:,} {what} to {file}"
    value = {"bank": bank, "file": file, "format": form, "lines": report.written}
    tell(as_json, value, lambda _: make_console(stderr=True).print(line, markup=False))


@command
def reprocess(
    memory: Memory,
    bank: str,
    document: Annotated[
        str | None, typer.Argument(metavar="DOCUMENT", help="Only this document, whatever read it")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what would change, and change nothing")
    ] = False,
) -> Answer:
    """Read the documents of an earlier extractor anew, from their stored text; interrupted, it goes on where it was."""
    if preview and document is None:
        seen = memory.documents.preview_reprocess(bank)
        return Answer(seen, lambda shown: draw_reprocess(shown, bank, seen))
    documents = [document] if document is not None else list(memory.documents.outdated(bank))
    if not documents:
        return Answer({"bank": bank, "documents": 0}, f"nothing to do: no earlier extractor read bank {bank}")
    operation = memory.documents.reprocess(bank, document)
    console = make_console(stderr=True)
    with Progress(
        TextColumn("reprocess"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task("reprocess", total=operation.total)
        while not operation.finished:
            operation = memory.operations.get(bank, operation.id, wait=0.5)
            bar.update(task, completed=operation.done)
    if operation.error:
        raise PerdureError(operation.error)
    facts = (operation.result or {}).get("facts", 0)
    value = {"bank": bank, "documents": len(documents), "facts": facts, "operation_id": operation.id}
    return Answer(
        value, f"read {plural(len(documents), 'document')} anew, {plural(int(str(facts)), 'new fact')}"
    )


def draw_reprocess(shown: Console, bank: str, preview: ReprocessPreview) -> None:
    """Draw what would change, with some of the facts."""
    shown.print(Text(f"{plural(len(preview.documents), 'document')} of bank {bank} would be read anew"))
    lists = (
        (preview.retired_texts, preview.retired, "-", "red"),
        (preview.new_texts, preview.new, "+", "green"),
    )
    for texts, count, mark, style in lists:
        for text in texts:
            shown.print(Text(f"{mark} {text}", style=style))
        if count > len(texts):
            shown.print(Text(f"{mark} and {count - len(texts):,} more", style=style))
    lost = f", {preview.without_relation:,} of them without the relation read in their words"
    shown.print(
        Text(f"{plural(preview.unchanged, 'fact')} would stay{lost if preview.without_relation else ''}")
    )


@command
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; never overwritten")],
    memory: Memory,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, metavar="N", help="Put the moment into the name, keep the newest N"),
    ] = None,
) -> Answer:
    """Write a checked copy of the whole database while it is in use."""
    done = memory.database.backup(file, keep=keep)
    sound, damage = done.verification.sound, done.verification.damage
    value = {"file": done.file, "bytes": done.size, "sound": sound, "damage": damage, "removed": done.removed}
    checked = "checked, nothing is damaged" if sound else "DAMAGED as the database is: see perdure verify"
    gone = f"; {len(done.removed)} older removed" if done.removed else ""
    line = f"{done.file}: {size(done.size)}, {checked}{gone}"
    return Answer(value, line, exits.OK if sound else exits.FAILED)


@command
def restore(
    file: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that perdure backup wrote")],
    yes: Yes = False,
    database: Database = None,
) -> Answer:
    """Put a backup in the place of the database, which stays beside it under another name."""
    from perdure.databases import restore_database

    settings = load_settings(database)
    target = database_file(settings)
    if target is not None and target.exists() and file.exists() and target.samefile(file):
        raise InvalidInput("file", "another file than the database itself", str(file))
    confirm(f"Put {file} in the place of {target}? What was retained since then is not in it.", yes)
    done = restore_database(settings, file, datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
    value = {"file": done.file, "aside": done.aside, "checked": dict(done.verification.checked)}
    aside = f"; what stood there is now {done.aside}" if done.aside else ""
    return Answer(value, f"restored {done.file} from {file}, checked{aside}")


@command
def verify(
    quick: Annotated[bool, typer.Option("--quick", help="Only the structure of the file")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended without loss")] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete damaged rows that nothing can mend; asks first")
    ] = False,
    salvage: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Copy what can still be read to a new file, for perdure restore"),
    ] = None,
    yes: Yes = False,
    database: Database = None,
) -> Answer:
    """Check pages, checksums of facts and documents, index against rows, links against facts."""
    from perdure.databases import open_store

    settings = load_settings(database)
    file = database_file(settings)
    if file is not None and not file.exists():
        raise NotFound("database", str(file))
    if salvage is not None:
        return _salvage(settings, salvage)
    if drop:
        confirm("Delete every damaged row that cannot be mended? A backup may still have it.", yes)
    store = open_store(settings)
    try:
        done = store.verify(quick=quick, repair=repair or drop, drop=drop)
    finally:
        store.close()
    value = {"sound": done.sound, "quick": done.quick, "checked": dict(done.checked), "damage": done.damage}
    return Answer(value, lambda console: draw(console, done), exits.OK if done.sound else exits.FAILED)


def _salvage(settings: Settings, target: Path) -> Answer:
    from perdure.databases import salvage_database, verify_file

    if target.exists() or not target.parent.is_dir():
        raise InvalidInput("--salvage", "a new file in a folder that exists", str(target))
    incomplete = salvage_database(settings, target)
    saved = verify_file(str(target))
    value = {"file": target, "incomplete": incomplete, "sound": saved.sound, "checked": dict(saved.checked)}
    lacking = ", ".join(f"{count:,} rows of {name}" for name, count in incomplete.items())
    whole = f"not whole: {lacking}" if lacking else "every table is whole"
    return Answer(value, f"{target}: {whole}; {saved.checked.get('facts', 0):,} facts")


def draw(console: Console, done: Verification) -> None:
    """Draw what was checked, then what is damaged and what was done about it."""
    checked = [f"{count:,} {name}" for name, count in done.checked.items() if name != "structure"]
    console.print(Text(f"checked {', '.join(['the structure', *checked])}"))
    for damage in done.damage[:SHOWN]:
        mark, style = ("\u2713", "green") if damage.repaired else ("\u2717", "red")
        console.print(
            Text(f" {mark} {damage}" + (f" ({damage.repair})" if damage.repair else ""), style=style)
        )
    if len(done.damage) > SHOWN:
        console.print(Text(f"   and {len(done.damage) - SHOWN:,} more; --json lists all"))
    mendable = sum(bool(damage.repair) for damage in done.left)
    if done.sound:
        mended = f"{plural(len(done.damage), 'damage')} mended" if done.damage else "nothing is damaged"
        console.print(Text(mended, style="green"))
    elif mendable:
        console.print(Text(f"{mendable} can be mended: perdure verify --repair", style="yellow"))
    if mendable < len(done.left):
        lost = "the others" if mendable else "none can be mended"
        console.print(Text(f"{lost}: perdure restore BACKUP, or perdure verify --drop", style="yellow"))
