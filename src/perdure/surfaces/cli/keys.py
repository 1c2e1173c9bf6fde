"""`perdure keys`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.surfaces.cli.draw import day, table
from perdure.surfaces.cli.output import console, emit, tell
from perdure.surfaces.cli.session import AsJson, Database, Yes, confirm, memory
from perdure.surfaces.keys import EVERY_BANK, ApiKey, create_key, list_keys, revoke_key
from perdure.surfaces.plain import plain

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)


@app.callback()
def keys(ctx: typer.Context) -> None:
    """Create, list and revoke API keys."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def _shown(key: ApiKey) -> dict[str, Any]:
    return {name: value for name, value in plain(key).items() if name != "digest"}


@app.command()
def create(
    name: Annotated[str, typer.Option(metavar="TEXT", help="What the key is for")] = "",
    bank: Annotated[
        list[str] | None, typer.Option("--bank", "-b", metavar="BANK", help="Bank it opens; repeatable [all]")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="read, write, admin; repeatable [read, write]"),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a key; its secret is shown this once."""
    with memory(database) as engine:
        key, secret = create_key(
            engine, banks=bank or [EVERY_BANK], scopes=scope or ["read", "write"], name=name
        )
    if as_json:
        emit({**_shown(key), "key": secret})
        return
    print(secret)
    console(stderr=True).print("[dim]Keep it: it is stored as a hash and cannot be shown again.[/]")


@app.command("list")
def list_(database: Database = None, as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    with memory(database, must_exist=True) as engine:
        every = list_keys(engine)
    tell(as_json, {"keys": [_shown(key) for key in every]}, lambda shown: draw_keys(shown, every))


def draw_keys(console: Console, keys: Sequence[ApiKey]) -> None:
    if not keys:
        console.print(Text("no keys: the server answers on this machine only", style="dim"))
        return
    named, banks = (Column(title, overflow="fold") for title in ("name", "banks"))
    drawn = table(Column("key", no_wrap=True), named, banks, "scopes", Column("created", no_wrap=True))
    for key in keys:
        scopes = ", ".join(sorted(scope.value for scope in key.scopes))
        drawn.add_row(key.id, Text(key.name), Text(", ".join(key.banks)), scopes, day(key.created_at))
    console.print(drawn)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as `perdure keys list` shows it")],
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Take a key out of use; running servers notice within a second."""
    with memory(database, must_exist=True) as engine:
        confirm(f"Revoke the key {key}?", yes)
        revoke_key(engine, key)
    tell(as_json, {"revoked": key}, f"revoked {key}")
