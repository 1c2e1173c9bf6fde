"""Relating: a new value of a single-valued relation closes the older one on both time axes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.ports.store import Closure, Selection, Store
from perdure.retain.build import Draft
from perdure.retain.supersede import closures, wanted_pairs

VALUES = 50
"""Current values of one subject and relation that are looked at."""


def closures_of(store: Store, bank: str, drafts: Sequence[Draft], now: datetime) -> list[Closure]:
    """The ends that the new facts put to older ones, stored or in the same batch."""
    new = [draft.fact for draft in drafts]
    wanted = Filter(now=now, any_time=True, include_expired=True)
    old: dict[str, Fact] = {}
    for subject, relation in sorted(wanted_pairs(new)):
        chosen = Selection(wanted=wanted, subject=subject, relation=relation, limit=VALUES)
        old.update((fact.id, fact) for fact in store.browse(bank, chosen).facts if fact.retired_at is None)
    return closures(new, list(old.values()), now)
