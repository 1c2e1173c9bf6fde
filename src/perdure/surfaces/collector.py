"""Short collections of garbage in processes that serve.

Models and indexes are tens of thousands of objects which live as long as the process. Python looks at all of them in each full
collection, one in about twenty recalls: 40 ms beside a recall's 50.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONG = 0.01


@contextmanager
def short_collections(longer_than: float = LONG) -> Iterator[None]:
    """What outlives a full collection that took so many seconds is not looked at again.

    For a process's own surface, not for a library inside somebody else's process: of what was set aside, only what
    nothing refers to is freed from then on, cycles no more.
    """
    began = 0.0

    def watch(phase: str, info: dict[str, Any]) -> None:
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
