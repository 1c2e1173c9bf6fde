"""Worker threads for the engine, and the gate that every recall passes, whichever surface asked."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from perdure.errors import Busy, DeadlineExceeded
from perdure.settings import Settings

T = TypeVar("T")

RECALL_WORKERS = 8
OTHER_WORKERS = 16


class Workers:
    """Threads on which the engine runs; recalls have their own, so that writing never starves them.

    One for a process: surfaces that share it share the limit. Everything is called on the event loop's thread.
    """

    def __init__(self, settings: Settings) -> None:
        self._most, self._timeout = settings.max_concurrent_recalls, settings.request_timeout
        self._recalls = ThreadPoolExecutor(
            max_workers=min(RECALL_WORKERS, self._most), thread_name_prefix="perdure-recall"
        )
        self._others = ThreadPoolExecutor(max_workers=OTHER_WORKERS, thread_name_prefix="perdure-work")
        self.recalls_running = 0
        self.recalls_refused = 0

    async def recall(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Run a recall; refuses at once when too many are under way."""
        if self.recalls_running >= self._most:
            self.recalls_refused += 1
            raise Busy(f"{self._most} recalls are under way; try again in a second")
        self.recalls_running += 1
        return await self._within_time(self._recalls, self._leave, work, *args, **options)

    async def run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Run anything else."""
        return await self._within_time(self._others, None, work, *args, **options)

    def close(self) -> None:
        """Let what runs finish; drop what has not begun."""
        self._recalls.shutdown(wait=True, cancel_futures=True)
        self._others.shutdown(wait=True, cancel_futures=True)

    def _leave(self, _: object) -> None:
        self.recalls_running -= 1

    async def _within_time(
        self,
        pool: ThreadPoolExecutor,
        finished: Callable[[object], None] | None,
        work: Callable[..., T],
        *args: Any,
        **options: Any,
    ) -> T:
        """A thread cannot be stopped: past the time limit the caller leaves, and its place stays taken."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(pool, functools.partial(work, *args, **options))
        if finished is not None:
            future.add_done_callback(finished)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._timeout)
        except TimeoutError as error:
            if future.done() and not future.cancelled() and future.exception() is error:
                raise
            future.add_done_callback(_forget_outcome)
            raise DeadlineExceeded(f"not done within {self._timeout:g} seconds") from None


def _forget_outcome(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
