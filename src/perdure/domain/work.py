"""Whether anybody still waits for the work at hand: a deadline, and a way to call it off, looked at between its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from perdure.errors import Cancelled, DeadlineExceeded


class Work:
    """Work that somebody waits for; any thread may stop it, and it ends at its next `check_work`."""

    def __init__(self) -> None:
        self._deadline: float | None = None
        self._seconds = 0.0
        self._stopped = ""

    def limit(self, seconds: float) -> None:
        """Give it so many seconds from now."""
        self._seconds, self._deadline = seconds, time.monotonic() + seconds

    def stop(self, reason: str) -> None:
        """Call it off."""
        self._stopped = reason

    @property
    def stopped(self) -> bool:
        return bool(self._stopped)

    def check(self) -> None:
        """Raise Cancelled when it was called off, DeadlineExceeded when its time is over."""
        if self._stopped:
            raise Cancelled(self._stopped)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise DeadlineExceeded(f"not done within {self._seconds:g} seconds")


_CURRENT: ContextVar[Work | None] = ContextVar("perdure_work", default=None)


@contextmanager
def working(work: Work) -> Iterator[None]:
    """The enclosed block is this work; without such a block nothing stops a call."""
    before = _CURRENT.set(work)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def check_work() -> None:
    """A step of a pipeline begins: raises where nobody waits for its outcome any longer."""
    work = _CURRENT.get()
    if work is not None:
        work.check()


def departure() -> Callable[[], bool]:
    """Whether the work at hand was called off, to be asked later and on any thread; never, where nothing is at work."""
    work = _CURRENT.get()
    return lambda: work is not None and work.stopped
