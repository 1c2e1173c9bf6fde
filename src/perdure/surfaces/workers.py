"""Worker threads for the engine, in lanes: recalls, writes and other reads wait for their own threads, each in a fair line.

Everything here is called on the event loop's thread; only the work itself runs elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from perdure.domain.work import Work, working
from perdure.errors import Busy, DeadlineExceeded
from perdure.settings import Settings

T = TypeVar("T")

CORES = os.cpu_count() or 1
CONTROL_THREADS = 2
TOTAL_SHARES = 8
"""A lane has room for so many clients that each use all of their own room."""
FIRST_GUESS = 0.1
"""Assumed seconds of service before any was measured."""
WEIGHT = 0.1
"""Weight of the latest service in the moving mean."""
LONGEST_RETRY = 60.0
STOP_SECONDS = 2.0
GONE = "the client left"
REASONS = ("share", "full", "wait")
"""Why somebody is told to come back: the caller's own room is used up, everybody's is, or it would take too long."""


class Share(NamedTuple):
    """Whose turn it is: callers with the same key and bank wait in one line."""

    key: str = ""
    bank: str = ""


@dataclass(slots=True, eq=False)
class Client:
    """Somebody who waits for an answer; key and bank are filled in as soon as they are read."""

    key: str = ""
    bank: str = ""
    pending: set[Work] = field(default_factory=set)

    def leave(self) -> None:
        """Nobody waits any longer: what runs for the client ends at its next step."""
        for work in self.pending:
            work.stop(GONE)


CLIENT: ContextVar[Client | None] = ContextVar("perdure_client", default=None)
"""The client of the request at hand."""


def moving_mean(mean: float | None, latest: float, weight: float = WEIGHT) -> float:
    """Exponentially weighted mean; the first value stands for itself."""
    return latest if mean is None else mean + weight * (latest - mean)


def turns_before(own: int, others: list[int]) -> int:
    """How many are served before a newcomer whose line has `own` waiting, when lines take turns."""
    return own + sum(min(length, own + 1) for length in others)


@dataclass(slots=True, eq=False)
class _Line:
    """The callers of one share: those that wait, how many run, and the latest moment promised to one that was refused."""

    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    running: int = 0
    promised: float = 0.0


class Lane:
    """Threads for one sort of work. Lines take turns; no line has all threads, and none waits long without being told.

    `share_threads` of the threads are the most that one line uses; one more is left to the others.
    """

    def __init__(self, name: str, *, share_threads: int, room: int, max_wait: float, timeout: float) -> None:
        self.name = name
        self._share_threads, self._threads = share_threads, share_threads + 1
        self._room, self._max_wait, self._timeout = room, max_wait, timeout
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix=f"perdure-{name}")
        self._lines: dict[Share, _Line] = {}
        """In the order in which they have their next turn."""
        self._mean: float | None = None
        self._works: set[Work] = set()
        """Work that is on a thread or about to be; threads remove their own."""
        self.running = 0
        self.waiting = 0
        self.refused: Counter[str] = Counter()
        """How many were told to come back, by reason."""
        self.abandoned = 0
        """Calls whose client left before the answer."""

    @property
    def at_work(self) -> bool:
        """Whether a thread is at work; any thread may ask."""
        return bool(self._works)

    @property
    def service_seconds(self) -> float:
        """The moving mean of the time on a thread."""
        return FIRST_GUESS if self._mean is None else self._mean

    async def run(self, call: Callable[..., T], *args: Any, **options: Any) -> T:
        """Run the call when its turn comes; raises Busy instead of letting it wait for long."""
        client = CLIENT.get() or Client()
        share = Share(client.key, client.bank)
        await self._turn(share)
        work = Work()
        work.limit(self._timeout)
        client.pending.add(work)
        self._works.add(work)
        return await self._on_thread(share, client, work, functools.partial(call, *args, **options))

    def stop(self) -> None:
        """Call off what runs, drop what waits."""
        for work in tuple(self._works):
            work.stop("the server stops")
        for line in self._lines.values():
            while line.waiting:
                self.waiting -= 1
                line.waiting.popleft().set_exception(Busy("the server stops", retry_after=LONGEST_RETRY / 10))
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _turn(self, share: Share) -> None:
        """Return with a thread of the lane reserved for the share."""
        line = self._lines.setdefault(share, _Line())
        if self._may_run(line) and not self._is_queued_before(line):
            self._enter(line)
            return
        self._check_room(line)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.waiting.append(turn)
        self.waiting += 1
        try:
            await asyncio.wait_for(asyncio.shield(turn), self._patience)
        except TimeoutError:
            if not turn.done():
                self._give_up(share, line, turn)
                raise self._busy(line, "wait") from None
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave(share, line)
            else:
                self._give_up(share, line, turn)
            self.abandoned += 1
            raise

    def _give_up(self, share: Share, line: _Line, turn: asyncio.Future[None]) -> None:
        with contextlib.suppress(ValueError):
            line.waiting.remove(turn)
            self.waiting -= 1
        self._forget_idle(share, line)

    def _may_run(self, line: _Line) -> bool:
        return self.running < self._threads and line.running < self._share_threads

    def _is_queued_before(self, line: _Line) -> bool:
        """Whether somebody waits whose turn comes first: of the same line, or of one that a free thread will take."""
        return bool(line.waiting) or any(
            other.waiting and self._may_run(other) for other in self._lines.values()
        )

    def _check_room(self, line: _Line) -> None:
        if len(line.waiting) + line.running >= self._room:
            raise self._busy(line, "share")
        if self.waiting + self.running >= TOTAL_SHARES * self._room:
            raise self._busy(line, "full")
        if self._expected_wait(line) > self._patience:
            raise self._busy(line, "wait")

    @property
    def _patience(self) -> float:
        """Seconds that a call may wait so that its answer comes within `max_wait`; a fourth of it where service is slow."""
        return max(self._max_wait - self.service_seconds, self._max_wait / 4)

    def _expected_wait(self, line: _Line) -> float:
        """Seconds until a newcomer of the line is served, from the services measured so far."""
        others = [len(other.waiting) for other in self._lines.values() if other is not line]
        ahead = turns_before(len(line.waiting), others)
        return (ahead + 1) * self.service_seconds / self._share_threads

    def _busy(self, line: _Line, reason: str) -> Busy:
        """Told when there is room: after those who wait, and after those of the same line who were told so before."""
        self.refused[reason] += 1
        now, step = time.monotonic(), self.service_seconds / self._share_threads
        line.promised = max(now + self._expected_wait(line), line.promised + step)
        line.promised = min(line.promised, now + LONGEST_RETRY)
        seconds = max(1, math.ceil(line.promised - now))
        return Busy(f"too much at once; try again in {seconds} seconds", retry_after=seconds)

    def _enter(self, line: _Line) -> None:
        self.running += 1
        line.running += 1

    def _leave(self, share: Share, line: _Line) -> None:
        self.running -= 1
        line.running -= 1
        self._forget_idle(share, line)
        self._call_next()

    def _forget_idle(self, share: Share, line: _Line) -> None:
        if not line.running and not line.waiting and line.promised <= time.monotonic():
            self._lines.pop(share, None)

    def _call_next(self) -> None:
        """Give the free threads to the lines, one turn each."""
        for share, line in list(self._lines.items()):
            if self.running >= self._threads:
                return
            if not line.waiting:
                self._forget_idle(share, line)
            elif self._may_run(line):
                self._enter(line)
                self._lines[share] = self._lines.pop(share)
                self.waiting -= 1
                line.waiting.popleft().set_result(None)

    async def _on_thread(self, share: Share, client: Client, work: Work, call: Callable[[], T]) -> T:
        """Run work that ends at its next step when its time is over or its client left: a thread cannot be killed."""
        started = time.monotonic()

        def carry_out() -> T:
            try:
                with working(work):
                    work.check()
                    return call()
            finally:
                self._works.discard(work)

        def ended(done: asyncio.Future[T]) -> None:
            if not done.cancelled():
                done.exception()
            if not work.stopped:
                self._mean = moving_mean(self._mean, time.monotonic() - started)
            client.pending.discard(work)
            self._leave(share, self._lines[share])

        # With the context of the request, which telemetry and the client's share go by.
        future = asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, carry_out)
        future.add_done_callback(ended)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._timeout)
        except TimeoutError as error:
            if future.done() and not future.cancelled() and future.exception() is error:
                raise
            raise DeadlineExceeded(f"not done within {self._timeout:g} seconds") from None
        except asyncio.CancelledError:
            work.stop(GONE)
            self.abandoned += 1
            raise


class Workers:
    """The lanes of one process: surfaces that share them share their limits."""

    def __init__(self, settings: Settings) -> None:
        recalls, retains = settings.max_concurrent_recalls, settings.max_concurrent_retains
        limits = {"max_wait": settings.max_wait, "timeout": settings.request_timeout}
        lanes = (
            Lane("recall", share_threads=min(max(4, CORES), recalls), room=recalls, **limits),
            Lane("retain", share_threads=min(max(2, CORES // 2), retains), room=retains, **limits),
            Lane("read", share_threads=4, room=recalls, **limits),
        )
        self.lanes = {lane.name: lane for lane in lanes}
        self.recall, self.retain, self.run = (lane.run for lane in lanes)
        """Run a recall, what writes, or any other reading."""
        self._control = ThreadPoolExecutor(CONTROL_THREADS, thread_name_prefix="perdure-control")
        self.stopping = False
        """Set when the process is told to end: requests under way are finished, readiness says no."""

    async def control(self, call: Callable[..., T], *args: Any, **options: Any) -> T:
        """Run what must never wait for callers: keys, health. Only for short work that does not grow with calls."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._control, functools.partial(call, *args, **options))

    def close(self) -> None:
        """Call off what runs, drop what waits, and leave threads that do not heed it behind."""
        for lane in self.lanes.values():
            lane.stop()
        self._control.shutdown(wait=True)
        until = time.monotonic() + STOP_SECONDS
        while any(lane.at_work for lane in self.lanes.values()) and time.monotonic() < until:
            time.sleep(0.01)
