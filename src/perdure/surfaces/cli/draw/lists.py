"""Lists: banks, facts, entities, a timeline, counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from perdure.domain.bank import Bank
from perdure.domain.fact import Entity, Fact
from perdure.surfaces.cli.draw.words import day, plural, size, statement
from perdure.surfaces.cli.output import USUAL

if TYPE_CHECKING:
    from perdure.domain.operation import Operation
    from perdure.ports.store import BankStats

_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?\+00:00$")
STATUS_STYLE = {"completed": "green", "failed": "red", "cancelled": "yellow", "processing": "cyan"}


def table(*columns: str, expand: bool = True) -> Table:
    """The plain table that all lists share."""
    made = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        header_style="dim",
        expand=expand,
    )
    for column in columns:
        made.add_column(column)
    return made


def draw_retained(
    console: Console, bank: str, totals: Mapping[str, int], skipped: Sequence[tuple[str, str]]
) -> None:
    """What a retain did."""
    head = Text(plural(totals["facts"], "new fact"), style="bold green")
    head.append(f" from {plural(totals['documents'], 'document')} in bank {bank}", style="default")
    console.print(head)
    rest = [
        f"{totals[name]:,} {name}"
        for name in ("merged", "superseded", "retired", "unchanged")
        if totals[name]
    ]
    rest += [plural(totals["entities"], "entity", "entities"), plural(totals["links"], "link")]
    console.print(Text(" · ".join(rest), style="dim"))
    for file, reason in skipped:
        console.print(Text(f"skipped {file}: {reason}", style="yellow"))


def draw_banks(console: Console, rows: Sequence[tuple[Bank, BankStats]]) -> None:
    """Each bank with its size."""
    if not rows:
        console.print(Text("no banks yet: `perdure retain` makes one", style="dim"))
        return
    made = table("bank", "facts", "documents", "entities", "updated", expand=False)
    made.columns[0].overflow = "fold"
    for column in made.columns[1:]:
        column.justify, column.no_wrap = "right", True
    for bank, stats in rows:
        model = bank.model.name if bank.model is not None else ""
        below = " · ".join(filter(None, (bank.name if bank.name != bank.id else "", model)))
        made.add_row(
            Text(bank.id, style="bold").append(f"\n{below}" if below else "", style="not bold dim"),
            f"{stats.current_facts:,}", f"{stats.documents:,}", f"{stats.entities:,}",
            Text(day(bank.updated_at), style="dim"),
        )  # fmt: skip
    console.print(made)


def build_facts(console: Console, facts: Sequence[Fact], total: int) -> None:
    """A page of facts with their ids, beside them or, where there is little room, below."""
    made = table("id", "fact")
    made.columns[0].no_wrap, made.columns[0].style = True, "dim"
    made.columns[1].ratio = 1
    for fact in facts:
        if console.width < USUAL:
            console.print(statement(fact).append(f"\n{fact.id}", style="dim"))
        else:
            made.add_row(fact.id, statement(fact))
    if made.rows:
        console.print(made)
    console.print(Text(f"{len(facts):,} of {plural(total, 'fact')}", style="dim"))


def draw_record(console: Console, fields: Mapping[str, object]) -> None:
    """One thing in full: a field a line, empty ones left out."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for name, value in fields.items():
        if value not in (None, "", [], {}, ()):
            grid.add_row(name, Text(_shown(value)))
    console.print(grid)


def _shown(value: object) -> str:
    """A value as one line: lists with commas, objects as names and values, moments to the second."""
    if isinstance(value, Mapping):
        return " · ".join(f"{name.replace('_', ' ')} {_shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    text = str(value)
    return _MOMENT.sub(r"\1 \2", text)


def draw_entities(console: Console, entities: Sequence[Entity], total: int) -> None:
    """Entities, most mentioned first; their ids are in the JSON form."""
    made = table("entity", "type", "mentions", "seen", "also called")
    made.columns[2].justify = "right"
    made.columns[3].no_wrap = True
    made.columns[4].ratio = 1
    for entity in entities:
        seen = " – ".join(dict.fromkeys(filter(None, (day(entity.first_seen), day(entity.last_seen)))))
        made.add_row(
            Text(entity.name, style="bold"), Text(entity.type, style="cyan"), f"{entity.mentions:,}",
            Text(seen, style="dim"), Text(", ".join(entity.aliases), style="dim"),
        )  # fmt: skip
    if entities:
        console.print(made)
    console.print(Text(f"{len(entities):,} of {plural(total, 'entity', 'entities')}", style="dim"))


def draw_timeline(console: Console, facts: Sequence[Fact]) -> None:
    """Facts by date, years and months as headings on the left."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="cyan", no_wrap=True)
    grid.add_column(width=1)
    grid.add_column(ratio=1)
    last = ""
    for fact in facts:
        when = day(fact.dated)
        mark = Text("●" if fact.occurred is not None else "○", style="cyan")
        grid.add_row("" if when == last else when, mark, statement(fact))
        last = when
    console.print(grid if facts else Text("no dated facts", style="dim"))
    if facts:
        console.print(Text("● happened then  ○ said then", style="dim"))


def draw_history(console: Console, facts: Sequence[Fact]) -> None:
    """Each value a relation had, oldest first, and while it held."""
    made = table("relation", "value", "from", "to", "fact")
    made.columns[4].ratio = 1
    for fact in facts:
        current = fact.valid_to is None and fact.retired_at is None
        end = (
            Text("now", style="green")
            if current
            else Text(day(fact.valid_to or fact.retired_at), style="red")
        )
        value = Text(fact.object or "", style="bold" if current else "")
        made.add_row(
            fact.relation or "", value, day(fact.valid_from or fact.dated), end, Text(fact.text, style="dim")
        )
    console.print(made if facts else Text("nothing is known of this", style="dim"))


def draw_stats(console: Console, bank: str, stats: BankStats) -> None:
    """Counts of what a bank holds."""
    console.print(Text(bank, style="bold"))
    closed = stats.facts - stats.current_facts
    shares = [f"{kind} {count:,}" for kind, count in sorted(stats.facts_by_type.items()) if count]
    draw_record(
        console,
        {
            "facts": f"{stats.current_facts:,}" + (f" (and {closed:,} closed)" if closed else ""),
            "by type": " · ".join(shares),
            "documents": f"{stats.documents:,}",
            "chunks": f"{stats.chunks:,}",
            "entities": f"{stats.entities:,}",
            "links": " · ".join(f"{kind} {count:,}" for kind, count in sorted(stats.links_by_kind.items()))
            or "0",
            "tags": " · ".join(f"{tag} {count:,}" for tag, count in sorted(stats.tags.items())),
            "on disk": size(stats.bytes_on_disk) + " (the whole database)",
        },
    )


def draw_operations(console: Console, operations: Sequence[Operation]) -> None:
    """Background work and how far it is, with ids that can be copied whole, and errors below."""
    made = table("operation", "kind", "status", "progress", "updated", expand=False)
    made.columns[0].overflow = "fold"
    for work in operations:
        status = Text(work.status.value, style=STATUS_STYLE.get(work.status.value, ""))
        updated = f"{work.updated_at:%Y-%m-%d %H:%M}" if work.updated_at else ""
        figures = (work.kind, status, f"{work.done}/{work.total}", updated)
        name = Text(work.id).append(f"\n{work.error}" if work.error else "", style="red")
        if console.width < USUAL:
            line = Text(" · ").join(Text(part) if isinstance(part, str) else part for part in figures)
            console.print(Text("\n").join((line, name)))
        else:
            made.add_row(name, *figures)
    if made.rows or not operations:
        console.print(made if operations else Text("no background work", style="dim"))
