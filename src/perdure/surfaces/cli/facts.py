"""`perdure facts`, `entities`, `timeline` and `history`: what memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perdure.domain.time import Window
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.options import AsJson, BankName, Database, Limit, Since, Tags, Types, Until, filled
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import DEFAULT_BANK, read_window, reading
from perdure.surfaces.plain import plain

if TYPE_CHECKING:
    from perdure.domain.fact import Entity
    from perdure.engine import Perdure

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
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="That contain this text")] = "",
    types: Types = None,
    tags: Tags = None,
    document: Annotated[str | None, typer.Option("--document", metavar="ID", help="Of this document")] = None,
    entity: EntityName = None,
    closed: Annotated[bool, typer.Option("--closed", help="Also facts that no longer hold")] = False,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Skip so many")] = 0,
    limit: Limit = 20,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List facts, newest first; or show one in full."""
    from perdure.surfaces.cli.draw.lists import build_facts, draw_record

    if fact is not None and (text or types or tags or document or entity or closed or offset):
        raise InvalidInput("ID", "either the id of a fact or what to list", fact)
    with reading(database, bank) as engine:
        if fact is not None:
            found = plain(engine.fact(bank, fact))
            emit(found) if as_json else draw_record(console(), found)
            return
        if document is not None and not engine.documents(bank, [document]):
            raise NotFound("document", document)
        page = engine.facts(
            bank, text=text, types=types, tags=tags, tags_match=CARRIED, document_id=document, include_closed=closed,
            entity_id=find_entity(engine, bank, entity).id if entity else None, offset=offset, limit=limit,
        )  # fmt: skip
    if as_json:
        emit({"bank": bank, "total": page.total, "offset": offset, "facts": plain(page.facts)})
    else:
        build_facts(console(), page.facts, page.total)


def find_entity(engine: Perdure, bank: str, name: str) -> Entity:
    """An entity by its id, its name or one of its aliases, whatever the case."""
    found = engine.entities(bank, [name]) or engine.entities(bank, name=name)
    if not found:
        raise NotFound("entity", name)
    return found[0]


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
    from perdure.surfaces.cli.draw.lists import draw_entities

    with reading(database, bank) as engine:
        chosen = [
            entity
            for entity in engine.entities(bank)
            if (kind is None or entity.type == kind)
            and (
                not name
                or any(name.casefold() in known.casefold() for known in (entity.name, *entity.aliases))
            )
        ]
    if as_json:
        emit({"bank": bank, "total": len(chosen), "entities": plain(chosen[:limit])})
    else:
        draw_entities(console(), chosen[:limit], len(chosen))


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
    from perdure.surfaces.cli.draw.lists import draw_timeline

    window = read_window(since, until) or Window()
    with reading(database, bank) as engine:
        entity_id = find_entity(engine, bank, entity).id if entity else None
        page = engine.facts(
            bank, types=types, tags=tags, tags_match=CARRIED, entity_id=entity_id, by_date=window, limit=limit
        )
    chosen = page.facts[::-1]
    if as_json:
        emit({"bank": bank, "total": page.total, "facts": plain(chosen)})
    else:
        draw_timeline(console(), chosen)


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
    from perdure.surfaces.cli.draw.lists import draw_history

    with reading(database, bank) as engine:
        found = engine.history(bank, subject, relation)
    if as_json:
        emit({"bank": bank, "subject": subject, "relation": relation, "facts": plain(found)})
    else:
        draw_history(console(), found)
    if not found:
        raise typer.Exit(exits.NOT_FOUND)
