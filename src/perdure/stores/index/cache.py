"""The indexes in memory; the least recently used leave when they grow beyond a limit."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from perdure.ports.store import IndexUsage
from perdure.stores.index.bank_index import BankIndex


class IndexCache:
    """Indexes by bank; one that was dropped is loaded again when it is asked for again."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._indexes: OrderedDict[str, BankIndex] = OrderedDict()
        self._lock = Lock()
        self.evicted = 0
        """Indexes that `trim` dropped."""
        self._hits = self._misses = 0

    def get(self, bank: str) -> BankIndex:
        """Return the index of a bank, perhaps still empty."""
        with self._lock:
            index = self._indexes.get(bank)
            if index is None:
                self._misses += 1
                index = self._indexes[bank] = BankIndex(bank, self.trim)
            else:
                self._hits += 1
            self._indexes.move_to_end(bank)
            return index

    def drop(self, bank: str) -> None:
        """Forget a bank's index."""
        with self._lock:
            self._indexes.pop(bank, None)

    def trim(self) -> None:
        """Drop the least recently used while the limit is exceeded; the last used always stays."""
        with self._lock:
            sizes = {bank: index.nbytes for bank, index in self._indexes.items()}
            total = sum(sizes.values())
            while total > self._limit and len(self._indexes) > 1:
                bank, _ = self._indexes.popitem(last=False)
                total -= sizes[bank]
                self.evicted += 1

    def usage(self) -> IndexUsage:
        """Return what is in memory now, and how often it was there when asked for."""
        with self._lock:
            return IndexUsage(
                banks=len(self._indexes),
                bytes=sum(index.nbytes for index in self._indexes.values()),
                hits=self._hits,
                misses=self._misses,
            )

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._indexes.clear()

    def __contains__(self, bank: str) -> bool:
        return bank in self._indexes
