"""Forget, top to bottom: find what goes -> scrub what quotes it -> delete -> names of entities -> clear traces."""

from __future__ import annotations

from collections.abc import Callable

from perdure.forget.target import Forgotten, Target
from perdure.ports.store import Store, Transaction


def forget(
    store: Store,
    bank: str,
    target: Target,
    *,
    also: Callable[[Transaction, frozenset[str]], None] | None = None,
) -> Forgotten:
    """Erase for good, with everything that holds the erased content, in one transaction.

    `also` is called within the transaction with the ids of the erased documents (none when a fact or an entity goes), to
    scrub records that other parts keep. When the target went before, traces that are still pending are cleared.
    """
    raise NotImplementedError
