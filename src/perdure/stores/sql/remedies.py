"""What is done with damaged rows, on either database: each within a transaction of their bank."""

from __future__ import annotations

from dataclasses import replace

from perdure.stores.sql.transaction import BankTransaction

SUPERSEDED_BY_NOTHING = (
    "SELECT id FROM fact WHERE bank = ? AND superseded_by IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM fact AS other WHERE other.bank = fact.bank AND other.id = fact.superseded_by)"
)
"""Ids of facts whose successor is not there."""


def drop_fact(no: int, tx: BankTransaction) -> None:
    """Delete a fact with everything that belongs to it."""
    tx.delete_numbers([no])
    tx.erased_content()


def drop_text(table: str, one: str, tx: BankTransaction) -> None:
    """Delete a chunk or a document."""
    (tx.delete_chunks if table == "chunk" else tx.delete_documents)([one])
    tx.erased_content()


def drop_vector(no: int, view: str, tx: BankTransaction) -> None:
    """Delete one vector of a fact."""
    tx.delete_vector(no, view)


def drop_link(source: int, target: int, kind: str, tx: BankTransaction) -> None:
    """Delete a link."""
    tx.delete_link(source, target, kind)


def drop_pointer(fact_id: str, tx: BankTransaction) -> None:
    """Make a fact name nothing that superseded it."""
    tx.update_facts([replace(fact, superseded_by=None) for fact in tx.facts([fact_id])])


def pack_anew(no: int, tx: BankTransaction) -> None:
    """Pack a fact for the index from its rows."""
    tx.pack_anew(no)
