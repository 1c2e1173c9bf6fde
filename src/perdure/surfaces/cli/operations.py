"""`perdure operations`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.domain.operation import Operation, OperationStatus
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw import table
from perdure.surfaces.cli.output import USUAL, tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, reading

YEAR_SECONDS = 31_536_000
STATUS_STYLE = {"completed": "green", "failed": "red", "cancelled": "yellow", "processing": "cyan"}


def operations(
    operation: Annotated[str | None, typer.Argument(metavar="ID", help="Show this one, by its id")] = None,
    bank: BankName = DEFAULT_BANK,
    wait: Annotated[
        float | None,
        typer.Option(min=0, max=YEAR_SECONDS, metavar="SECONDS", help="Wait so long for its end"),
    ] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="Stop it before its next step")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Go on with it after it failed")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List background work, oldest first; or show, await, cancel or retry one."""
    if operation is None and (wait is not None or cancel or retry):
        raise InvalidInput("operation", "the id of the one to wait for, cancel or retry")
    if cancel and retry:
        raise InvalidInput("--cancel", "no --retry beside it")
    with reading(database, bank) as engine:
        if operation is None:
            every = engine.operations.list(bank)
            tell(as_json, {"bank": bank, "operations": every}, lambda shown: draw_operations(shown, every))
            return
        if cancel:
            engine.operations.cancel(bank, operation)
        if retry:
            engine.operations.retry(bank, operation)
        work = engine.operations.get(bank, operation, wait=wait)
    tell(as_json, work, lambda shown: draw_operations(shown, [work]))
    if work.status is OperationStatus.FAILED:
        raise typer.Exit(exits.FAILED)


def draw_operations(console: Console, operations: Sequence[Operation]) -> None:
    """Background work and how far it is, with ids that can be copied whole, and errors below."""
    drawn = table(Column("operation", overflow="fold"), "kind", "status", "progress", "updated", expand=False)
    for work in operations:
        status = Text(work.status.value, style=STATUS_STYLE.get(work.status.value, ""))
        updated = f"{work.updated_at:%Y-%m-%d %H:%M}" if work.updated_at else ""
        figures = (work.kind, status, f"{work.done}/{work.total}", updated)
        name = Text(work.id).append(f"\n{work.error}" if work.error else "", style="red")
        if console.width < USUAL:
            line = Text(" · ").join(Text(part) if isinstance(part, str) else part for part in figures)
            console.print(Text("\n").join((line, name)))
        else:
            drawn.add_row(name, *figures)
    if drawn.rows or not operations:
        console.print(drawn if operations else Text("no background work", style="dim"))
