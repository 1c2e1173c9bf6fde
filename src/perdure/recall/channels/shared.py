"""The facts nearest to the question, searched once for all channels of a recall that ask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from threading import Lock

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.embedder import Vector
from perdure.ports.probe import SemanticProbe
from perdure.ports.store import Store


class SharedSemanticSearch:
    """At least the `limit` nearest facts; whoever asks first searches, the others wait for it."""

    def __init__(self, store: Store, bank: str, vector: Vector | None, wanted: Filter, limit: int) -> None:
        self._store, self._bank, self._vector, self._wanted = store, bank, vector, wanted
        self._limit = limit
        self._lock = Lock()
        self._hits: Sequence[Hit] | None = None

    def first(self, count: int, floor: float | None = None) -> Sequence[Hit]:
        """The nearest facts, best first, with cosines of at least the floor; none without a vector."""
        if self._vector is None:
            return []
        with self._lock:
            if self._hits is None or len(self._hits) == self._limit < count:
                self._limit = max(self._limit, count)
                probe = SemanticProbe(self._vector)
                self._hits = self._store.search(self._bank, probe, self._wanted, self._limit)
            hits = self._hits[:count]
        return hits if floor is None else hits[: bisect_right(hits, -floor, key=lambda hit: -hit.score)]
