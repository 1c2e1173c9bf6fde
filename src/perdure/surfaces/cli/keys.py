"""`perdure keys`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.surfaces.cli.draw import day, table
from perdure.surfaces.cli.output import console, emit, tell
from perdure.surfaces.cli.session import AsJson, Database, Yes, confirm, memory
from perdure.surfaces.keys import EVERY_BANK, ApiKey, create_key, list_keys, revoke_key, rotate_key
from perdure.surfaces.plain import plain

KeyId = Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as `perdure keys list` shows it")]
app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)


@app.callback()
def keys(ctx: typer.Context) -> None:
    """Create, list, rotate and revoke API keys."""
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
    days: Annotated[
        int | None, typer.Option("--days", min=1, metavar="N", help="Days that it works [for ever]")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a key; its secret is shown this once, and from now on servers let nobody in without a key."""
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with memory(database) as engine:
        key, secret = create_key(
            engine,
            banks=bank or [EVERY_BANK],
            scopes=scope or ["read", "write"],
            name=name,
            expires_at=expires_at,
        )
    _show_secret(key, secret, as_json)


@app.command()
def rotate(
    key: KeyId,
    keep: Annotated[
        int, typer.Option("--keep", min=0, metavar="HOURS", help="Hours that the old secret works on [0]")
    ] = 0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a key that opens the same, and take the old one out of use."""
    with memory(database, must_exist=True) as engine:
        new, secret = rotate_key(engine, key, keep=timedelta(hours=keep))
    _show_secret(new, secret, as_json)


def _show_secret(key: ApiKey, secret: str, as_json: bool) -> None:
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
        console.print(Text("no keys", style="dim"))
        return
    named, banks = (Column(title, overflow="fold") for title in ("name", "banks"))
    times = (Column(title, no_wrap=True) for title in ("created", "expires", "last used"))
    drawn = table(Column("key", no_wrap=True), named, banks, "scopes", *times)
    for key in keys:
        scopes = ", ".join(sorted(scope.value for scope in key.scopes))
        moments = (key.created_at, key.expires_at, key.last_used_at)
        drawn.add_row(key.id, Text(key.name), Text(", ".join(key.banks)), scopes, *map(day, moments))
    console.print(drawn)


@app.command()
def revoke(
    key: KeyId,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Take a key out of use; running servers notice within a second, and stay closed when it was the last."""
    with memory(database, must_exist=True) as engine:
        confirm(f"Revoke the key {key}?", yes)
        revoke_key(engine, key)
    tell(as_json, {"revoked": key}, f"revoked {key}")
