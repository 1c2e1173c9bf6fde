"""Options that many commands share, worded once."""

from __future__ import annotations

from typing import Annotated

import typer

Database = Annotated[
    str | None,
    typer.Option("--database", "-d", metavar="FILE", help="Database file [setting database: perdure.db]"),
]
BankName = Annotated[str, typer.Option("--bank", "-b", metavar="BANK", help="Memory bank")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag; may be repeated")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="world, experience, opinion or observation; may be repeated"),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many")]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Not before this date")]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Not after this date")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")]
