"""`perdure keys`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.console import Console

from perdure.domain.plain import to_plain
from perdure.surfaces.cli.answer import Answer, command, group
from perdure.surfaces.cli.draw import draw_table
from perdure.surfaces.cli.output import console as make_console
from perdure.surfaces.cli.session import Memory, Yes, confirm
from perdure.surfaces.keys import EVERY_BANK, ApiKey, create_key, list_keys, revoke_key, rotate_key

KeyId = Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as `perdure keys list` shows it")]
app = group("Create, list, rotate and revoke API keys.")


def _plain_key(key: ApiKey) -> dict[str, Any]:
    return {name: value for name, value in to_plain(key).items() if name != "digest"}


def _with_secret(key: ApiKey, secret: str) -> Answer:
    def show(_: Console) -> None:
        print(secret)
        notice = "Keep it: it is stored as a hash and cannot be shown again."
        make_console(stderr=True).print(notice, style="dim")

    return Answer({**_plain_key(key), "key": secret}, show)


@app.command()
@command(creates=True)
def create(
    memory: Memory,
    name: Annotated[str, typer.Option(metavar="TEXT", help="What the key is for")] = "",
    banks: Annotated[
        list[str] | None, typer.Option("--bank", "-b", metavar="BANK", help="Bank it opens; repeatable [all]")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="read, write, admin; repeatable [read, write]"),
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, metavar="N", help="Days that it works [for ever]")
    ] = None,
) -> Answer:
    """Make a key; its secret is shown this once, and from now on servers let nobody in without a key."""
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    scopes = scope or ["read", "write"]
    return _with_secret(
        *create_key(memory, banks=banks or [EVERY_BANK], scopes=scopes, name=name, expires_at=expires_at)
    )


@app.command()
@command
def rotate(
    key: KeyId,
    memory: Memory,
    keep: Annotated[
        int, typer.Option("--keep", min=0, metavar="HOURS", help="Hours that the old secret works on [0]")
    ] = 0,
) -> Answer:
    """Make a key that opens the same, and take the old one out of use."""
    return _with_secret(*rotate_key(memory, key, keep=timedelta(hours=keep)))


@app.command("list")
@command
def list_(memory: Memory) -> Answer:
    """List the keys, without their secrets."""
    keys = [_plain_key(key) for key in list_keys(memory)]
    return Answer({"keys": keys}, lambda console: draw_table(console, keys, "keys", len(keys)))


@app.command()
@command
def revoke(key: KeyId, memory: Memory, yes: Yes = False) -> Answer:
    """Take a key out of use; running servers notice within a second, and stay closed when it was the last."""
    confirm(f"Revoke the key {key}?", yes)
    revoke_key(memory, key)
    return Answer({"revoked": key}, f"revoked {key}")
