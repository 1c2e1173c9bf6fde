"""`perdure forget`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.facts import find_entity
from perdure.surfaces.cli.options import AsJson, BankName, Database, Yes
from perdure.surfaces.cli.output import console, emit, harmless
from perdure.surfaces.cli.session import DEFAULT_BANK, reading


def forget(
    bank: BankName = DEFAULT_BANK,
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="Erase this fact")] = None,
    document: Annotated[
        str | None, typer.Option("--document", metavar="ID", help="Erase this document")
    ] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Erase this entity")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Erase the whole bank")] = False,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Erase a fact, a document, an entity or a whole bank for good: text, vectors and traces."""
    if sum(value is not None for value in (fact, document, entity)) + everything != 1:
        raise InvalidInput("forget", "exactly one of --fact, --document, --entity and --everything")
    with reading(database, bank) as engine:
        if fact is not None:
            what = f"the fact “{engine.fact(bank, fact).text}”"
        elif document is not None:
            if not engine.documents(bank, [document]):
                raise NotFound("document", document)
            count = engine.facts(bank, document_id=document, include_closed=True, limit=1).total
            what = f"the document {document} with {count} facts"
        elif entity is not None:
            found = find_entity(engine, bank, entity)
            what, entity = f"the entity {found.name} ({found.mentions} mentions; its facts stay)", found.id
        else:
            what = f"the whole bank {bank} with {engine.stats(bank).facts} facts"
        confirm(f"Erase {what} for good?", yes)
        gone = engine.forget(
            bank, fact_id=fact, document_id=document, entity_id=entity, everything=everything
        )
    if as_json:
        emit({"bank": bank, "forgotten_facts": gone})
    else:
        console().print(f"forgotten: {gone} fact{'' if gone == 1 else 's'}")


def confirm(question: str, yes: bool) -> None:
    """Go on only if somebody says yes; where nobody can be asked, `--yes` must say so."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("--yes", "this option, as nobody can be asked here")
    typer.confirm(harmless(question), abort=True, err=True)
