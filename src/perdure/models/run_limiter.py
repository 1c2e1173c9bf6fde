"""The limit of concurrent model runs in the process.

Sessions run on the calling thread (one intra-op thread each), so this limit keeps several recalls, or a recall and a retain,
from competing for the cores. Tagging is not counted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


class ModelRunLimiter:
    """At most `limit` model runs at once; 0 takes the number of cores."""

    def __init__(self, limit: int = 0) -> None:
        self.limit = max(1, limit or available_cores())
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._permits = threading.BoundedSemaphore(self.limit)
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[A], B], item: A) -> B:
        """Do the work on this thread, once a run is permitted."""
        with self._permits:
            return work(item)

    def map(self, work: Callable[[A], B], items: Sequence[A]) -> list[B]:
        """Do the work on every item, several at once; return the results in order."""
        if len(items) < 2 or self.limit == 1:
            return [self.run(work, item) for item in items]
        return list(self._threads().map(lambda item: self.run(work, item), items))

    def submit(self, work: Callable[[A], B], item: A) -> Future[B]:
        """Start the work on one of the limiter's threads."""
        return self._threads().submit(self.run, work, item)

    def _threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.limit, thread_name_prefix="perdure-model")
            return self._pool


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_shared: dict[int, ModelRunLimiter] = {}
_shared_lock = threading.Lock()


def shared_run_limiter(limit: int = 0) -> ModelRunLimiter:
    """Return the process's limiter of that many runs; 0 takes the number of cores."""
    limit = limit or available_cores()
    with _shared_lock:
        if limit not in _shared:
            _shared[limit] = ModelRunLimiter(limit)
        return _shared[limit]
