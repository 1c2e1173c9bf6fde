"""Relating: a new value of a single-valued relation closes the older one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from perdure.ports.store import Closure, Store
from perdure.retain.draw import Draft


def closures_of(store: Store, bank: str, drafts: Sequence[Draft], now: datetime) -> list[Closure]:
    return []
