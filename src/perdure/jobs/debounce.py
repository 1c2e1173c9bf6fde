"""Debouncing: an action per bank after a quiet period."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from perdure.errors import PerdureError

log = logging.getLogger(__name__)


class Debouncer:
    """Calls an action for a bank `delay` seconds after its last touch, on a thread of its own.

    Touches are lost when the process ends.
    """

    def __init__(self, delay: float, action: Callable[[str], object]) -> None:
        self._delay, self._action = delay, action
        self._due: dict[str, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def touch(self, bank: str, delay: float | None = None) -> None:
        """Postpone the action of the bank until the delay has passed."""
        with self._changed:
            if self._closed:
                return
            self._due[bank] = time.monotonic() + (self._delay if delay is None else delay)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="perdure-debounce", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Drop what is due."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (bank := self._next()) is not None:
            try:
                self._action(bank)
            except PerdureError as error:
                log.warning("bank %r: %s", bank, error)

    def _next(self) -> str | None:
        """Wait for the first bank that is due; None when closed."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                bank = min(self._due, key=self._due.__getitem__, default=None)
                if bank is not None and self._due[bank] <= now:
                    del self._due[bank]
                    return bank
                self._changed.wait(None if bank is None else self._due[bank] - now)
            return None
