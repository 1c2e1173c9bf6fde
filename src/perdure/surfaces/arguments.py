"""What surfaces look up by id or name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.errors import NotFound

if TYPE_CHECKING:  # a command's help loads none of these
    from perdure.domain.bank import Bank
    from perdure.domain.fact import Document, Entity
    from perdure.engine import Perdure


def find_bank(engine: Perdure, bank: str) -> Bank | None:
    """The bank, None when there is none."""
    try:
        return engine.banks.get(bank)
    except NotFound:
        return None


def find_document(engine: Perdure, bank: str, document_id: str) -> Document:
    """The document of that id."""
    for document in engine.documents.list(bank, [document_id]):
        return document
    raise NotFound("document", document_id)


def find_entity(engine: Perdure, bank: str, name: str) -> Entity:
    """The entity of that id, else of that name or alias in any case."""
    for entity in engine.entities.list(bank, [name]) or engine.entities.list(bank, name=name):
        return entity
    raise NotFound("entity", name)
