"""What a process that serves does for itself: it closes what is open when it is terminated, and collects garbage briefly."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

log = logging.getLogger("perdure.server")
TERMINATED = 128 + signal.SIGTERM
LONG_SECONDS = 0.01
OWNER_ONLY = 0o077


def private_files() -> None:
    """Files and folders that this process makes are for its user alone (0600, 0700)."""
    os.umask(OWNER_ONLY)


def warn_of_readers(database: str) -> None:
    """Say so when other users of the machine may read the database file, as those of earlier versions may."""
    if database.startswith(("postgresql://", "postgres://")):
        return
    path = Path(database.removeprefix("sqlite:///"))
    if path.exists() and path.stat().st_mode & OWNER_ONLY:
        log.warning("other users of this machine may read %s; `chmod 600` it", path)


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


@contextmanager
def short_collections(longer_than: float = LONG_SECONDS) -> Iterator[None]:
    """Objects that outlive a full garbage collection of more than these seconds are not looked at again.

    Models and indexes are tens of thousands of objects that live as long as the process. Python looks at all of them in each
    full collection, one in about twenty recalls: 40 ms beside a recall's 50. For a process's own surface, not for a library
    inside somebody else's process: of what was set aside, cycles are no longer freed.
    """
    began = 0.0

    def watch(phase: str, info: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        elif info["generation"] == 2 and time.perf_counter() - began > longer_than:
            gc.freeze()

    gc.callbacks.append(watch)
    try:
        yield
    finally:
        gc.callbacks.remove(watch)
        gc.unfreeze()
