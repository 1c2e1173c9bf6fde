"""Texts that are being embedded: other threads run the model, the thread that asks makes of its states what is wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from perdure.models.runtime import Encoded

T = TypeVar("T")
States = NDArray[np.float32]
Ran = list[tuple[Encoded, States]]
"""The tokens and token states of each text of a batch."""


class PendingEmbeddings(Generic[T]):
    """Batches that were given to other threads, and what `use` makes of each text.

    Beside a busy Python thread every call into numpy may wait milliseconds for the interpreter's lock. So the
    threads that run the model do nothing else.
    """

    def __init__(
        self,
        texts: int,
        running: Sequence[tuple[list[int], Future[Ran]]],
        use: Callable[[Encoded, States], T],
    ) -> None:
        self._running = deque(running)
        self._use = use
        self._found: list[T | None] = [None] * texts

    def settle(self) -> None:
        """Use the states that are there: they are large, and not kept longer than needed."""
        while self._running and self._running[0][1].done():
            self._take()

    def result(self) -> list[T]:
        """What `use` made of each text, in the order of the texts."""
        while self._running:
            self._take()
        return self._found  # type: ignore[return-value]  # every row was in one batch

    def cancel(self) -> None:
        """Leave out what was not begun yet."""
        for _, future in self._running:
            future.cancel()
        self._running.clear()

    def _take(self) -> None:
        rows, future = self._running.popleft()
        for row, (item, states) in zip(rows, future.result(), strict=True):
            self._found[row] = self._use(item, states)
