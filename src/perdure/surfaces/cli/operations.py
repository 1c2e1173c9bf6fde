"""`perdure operations`."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.domain.operation import OperationStatus
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.options import YEAR_SECONDS, AsJson, BankName, Database
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import DEFAULT_BANK, reading
from perdure.surfaces.plain import plain


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
    from perdure.surfaces.cli.draw.lists import draw_operations

    if operation is None and (wait is not None or cancel or retry):
        raise InvalidInput("operation", "the id of the one to wait for, cancel or retry")
    if cancel and retry:
        raise InvalidInput("--cancel", "no --retry beside it")
    with reading(database, bank) as engine:
        if operation is None:
            found = engine.operations(bank)
            emit({"bank": bank, "operations": plain(found)}) if as_json else draw_operations(console(), found)
            return
        if cancel:
            engine.cancel_operation(bank, operation)
        if retry:
            engine.retry_operation(bank, operation)
        shown = engine.operation(bank, operation, wait=wait)
    emit(plain(shown)) if as_json else draw_operations(console(), [shown])
    if shown.status is OperationStatus.FAILED:
        raise typer.Exit(exits.FAILED)
