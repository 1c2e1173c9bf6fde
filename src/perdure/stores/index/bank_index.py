"""A bank's search index: loaded through a feed, kept in step with it, handed out as snapshots."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from perdure.stores.index.feed import BankState, Feed
from perdure.stores.index.snapshot import Snapshot

OpenFeed = Callable[[], AbstractContextManager[Feed]]
"""Opens a feed of the bank as it is now; called by any thread that asks for a snapshot or searches one."""


class BankIndex:
    """Grows with the bank."""

    def __init__(self, bank: str) -> None:
        self.bank = bank

    @property
    def nbytes(self) -> int:
        """Memory in use, roughly."""
        raise NotImplementedError

    def snapshot(self, state: BankState, open_feed: OpenFeed) -> Snapshot | None:
        """A snapshot at least as new as `state`; None when the bank is gone meanwhile."""
        raise NotImplementedError
