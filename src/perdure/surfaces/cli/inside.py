"""`perdure facts`, `entities`, `timeline`, `history`, `banks` and `stats`: what memory holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.bank import Bank
from perdure.domain.fact import Entity, Fact
from perdure.domain.filter import Filter, read_tags
from perdure.domain.rendering import replacement
from perdure.domain.time import Window, parse_span
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits, session
from perdure.surfaces.cli.answer import Answer, command
from perdure.surfaces.cli.draw import day, draw_record, plural, size, statement, table
from perdure.surfaces.cli.session import Database, Limit, Memory, Tags, Types, filled
from perdure.surfaces.plain import plain

if TYPE_CHECKING:  # loads numpy
    from perdure.ports.store import BankStats

PLAN = "◇"
CARRIED = "any_strict"
"""A listing by tag holds what carries the tag; a recall also what carries none."""
EntityName = Annotated[
    str | None,
    typer.Option("--entity", metavar="NAME", help="Of this entity, by name or id", callback=filled),
]


@command
def facts(
    bank: str,
    memory: Memory,
    fact: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show this fact in full, by its id")
    ] = None,
    text: Annotated[str, typer.Option(metavar="TEXT", help="That contain this text")] = "",
    types: Types = None,
    tags: Tags = None,
    document: Annotated[str | None, typer.Option(metavar="ID", help="Of this document")] = None,
    entity: EntityName = None,
    closed: Annotated[bool, typer.Option("--closed", help="Also facts that no longer hold")] = False,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Skip so many")] = 0,
    limit: Limit = 20,
) -> Answer:
    """List facts, newest first; or show one in full."""
    if fact is not None:
        if text or types or tags or document or entity or closed or offset:
            raise InvalidInput("ID", "either the id of a fact or what to list", fact)
        fields = plain(memory.facts.get(bank, fact))
        return Answer(fields, lambda console: draw_record(console, fields))
    if document is not None:
        memory.documents.get(bank, document)
    where = Filter(
        tags=read_tags(tags, CARRIED),
        document_ids=None if document is None else frozenset({document}),
        include_closed=closed,
        include_expired=closed,
    )
    page = memory.facts.list(
        bank, text=text, types=types, where=where, entity_id=_entity_id(memory, bank, entity),
        offset=offset, limit=limit,
    )  # fmt: skip
    value = {"bank": bank, "total": page.total, "offset": offset, "facts": page.facts}
    return Answer(value, lambda console: draw_facts(console, page.facts, page.total))


def _entity_id(memory: Memory, bank: str, name: str | None) -> str | None:
    return memory.entities.get(bank, name).id if name else None


def draw_facts(console: Console, facts: Sequence[Fact], total: int) -> None:
    """Draw a page of facts, each with its id below it."""
    for fact in facts:
        console.print(statement(fact).append(f"\n{fact.id}", style="dim"))
    console.print(Text(f"{len(facts):,} of {plural(total, 'fact')}", style="dim"))


@command
def entities(
    bank: str,
    memory: Memory,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only entities whose name contains this")
    ] = None,
    kind: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="person, place, ...")] = None,
    limit: Limit = 30,
) -> Answer:
    """List people, places, organisations and things, most mentioned first."""
    types = None if kind is None else [kind]
    chosen = memory.entities.list(bank, text=name or "", types=types)
    value = {"bank": bank, "total": len(chosen), "entities": chosen[:limit]}
    return Answer(value, lambda console: draw_entities(console, chosen[:limit], len(chosen)))


def draw_entities(console: Console, entities: Sequence[Entity], total: int) -> None:
    """Draw entities, most mentioned first; their ids are in the JSON form."""
    mentions, seen_in = Column("mentions", justify="right"), Column("seen", no_wrap=True)
    drawn = table("entity", "type", mentions, seen_in, Column("also called", ratio=1))
    for entity in entities:
        seen = " – ".join(dict.fromkeys(filter(None, (day(entity.first_seen), day(entity.last_seen)))))
        drawn.add_row(
            Text(entity.name, style="bold"), Text(entity.type, style="cyan"), f"{entity.mentions:,}",
            Text(seen, style="dim"), Text(", ".join(entity.aliases), style="dim"),
        )  # fmt: skip
    if entities:
        console.print(drawn)
    console.print(Text(f"{len(entities):,} of {plural(total, 'entity', 'entities')}", style="dim"))


@command
def timeline(
    bank: str,
    memory: Memory,
    entity: EntityName = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Not before this date")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Not after this date")] = None,
    types: Types = None,
    tags: Tags = None,
    limit: Limit = 50,
) -> Answer:
    """List facts in the order in which they happened; the latest `--limit` of those asked for."""
    page = memory.facts.list(
        bank, types=types, where=Filter(tags=read_tags(tags, CARRIED)), order="latest_dated", limit=limit,
        entity_id=_entity_id(memory, bank, entity),
        dated=parse_span(since, until, ("--since", "--until")) or Window(),
    )  # fmt: skip
    chosen = page.facts[::-1]
    value = {"bank": bank, "total": page.total, "facts": chosen}
    return Answer(value, lambda console: draw_timeline(console, chosen))


def draw_timeline(console: Console, facts: Sequence[Fact]) -> None:
    """Draw facts by date, which stands on the left."""
    dates = Column(justify="right", style="cyan", no_wrap=True)
    grid = Table.grid(dates, Column(width=1), Column(ratio=1), padding=(0, 2))
    last = ""
    for fact in facts:
        when = day(fact.shown_date)
        mark = Text(_mark(fact), style="cyan")
        grid.add_row("" if when == last else when, mark, statement(fact))
        last = when
    console.print(grid if facts else Text("no dated facts", style="dim"))
    if facts:
        legend = "● happened then  ○ said then"
        plans = "  ◇ planned for then" if any(_mark(fact) == PLAN for fact in facts) else ""
        console.print(Text(legend + plans, style="dim"))


def _mark(fact: Fact) -> str:
    if fact.occurred is None or fact.has_unsure_date:
        return "○"
    return PLAN if fact.is_planned else "●"


@command
def history(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about")],
    bank: str,
    memory: Memory,
    relation: Annotated[
        str | None, typer.Argument(metavar="RELATION", help="Only this relation, such as works_at")
    ] = None,
) -> Answer:
    """List every value that a subject's relation ever had, oldest first, and while each was true."""
    values = memory.facts.history(bank, subject, relation)
    value = {"bank": bank, "subject": subject, "relation": relation, "facts": values}
    code = exits.OK if values else exits.NOT_FOUND
    return Answer(value, lambda console: draw_history(console, values), code)


def _end(fact: Fact, facts: Sequence[Fact]) -> str:
    """Return when a value ended, or what is right if it never was so."""
    if fact.retired_at is None:
        return day(fact.valid_to)
    right = next((other for other in facts if other.id == fact.superseded_by), None)
    taken_back = fact.superseded_by is not None and fact.invalidated_at is None
    if right is not None and taken_back:
        return f"corrected: {replacement(fact, right)}"
    return "corrected" if taken_back else f"closed {day(fact.retired_at)}"


def draw_history(console: Console, facts: Sequence[Fact]) -> None:
    """Draw each value that a relation had, oldest first, and while it held."""
    drawn = table("relation", "value", "from", "to", Column("fact", ratio=1))
    for fact in facts:
        current = fact.valid_to is None and fact.retired_at is None
        end = Text("now", style="green") if current else Text(_end(fact, facts), style="red")
        value = Text(fact.object or "", style="bold" if current else "")
        drawn.add_row(
            fact.relation or "", value, day(fact.valid_from or fact.dated), end, Text(fact.text, style="dim")
        )
    console.print(drawn if facts else Text("nothing is known of this", style="dim"))


@command
def banks(
    database: Database = None,
    bank: Annotated[str | None, typer.Argument(metavar="BANK", help="Show this bank in full")] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Set its name; makes the bank")] = None,
    mission: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Set what it is for; makes the bank")
    ] = None,
) -> Answer:
    """List all banks; or show one, after setting what is given of it."""
    changing = name is not None or mission is not None
    if bank is None and changing:
        raise InvalidInput("bank", "the id of the bank to name")
    with session.memory(database, must_exist=not changing) as memory:
        if bank is None:
            rows = [(one, memory.banks.stats(one.id)) for one in memory.banks.list()]
            value = {"banks": [{**plain(one), "stats": counts} for one, counts in rows]}
            return Answer(value, lambda console: draw_banks(console, rows))
        if changing:
            memory.banks.configure(bank, name=name, mission=mission)
        fields = plain(memory.banks.get(bank))
        counts = memory.banks.stats(bank)
    return Answer({**fields, "stats": counts}, lambda console: draw_record(console, fields))


def draw_banks(console: Console, rows: Sequence[tuple[Bank, BankStats]]) -> None:
    """Draw the banks with what they hold."""
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


@command
def stats(bank: str, memory: Memory) -> Answer:
    """Count what a bank holds."""
    counted = memory.banks.stats(bank)
    return Answer({"bank": bank, **plain(counted)}, lambda console: draw_stats(console, bank, counted))


def draw_stats(console: Console, bank: str, stats: BankStats) -> None:
    """Draw the counts of a bank."""
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
