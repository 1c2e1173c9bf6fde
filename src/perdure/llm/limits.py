"""Limits of calls: time, retries, requests per minute, spending per day."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCaps:
    """Caps per bank, operation and day (UTC); None sets no cap."""

    calls: int | None = None
    tokens: int | None = None
    price: float | None = None
    """US dollars; calls with an unknown price count as nothing."""

    @property
    def any(self) -> bool:
        return not (self.calls is None and self.tokens is None and self.price is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """Rules for every call."""

    timeout: float = 60.0
    """Seconds that a provider may take to answer."""
    attempts: int = 4
    """Attempts per model while its failures are transient."""
    first_wait: float = 0.5
    longest_wait: float = 30.0
    patience: float = 120.0
    """Seconds to wait in all between the retries of a call; a provider that asks for more is given up."""
    calls_a_minute: int | None = None
    """Per model and process, as is the next."""
    tokens_a_minute: int | None = None
    caps: DayCaps = DayCaps()


def back_off(rules: CallRules, attempt: int, draw: Callable[[], float] = random.random) -> float:
    """Return the seconds before attempt `attempt` + 1: doubled each time, the upper half drawn ("equal jitter", Brooker 2015)."""
    ceiling: float = min(rules.longest_wait, rules.first_wait * 2**attempt)
    return ceiling / 2 + draw() * ceiling / 2


class MinuteLimiter:
    """Calls and tokens of the last minute, per model."""

    def __init__(
        self, calls: int | None, tokens: int | None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._calls, self._tokens, self._monotonic = calls, tokens, monotonic
        self._lock = threading.Lock()
        self._begun: dict[str, deque[Begun]] = {}

    def begin(self, model: str, tokens: int) -> tuple[float, Begun | None]:
        """Return the seconds to wait before asking again, or 0 and the call's place among those of the minute."""
        if self._calls is None and self._tokens is None:
            return 0.0, None
        with self._lock:
            now = self._monotonic()
            begun = self._begun.setdefault(model, deque())
            while begun and begun[0].at <= now - MINUTE:
                begun.popleft()
            room_at = max(self._room_for_call(begun), self._room_for_tokens(begun, tokens))
            if room_at > now:
                return room_at - now, None
            begun.append(place := Begun(now, tokens))
            return 0.0, place

    def end(self, place: Begun | None, tokens: int) -> None:
        """Replace the estimated tokens by the actual ones."""
        if place is not None:
            with self._lock:
                place.tokens = tokens

    def _room_for_call(self, begun: deque[Begun]) -> float:
        if self._calls is None or len(begun) < self._calls:
            return 0.0
        return begun[len(begun) - self._calls].at + MINUTE

    def _room_for_tokens(self, begun: deque[Begun], tokens: int) -> float:
        """Return when enough of the minute's tokens have expired; a call over the limit waits for all of them."""
        if self._tokens is None:
            return 0.0
        excess = sum(one.tokens for one in begun) + tokens - self._tokens
        room_at = 0.0
        for one in begun:
            if excess <= 0:
                break
            excess -= one.tokens
            room_at = one.at + MINUTE
        return room_at


@dataclass(slots=True)
class Begun:
    """A call of the last minute."""

    at: float
    tokens: int
