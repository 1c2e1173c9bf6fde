"""What a channel gets to work with."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.filter import Filter
from perdure.domain.recall import Query
from perdure.ports.embedder import Vector
from perdure.ports.notes import Notes
from perdure.ports.store import Store
from perdure.recall.channels.shared import SharedSemanticSearch
from perdure.recall.request import MinScores


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChannelContext:
    """One channel's share of a recall."""

    store: Store
    bank: str
    query: Query
    vector: Vector | None
    nearest: SharedSemanticSearch
    wanted: Filter
    limit: int
    hops: int
    floors: MinScores
    notes: Notes | None = None
    similarity_floor: float = 0.5
