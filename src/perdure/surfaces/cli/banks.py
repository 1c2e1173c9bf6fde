"""`perdure banks` and `perdure stats`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.domain.bank import Bank
from perdure.errors import InvalidInput
from perdure.surfaces.cli.draw import day, draw_record, size, table
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, memory, reading
from perdure.surfaces.plain import plain

if TYPE_CHECKING:  # loads numpy
    from perdure.ports.store import BankStats


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
    changing = name is not None or mission is not None
    if bank is None and changing:
        raise InvalidInput("bank", "the id of the bank to name")
    with memory(database, must_exist=not changing) as engine:
        if bank is None:
            rows = [(one, engine.banks.stats(one.id)) for one in engine.banks.list()]
            value = {"banks": [{**plain(one), "stats": counts} for one, counts in rows]}
            tell(as_json, value, lambda shown: draw_banks(shown, rows))
            return
        chosen = (
            engine.banks.configure(bank, name=name, mission=mission) if changing else engine.banks.get(bank)
        )
        counts = engine.banks.stats(bank)
    fields = plain(chosen)
    tell(as_json, {**fields, "stats": counts}, lambda shown: draw_record(shown, fields))


def draw_banks(console: Console, rows: Sequence[tuple[Bank, BankStats]]) -> None:
    if not rows:
        console.print(Text("no banks yet: `perdure retain` makes one", style="dim"))
        return
    figures = [
        Column(name, justify="right", no_wrap=True) for name in ("facts", "documents", "entities", "updated")
    ]
    drawn = table(Column("bank", overflow="fold"), *figures, expand=False)
    for bank, stats in rows:
        model = bank.model.name if bank.model is not None else ""
        below = " · ".join(filter(None, (bank.name if bank.name != bank.id else "", model)))
        drawn.add_row(
            Text(bank.id, style="bold").append(f"\n{below}" if below else "", style="not bold dim"),
            f"{stats.current_facts:,}", f"{stats.documents:,}", f"{stats.entities:,}",
            Text(day(bank.updated_at), style="dim"),
        )  # fmt: skip
    console.print(drawn)


def stats(bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False) -> None:
    """Counts of what a bank holds."""
    with reading(database, bank) as engine:
        counted = engine.banks.stats(bank)
    tell(as_json, {"bank": bank, **plain(counted)}, lambda shown: draw_stats(shown, bank, counted))


def draw_stats(console: Console, bank: str, stats: BankStats) -> None:
    console.print(Text(bank, style="bold"))
    closed = stats.facts - stats.current_facts
    fields = {
        "facts": f"{stats.current_facts:,}" + (f" (and {closed:,} closed)" if closed else ""),
        "by type": _shares(stats.facts_by_type),
        "documents": f"{stats.documents:,}",
        "chunks": f"{stats.chunks:,}",
        "entities": f"{stats.entities:,}",
        "links": _shares(stats.links_by_kind) or "0",
        "tags": _shares(stats.tags),
        "on disk": size(stats.bytes_on_disk) + " (the whole database)",
    }
    draw_record(console, fields)


def _shares(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} {count:,}" for name, count in sorted(counts.items()) if count)
