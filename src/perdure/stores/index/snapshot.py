"""One state of a bank's index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.probe import Probe
from perdure.ports.store import Selection


class Snapshot:
    """One state of a bank's index; never changes, so that any thread may search it without a lock."""

    @property
    def size(self) -> int:
        """How many facts the bank has in this state."""
        raise NotImplementedError

    def search(
        self, probe: Probe, where: Filter, limit: int, names: Mapping[str, Sequence[str]] | None = None
    ) -> list[Hit]:
        """The facts that answer the probe, best first, ties in recorded order.

        `names` are the names and aliases of a RelationProbe's entities by id (`Feed.entity_names`); other probes need none.
        Opens a feed when the probe needs vectors, words or signatures that were not loaded before.
        Raises ModelMismatch when the probe's vector has other dimensions than the bank's.
        """
        raise NotImplementedError

    def listing(
        self, selection: Selection, among: Collection[int] | None = None
    ) -> tuple[list[int], int]:
        """Numbers of the facts of a page in order, and how many facts the selection has in all.

        `selection.text` is not looked at: `among` are the numbers of the facts whose text matches it, None for any.
        """
        raise NotImplementedError
