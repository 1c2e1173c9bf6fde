"""The end of a process that serves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 128 + signal.SIGTERM


@contextmanager
def closing_on_sigterm() -> Iterator[None]:
    """SIGTERM unwinds the stack, as SIGINT does, so that what is open gets closed.

    A server that has finished its requests raises the signal that ended it again; by default that kills the process at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(_: int, __: FrameType | None) -> None:
    raise SystemExit(TERMINATED)
