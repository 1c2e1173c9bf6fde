"""`perdure backup` and `perdure restore`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw import size
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import AsJson, Database, Yes, confirm, database_file, load_settings, memory


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; never overwritten")],
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, metavar="N", help="Put the moment into the name, keep the newest N"),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a checked copy of the whole database while it is in use."""
    with memory(database, must_exist=True) as engine:
        done = engine.database.backup(file, keep=keep)
    sound = done.verification.sound
    value = {
        "file": done.file,
        "bytes": done.size,
        "sound": sound,
        "damage": done.verification.damage,
        "removed": done.removed,
    }
    checked = "checked, nothing is damaged" if sound else "DAMAGED as the database is: see perdure verify"
    gone = f"; {len(done.removed)} older removed" if done.removed else ""
    tell(as_json, value, f"{done.file}: {size(done.size)}, {checked}{gone}")
    if not sound:
        raise typer.Exit(exits.FAILED)


def restore(
    file: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that perdure backup wrote")],
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
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
    tell(as_json, value, f"restored {done.file} from {file}, checked{aside}")
