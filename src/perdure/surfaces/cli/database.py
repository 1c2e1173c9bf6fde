"""`perdure database`: banks from one database to another, and what PostgreSQL can do besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.answer import Answer, command, group
from perdure.surfaces.cli.output import console
from perdure.surfaces.cli.session import Database, database_file, filled, load_settings

if TYPE_CHECKING:
    from perdure.stores.sql.copying import BankCopy

app = group("Copy banks to another database, or encrypt, distribute and guard those on PostgreSQL.")
Banks = Annotated[
    list[str] | None,
    typer.Option("--bank", "-b", metavar="BANK", help="Only this bank; repeatable [all]", callback=filled),
]


@app.command()
@command
def copy(
    to: Annotated[str, typer.Argument(metavar="TO", help="A file or a postgresql:// URL; made if missing")],
    banks: Banks = None,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Delete what interrupted copies of --bank left in TO")
    ] = False,
    database: Database = None,
) -> Answer:
    """Copy banks, or all of them with the API keys; compared by counts and hashes.

    An interrupted copy begins again when it is started again. The source stays as it is. Into PostgreSQL with `encrypt_content`
    content arrives encrypted; out of an encrypted bank into a file it becomes readable.
    """
    from perdure.databases import abandon_copies, copy_banks

    settings = load_settings(database)
    if abandon:
        if not banks:
            raise InvalidInput("--abandon", "a --bank")
        left = abandon_copies(to, banks, settings=settings)
        return Answer({"abandoned": left}, f"deleted what was left of: {', '.join(left) or 'none'}")
    file = database_file(settings)
    if file is not None and not file.exists():
        raise NotFound("database", str(file))
    copies = copy_banks(to, banks=banks, settings=settings, progress=_progress)
    return Answer({"banks": copies}, "\n".join(map(_copied, copies)) or "no banks to copy")


def _progress(bank: str, table: str, rows: int) -> None:
    """Show a person at a terminal how far the copy of a bank is."""
    errors = console(stderr=True)
    if errors.is_terminal:
        errors.print(f"bank {bank}: {rows:,} rows of {table}", markup=False, end="\r")


def _copied(one: BankCopy) -> str:
    what = "was there already" if one.was_there else f"copied: {sum(one.rows.values()):,} rows"
    notes = ["the source has changed since: copy again when nothing writes"] if one.changed_meanwhile else []
    notes += ["stored encrypted"] if one.encrypted else []
    notes += (
        ["it is encrypted where it comes from, and READABLE here"]
        if one.source_encrypted and not one.encrypted
        else []
    )
    return "; ".join([f"bank {one.bank}: {one.facts:,} facts, {what}, digest {one.digest}", *notes])


@app.command()
@command
def encrypt(
    bank: Annotated[str, typer.Argument(metavar="BANK", help="The bank")], database: Database = None
) -> Answer:
    """Encrypt the content of a bank on PostgreSQL that was made without `encrypt_content`, while it is in use.

    Dead rows, the log, replicas and backups hold what was written before: it says until when. An interrupted run goes on
    when it is started again.
    """
    from perdure.databases import encrypt_bank

    done = encrypt_bank(bank, settings=load_settings(database), progress=_progress)
    what = "is encrypted already" if done.was_encrypted else f"encrypted, {sum(done.rows.values()):,} rows"
    pending = [f"  the database may still hold {one}" for one in done.pending]
    return Answer({"encrypt": done}, "\n".join((f"bank {bank}: {what}", *pending)))


@app.command()
@command
def distribute(
    run: Annotated[bool, typer.Option("--run", help="Run the statements instead of printing them")] = False,
    database: Database = None,
) -> Answer:
    """Print the statements that distribute the tables by bank over the workers of a Citus cluster, or run them once."""
    from perdure.databases import citus_statements, distribute_tables

    lines = distribute_tables(load_settings(database)) if run else citus_statements()
    return Answer({"statements": lines, "run": run}, "\n".join(f"{line};" for line in lines))


@app.command()
@command
def secure(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="The role by which Perdure will connect")],
    off: Annotated[bool, typer.Option("--off", help="Take the policies away again")] = False,
    database: Database = None,
) -> Answer:
    """Row-level security on PostgreSQL: ROLE sees one bank per transaction. Run it as the owner of the tables."""
    from perdure.databases import secure_database

    secure_database(role, off=off, settings=load_settings(database))
    told = "no policies any more" if off else f"policies hold for {role}: connect as this role from now on"
    return Answer({"role": role, "secured": not off}, told)
