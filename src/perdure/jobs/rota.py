"""Round-robin scheduling: worker threads that take banks with work in turn, one step at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from enum import Enum


class Turn(Enum):
    """The outcome of a bank's turn."""

    MORE = "more"
    """The bank waits for its next turn."""
    LATER = "later"
    """Nothing can be done now: the bank is retried after a while."""
    IDLE = "idle"
    """There is nothing to do."""


class Rota:
    """Calls `take_turn` for each offered bank, never twice at once for one bank.

    A turn that returns a number is repeated after that many seconds.
    """

    def __init__(self, take_turn: Callable[[str], Turn | float], *, threads: int, look_again: float) -> None:
        self._take_turn, self._thread_count, self._look_again = take_turn, threads, look_again
        self._lock = threading.Lock()
        self._due = threading.Condition(self._lock)
        self._news = threading.Condition(self._lock)
        self._waiting: dict[str, None] = {}
        """Banks that wait for their turn, in order."""
        self._later: dict[str, float] = {}
        """Bank -> moment (monotonic) from which it waits for a turn again."""
        self._active: set[str] = set()
        self._threads: list[threading.Thread] = []
        self._events = 0
        self._closing = False

    def offer(self, banks: Iterable[str], after: float | None = None) -> None:
        """Queue banks for a turn, now or after some seconds, which each later offer begins anew."""
        with self._lock:
            for bank in banks:
                if after is None:
                    self._waiting.setdefault(bank)
                else:
                    self._later[bank] = time.monotonic() + after
            if (self._waiting or self._later) and not self._threads and not self._closing:
                self._threads = [
                    threading.Thread(target=self._work, name=f"perdure-jobs-{number}", daemon=True)
                    for number in range(self._thread_count)
                ]
                for thread in self._threads:
                    thread.start()
            self._due.notify_all()

    def close(self, timeout: float | None = None) -> None:
        """Let running turns end, waiting at most `timeout` seconds, and start no more."""
        with self._lock:
            self._closing = True
            self._due.notify_all()
        for thread in self._threads:
            thread.join(timeout)

    @property
    def events(self) -> int:
        """Return a counter that grows with every ended turn and every announcement."""
        with self._lock:
            return self._events

    def announce(self) -> None:
        """Wake waiters."""
        with self._lock:
            self._events += 1
            self._news.notify_all()

    def wait_for_news(self, events: int, timeout: float) -> None:
        """Block until the counter exceeds `events`."""
        with self._lock:
            self._news.wait_for(lambda: self._events > events, timeout)

    def has(self, bank: str) -> bool:
        """Return whether the bank has a turn, or waits for one."""
        with self._lock:
            return bank in self._waiting or bank in self._active

    def _work(self) -> None:
        while (bank := self._next_bank()) is not None:
            outcome = self._take_turn(bank)
            with self._lock:
                self._active.discard(bank)
                if outcome is Turn.MORE:
                    self._waiting.setdefault(bank)
                elif outcome is Turn.LATER:
                    self._later[bank] = time.monotonic() + self._look_again
                elif isinstance(outcome, float):
                    self._later[bank] = time.monotonic() + outcome
                self._due.notify_all()
            self.announce()

    def _next_bank(self) -> str | None:
        """Wait for the next bank; return None when the rota closes."""
        with self._lock:
            while not self._closing:
                now = time.monotonic()
                for bank in [bank for bank, due in self._later.items() if due <= now]:
                    del self._later[bank]
                    self._waiting.setdefault(bank)
                free = next((bank for bank in self._waiting if bank not in self._active), None)
                if free is not None:
                    del self._waiting[free]
                    self._active.add(free)
                    return free
                self._due.wait(min(self._later.values()) - now if self._later else None)
            return None
