"""Options that many commands share, worded once."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.errors import InvalidInput

YEAR_SECONDS = 31_536_000


def filled(param: typer.CallbackParam, value: str | list[str] | None) -> str | list[str] | None:
    """The value of an option that must say something when it is given, as an unset shell variable does not."""
    for part in [value] if isinstance(value, str) else value or ():
        if not part.strip():
            raise InvalidInput(param.opts[0], "non-empty text", part)
    return value


Database = Annotated[
    str | None,
    typer.Option("--database", "-d", metavar="FILE", help="Database file [setting database: perdure.db]"),
]
BankName = Annotated[str, typer.Option("--bank", "-b", metavar="BANK", help="Memory bank")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag; may be repeated", callback=filled)
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="world, experience, opinion or observation; may be repeated"),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many")]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Not before this date")]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Not after this date")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")]
