"""`perdure banks` and `perdure stats`."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.errors import InvalidInput
from perdure.surfaces.cli.options import AsJson, BankName, Database
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import DEFAULT_BANK, memory, reading
from perdure.surfaces.plain import plain


def banks(
    bank: Annotated[str | None, typer.Argument(metavar="BANK", help="Show this bank in full")] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Set its name; makes the bank")] = None,
    mission: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Set what it is for; makes the bank")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List all banks; or show one, after setting what is given of it."""
    from perdure.surfaces.cli.draw.lists import draw_banks, draw_record

    if bank is None and (name is not None or mission is not None):
        raise InvalidInput("bank", "the id of the bank to name")
    changing = name is not None or mission is not None
    with memory(database, must_exist=not changing) as engine:
        if bank is None:
            rows = [(found, engine.stats(found.id)) for found in engine.banks()]
            if as_json:
                emit({"banks": [{**plain(found), "stats": plain(stats)} for found, stats in rows]})
            else:
                draw_banks(console(), rows)
            return
        found = engine.configure_bank(bank, name=name, mission=mission) if changing else engine.bank(bank)
        shown = {**plain(found), "stats": plain(engine.stats(bank))}
    if as_json:
        emit(shown)
    else:
        draw_record(console(), {**shown, "stats": None})


def stats(bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False) -> None:
    """Counts of what a bank holds."""
    from perdure.surfaces.cli.draw.lists import draw_stats

    with reading(database, bank) as engine:
        counted = engine.stats(bank)
    if as_json:
        emit({"bank": bank, **plain(counted)})
    else:
        draw_stats(console(), bank, counted)
