"""Ends a fact by another, as a judge of changes would."""

from __future__ import annotations

from datetime import datetime

from perdure import Perdure
from perdure.retain.commit import Closure, FactChanges, commit


def end_fact(engine: Perdure, bank: str, old: str, by: str, at: datetime) -> None:
    """End a fact at a moment by another one."""
    closure = Closure(fact_id=old, valid_to=at, superseded_by=by)
    commit(engine._store, FactChanges(bank=bank, now=at, closures=[closure]))
