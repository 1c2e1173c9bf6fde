"""`perdure forget`."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.domain.filter import Filter
from perdure.errors import InvalidInput
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, Yes, confirm, reading


def forget(
    bank: BankName = DEFAULT_BANK,
    fact: Annotated[str | None, typer.Option(metavar="ID", help="Erase this fact")] = None,
    document: Annotated[str | None, typer.Option(metavar="ID", help="Erase this document")] = None,
    entity: Annotated[str | None, typer.Option(metavar="NAME", help="Erase this entity")] = None,
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
            what = f"the fact “{engine.facts.get(bank, fact).text}”"
        elif document is not None:
            engine.documents.get(bank, document)
            where = Filter(document_ids=frozenset({document}), include_closed=True, include_expired=True)
            count = engine.facts.list(bank, where=where, limit=1).total
            what = f"the document {document} with {count} facts"
        elif entity is not None:
            named = engine.entities.get(bank, entity)
            what, entity = f"the entity {named.name} ({named.mentions} mentions; its facts stay)", named.id
        else:
            what = f"the whole bank {bank} with {engine.banks.stats(bank).facts} facts"
        confirm(f"Erase {what} for good?", yes)
        forgotten = engine.forget(
            bank, fact_id=fact, document_id=document, entity_id=entity, everything=everything
        )
    gone = forgotten.facts
    line = f"forgotten: {gone} fact{'' if gone == 1 else 's'}"
    if forgotten.traces == "pending":
        line += "; traces are still to be cleared, which the next command goes on with:"
        line += "".join(f"\n- {one}" for one in forgotten.pending)
    told = {"bank": bank, "forgotten_facts": gone, "traces": forgotten.traces}
    told |= {"keys_destroyed": forgotten.keys_destroyed, "pending": forgotten.pending}
    tell(as_json, told, line)
