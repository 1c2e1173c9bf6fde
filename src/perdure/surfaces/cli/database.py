"""`perdure database`: banks from one database to another."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.errors import InvalidInput
from perdure.surfaces.cli.output import console, tell
from perdure.surfaces.cli.session import AsJson, Database, database_file, filled, load_settings

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)

Banks = Annotated[
    list[str] | None,
    typer.Option("--bank", "-b", metavar="BANK", help="Only this bank; repeatable [all]", callback=filled),
]


@app.callback()
def database_(ctx: typer.Context) -> None:
    """Copy banks to another database, or let policies of PostgreSQL guard them."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


@app.command()
def copy(
    to: Annotated[str, typer.Argument(metavar="TO", help="A file or a postgresql:// URL; made if missing")],
    bank: Banks = None,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Delete what interrupted copies of --bank left in TO")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Copy banks, or all of them with the API keys; compared by counts and hashes.

    An interrupted copy goes on when it is started again. The source stays as it is.
    """
    from perdure.compose import abandon_copies, copy_banks
    from perdure.errors import NotFound

    settings = load_settings(database)
    if abandon:
        if not bank:
            raise InvalidInput("--abandon", "a --bank")
        left = abandon_copies(to, bank, settings=settings)
        tell(as_json, {"abandoned": left}, f"deleted what was left of: {', '.join(left) or 'none'}")
        return
    file = database_file(settings)
    if file is not None and not file.exists():
        raise NotFound("database", str(file))
    told = console(stderr=True)

    def progress(of: str, table: str, rows: int) -> None:
        if not as_json and told.is_terminal:
            told.print(f"bank {of}: {rows:,} rows of {table}", markup=False, end="\r")

    copies = copy_banks(to, banks=bank, settings=settings, progress=progress)
    for one in copies if not as_json else ():
        what = "was there already" if one.was_there else f"copied: {sum(one.rows.values()):,} rows"
        later = (
            "; the source has changed since: copy again when nothing writes" if one.changed_meanwhile else ""
        )
        console().print(
            f"bank {one.bank}: {one.facts:,} facts, {what}, digest {one.digest}{later}", markup=False
        )
    if as_json or not copies:
        tell(as_json, {"banks": copies}, "no banks to copy")


@app.command()
def secure(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="The role by which Perdure will connect")],
    off: Annotated[bool, typer.Option("--off", help="Take the policies away again")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Row-level security on PostgreSQL: ROLE sees one bank per transaction. Run it as the owner of the tables."""
    from perdure.compose import secure_database

    secure_database(role, off=off, settings=load_settings(database))
    told = "no policies any more" if off else f"policies hold for {role}: connect as this role from now on"
    tell(as_json, {"role": role, "secured": not off}, told)
