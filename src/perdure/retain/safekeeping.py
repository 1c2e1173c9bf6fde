"""Safekeeping: when facts cannot be made, the text is stored all the same, and marked as unfinished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from perdure.domain.record import Record
from perdure.errors import ModelError
from perdure.ports.store import Store, Target, WriteBatch

if TYPE_CHECKING:
    from perdure.retain.plan import Plan

KIND = "unfinished_document"


@contextmanager
def keeping_text(store: Store, bank: str, plans: Sequence[Plan]) -> Iterator[None]:
    """A model that fails in the block costs the facts, never the text; the error goes on to the caller."""
    try:
        yield
    except ModelError as error:
        store.write(
            WriteBatch(
                bank=bank,
                documents=[plan.document for plan in plans],
                chunks=[chunk for plan in plans for chunk in plan.chunks],
                records=[
                    Record(kind=KIND, id=plan.document.id, bank=bank, body={"reason": str(error)})
                    for plan in plans
                ],
            )
        )
        raise


def unfinished_documents(store: Store, bank: str, document_ids: Sequence[str]) -> frozenset[str]:
    """Those of the documents whose facts are still missing."""
    return frozenset(record.id for record in store.records(KIND, bank=bank, ids=document_ids))


def finish(store: Store, bank: str, plans: Sequence[Plan]) -> None:
    """Take the mark off documents whose facts are now made."""
    for plan in plans:
        if plan.unfinished:
            store.forget(bank, Target(record=(KIND, plan.document.id)))
