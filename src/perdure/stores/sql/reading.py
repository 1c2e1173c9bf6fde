"""One bank for reading: rows from the database, searches from one snapshot of the bank's index."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from threading import Lock

from perdure.domain.bank import EmbeddingModel
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.errors import ModelMismatch
from perdure.ports.probe import Probe, RelationProbe, SemanticProbe, TemporalProbe
from perdure.ports.store import FactPage, Selection
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.feed import BankState, Feed
from perdure.stores.index.snapshot import Snapshot
from perdure.stores.sql.columns import T
from perdure.stores.sql.queries import BankRows


class BankReading(BankRows):
    """The Reading protocol; each database says how it selects rows and opens a feed."""

    def __init__(
        self,
        errors: AbstractContextManager[None],
        indexes: IndexCache,
        bank: str,
        state: BankState | None,
    ) -> None:
        """Translate the driver's errors by `errors`, which may be entered any number of times."""
        super().__init__(bank, state.key if state else 0)
        self._errors = errors
        self._indexes = indexes
        self._state = state
        self._lock = Lock()
        self._snapshot: Snapshot | None = None

    @abstractmethod
    def _feed(self) -> AbstractContextManager[Feed]:
        """Open a feed of the bank as it is now."""

    def search(self, probe: Probe, where: Filter, limit: int) -> list[Hit]:
        if self._state is None or limit < 1:
            return []
        self._check_dimensions(probe, self._state)

        def searched() -> list[Hit]:
            snapshot = self._index()
            if snapshot is None:
                return []
            names = None
            if isinstance(probe, RelationProbe):
                with self._feed() as feed:
                    names = feed.entity_names(list(probe.entities))
            return snapshot.search(probe, where, limit, names)

        with self._errors:
            return self._until_read(searched)

    def _until_read(self, read: Callable[[], T]) -> T:
        """Return the result of a read through the index; a server repeats it after a lost connection."""
        return read()

    def check_reached(self) -> None:
        """Do nothing: a file is always there."""

    def browse(self, selection: Selection) -> FactPage:
        def listed() -> FactPage:
            among = self.containing(selection.text) if selection.text else None
            numbers, total = self._listing(selection, among)
            facts = self.facts_by_number(numbers)
            left_out = self.damaged() if len(facts) < len(numbers) else ()
            return FactPage(tuple(facts.values()), total, left_out)

        with self._errors:
            return self._until_read(listed)

    def _listing(self, selection: Selection, among: Collection[int] | None) -> tuple[list[int], int]:
        """Return numbers of the facts of a page, and how many facts the selection has in all."""
        snapshot = self._index()
        return ([], 0) if snapshot is None else snapshot.listing(selection, among)

    def _index(self) -> Snapshot | None:
        """Return the snapshot of this reading, taken at first use; None without such a bank."""
        if self._state is None:
            return None
        with self._lock:
            if self._snapshot is None:
                self._snapshot = self._indexes.get(self.bank_id).snapshot(self._state, self._feed)
            return self._snapshot

    def _check_dimensions(self, probe: Probe, state: BankState) -> None:
        vector = probe.vector if isinstance(probe, SemanticProbe | TemporalProbe) else None
        if vector is not None and state.dimensions is not None and len(vector) != state.dimensions:
            stored = EmbeddingModel(state.model or "", state.dimensions)
            raise ModelMismatch(self.bank_id, str(stored), f"one of {len(vector)} dimensions")
