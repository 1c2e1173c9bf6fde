"""Work that a caller waits for: a deadline and a way to cancel, checked between its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from perdure.errors import Cancelled, DeadlineExceeded


class Work:
    """Work that a caller waits for; any thread may stop it, and it ends at its next `check_work`."""

    def __init__(self) -> None:
        self._deadline: float | None = None
        self._seconds = 0.0
        self._stopped = ""

    def limit(self, seconds: float) -> None:
        self._seconds, self._deadline = seconds, time.monotonic() + seconds

    def stop(self, reason: str) -> None:
        self._stopped = reason

    @property
    def stopped(self) -> bool:
        return bool(self._stopped)

    def check(self) -> None:
        """Raise `Cancelled` if it was stopped, `DeadlineExceeded` if its time is over."""
        if self._stopped:
            raise Cancelled(self._stopped)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise DeadlineExceeded(f"not done within {self._seconds:g} seconds")


_CURRENT: ContextVar[Work | None] = ContextVar("perdure_work", default=None)


@contextmanager
def working(work: Work) -> Iterator[None]:
    """Run the enclosed block as this work; without such a block nothing stops a call."""
    before = _CURRENT.set(work)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def check_work() -> None:
    """Raise if the caller of the current work no longer waits for it."""
    work = _CURRENT.get()
    if work is not None:
        work.check()


def departure() -> Callable[[], bool]:
    """Return a function that tells, on any thread, whether the current work was cancelled."""
    work = _CURRENT.get()
    return lambda: work is not None and work.stopped
