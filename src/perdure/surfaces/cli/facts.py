"""`perdure facts`, `entities`, `timeline` and `history`: what memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.fact import Entity, Fact
from perdure.domain.filter import Filter, read_tags
from perdure.domain.rendering import replacement
from perdure.domain.time import Window
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw import day, draw_record, plural, statement, table
from perdure.surfaces.cli.output import USUAL, tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Limit,
    Since,
    Tags,
    Types,
    Until,
    filled,
    reading,
    window,
)
from perdure.surfaces.plain import plain

PLAN = "◇"
CARRIED = "any_strict"
"""A listing by tag holds what carries the tag; a recall also what carries none."""
EntityName = Annotated[
    str | None,
    typer.Option("--entity", metavar="NAME", help="Of this entity, by name or id", callback=filled),
]


def facts(
    fact: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show this fact in full, by its id")
    ] = None,
    bank: BankName = DEFAULT_BANK,
    text: Annotated[str, typer.Option(metavar="TEXT", help="That contain this text")] = "",
    types: Types = None,
    tags: Tags = None,
    document: Annotated[str | None, typer.Option(metavar="ID", help="Of this document")] = None,
    entity: EntityName = None,
    closed: Annotated[bool, typer.Option("--closed", help="Also facts that no longer hold")] = False,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Skip so many")] = 0,
    limit: Limit = 20,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List facts, newest first; or show one in full."""
    if fact is not None and (text or types or tags or document or entity or closed or offset):
        raise InvalidInput("ID", "either the id of a fact or what to list", fact)
    with reading(database, bank) as engine:
        if fact is not None:
            fields = plain(engine.facts.get(bank, fact))
            tell(as_json, fields, lambda shown: draw_record(shown, fields))
            return
        if document is not None:
            engine.documents.get(bank, document)
        page = engine.facts.list(
            bank,
            text=text,
            types=types,
            where=Filter(
                tags=read_tags(tags, CARRIED),
                document_ids=None if document is None else frozenset({document}),
                include_closed=closed,
                include_expired=closed,
            ),
            entity_id=engine.entities.get(bank, entity).id if entity else None,
            offset=offset,
            limit=limit,
        )
    value = {"bank": bank, "total": page.total, "offset": offset, "facts": page.facts}
    tell(as_json, value, lambda shown: draw_facts(shown, page.facts, page.total))


def draw_facts(console: Console, facts: Sequence[Fact], total: int) -> None:
    """A page of facts with their ids, beside them or, where there is little room, below."""
    drawn = table(Column("id", no_wrap=True, style="dim"), Column("fact", ratio=1))
    for fact in facts:
        if console.width < USUAL:
            console.print(statement(fact).append(f"\n{fact.id}", style="dim"))
        else:
            drawn.add_row(fact.id, statement(fact))
    if drawn.rows:
        console.print(drawn)
    console.print(Text(f"{len(facts):,} of {plural(total, 'fact')}", style="dim"))


def entities(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only entities whose name contains this")
    ] = None,
    bank: BankName = DEFAULT_BANK,
    kind: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="person, place, ...")] = None,
    limit: Limit = 30,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """People, places, organisations and things, most mentioned first."""
    with reading(database, bank) as engine:
        chosen = [
            entity
            for entity in engine.entities.list(bank)
            if kind in (None, entity.type) and _called(entity, name)
        ]
    value = {"bank": bank, "total": len(chosen), "entities": chosen[:limit]}
    tell(as_json, value, lambda shown: draw_entities(shown, chosen[:limit], len(chosen)))


def _called(entity: Entity, part: str | None) -> bool:
    """Whether one of the entity's names contains the part, in any case."""
    return not part or any(part.casefold() in name.casefold() for name in (entity.name, *entity.aliases))


def draw_entities(console: Console, entities: Sequence[Entity], total: int) -> None:
    """Entities, most mentioned first; their ids are in the JSON form."""
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


def timeline(
    bank: BankName = DEFAULT_BANK,
    entity: EntityName = None,
    since: Since = None,
    until: Until = None,
    types: Types = None,
    tags: Tags = None,
    limit: Limit = 50,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Facts in the order in which they happened; the latest `--limit` of those asked for."""
    asked = window(since, until) or Window()
    with reading(database, bank) as engine:
        entity_id = engine.entities.get(bank, entity).id if entity else None
        page = engine.facts.list(
            bank,
            types=types,
            where=Filter(tags=read_tags(tags, CARRIED)),
            entity_id=entity_id,
            dated=asked,
            order="latest_dated",
            limit=limit,
        )
    chosen = page.facts[::-1]
    value = {"bank": bank, "total": page.total, "facts": chosen}
    tell(as_json, value, lambda shown: draw_timeline(shown, chosen))


def draw_timeline(console: Console, facts: Sequence[Fact]) -> None:
    """Facts by date, which stand on the left."""
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


def history(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about")],
    relation: Annotated[
        str | None, typer.Argument(metavar="RELATION", help="Only this relation, such as works_at")
    ] = None,
    bank: BankName = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Every value that a subject's relation ever had, oldest first, and while each was true."""
    with reading(database, bank) as engine:
        values = engine.facts.history(bank, subject, relation)
    value = {"bank": bank, "subject": subject, "relation": relation, "facts": values}
    tell(as_json, value, lambda shown: draw_history(shown, values))
    if not values:
        raise typer.Exit(exits.NOT_FOUND)


def _end(fact: Fact, facts: Sequence[Fact]) -> str:
    """When a value ended, or that it never was so and what is."""
    if fact.retired_at is None:
        return day(fact.valid_to)
    right = next((other for other in facts if other.id == fact.superseded_by), None)
    taken_back = fact.superseded_by is not None and fact.invalidated_at is None
    if right is not None and taken_back:
        return f"corrected: {replacement(fact, right)}"
    return "corrected" if taken_back else f"closed {day(fact.retired_at)}"


def draw_history(console: Console, facts: Sequence[Fact]) -> None:
    """Each value a relation had, oldest first, and while it held."""
    drawn = table("relation", "value", "from", "to", Column("fact", ratio=1))
    for fact in facts:
        current = fact.valid_to is None and fact.retired_at is None
        end = Text("now", style="green") if current else Text(_end(fact, facts), style="red")
        value = Text(fact.object or "", style="bold" if current else "")
        drawn.add_row(
            fact.relation or "", value, day(fact.valid_from or fact.dated), end, Text(fact.text, style="dim")
        )
    console.print(drawn if facts else Text("nothing is known of this", style="dim"))
