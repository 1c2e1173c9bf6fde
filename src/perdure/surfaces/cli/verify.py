"""`perdure verify`: everything stored against its checksums and counterparts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw import plural
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import AsJson, Database, Yes, confirm, database_file, load_settings

if TYPE_CHECKING:
    from perdure.domain.damage import Verification

SHOWN = 50
"""Damaged things that are listed for people."""


def verify(
    quick: Annotated[bool, typer.Option("--quick", help="Only the structure of the file")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended without losing anything")
    ] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete damaged rows that nothing can mend; asks first")
    ] = False,
    salvage: Annotated[
        Path | None,
        typer.Option(
            "--salvage", metavar="FILE", help="Copy what can still be read to a new file, for perdure restore"
        ),
    ] = None,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Check pages, checksums of facts and documents, index against rows, links against facts."""
    from perdure.databases import open_store, salvage_database, verify_file

    settings = load_settings(database)
    file = database_file(settings)
    if file is not None and not file.exists():
        raise NotFound("database", str(file))
    if salvage is not None:
        if salvage.exists() or not salvage.parent.is_dir():
            raise InvalidInput("--salvage", "a new file in a folder that exists", str(salvage))
        incomplete = salvage_database(settings, salvage)
        saved = verify_file(str(salvage))
        value = {
            "file": salvage,
            "incomplete": incomplete,
            "sound": saved.sound,
            "checked": dict(saved.checked),
        }
        lacking = ", ".join(f"{count:,} rows of {table}" for table, count in incomplete.items())
        told = f"not whole: {lacking}" if lacking else "every table is whole"
        tell(as_json, value, f"{salvage}: {told}; {saved.checked.get('facts', 0):,} facts")
        return
    if drop:
        confirm("Delete every damaged row that cannot be mended? A backup may still have it.", yes)
    store = open_store(settings)
    try:
        done = store.verify(quick=quick, repair=repair or drop, drop=drop)
    finally:
        store.close()
    value = {"sound": done.sound, "quick": done.quick, "checked": dict(done.checked), "damage": done.damage}
    tell(as_json, value, lambda console: draw(console, done))
    if not done.sound:
        raise typer.Exit(exits.FAILED)


def draw(console: Console, done: Verification) -> None:
    """What was checked, then what is damaged and what was done about it."""
    checked = [
        "the structure of the file" if name == "structure" else plural(count, name.removesuffix("s"), name)
        for name, count in done.checked.items()
    ]
    console.print(Text(f"checked {', '.join(checked) or 'nothing: there are no banks'}"))
    for damage in done.damage[:SHOWN]:
        mark, style = ("\u2713", "green") if damage.repaired else ("\u2717", "bold red")
        line = Text.assemble((f" {mark} ", style), str(damage))
        if damage.repaired:
            line.append(f": {damage.repair}", style="green")
        elif damage.repair:
            line.append(f" (--repair: {damage.repair})", style="yellow")
        console.print(line)
    if len(done.damage) > SHOWN:
        console.print(Text(f"   and {len(done.damage) - SHOWN:,} more; --json lists all"))
    if done.sound:
        told = "nothing is damaged" if not done.damage else f"{plural(len(done.damage), 'damage')} mended"
        console.print(Text(told, style="green"))
        return
    mendable = sum(bool(damage.repair) for damage in done.left)
    console.print(Text(f"{len(done.left)} damaged, {mendable} of them can be mended", style="red"))
    if mendable:
        console.print(Text("\u2192 perdure verify --repair", style="yellow"))
    if mendable < len(done.left):
        console.print(
            Text("\u2192 perdure restore BACKUP, or give them up: perdure verify --drop", style="yellow")
        )
