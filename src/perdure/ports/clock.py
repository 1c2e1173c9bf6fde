"""Port of time, so that tests and replays can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present as an aware datetime."""


def present() -> datetime:
    """Return the present moment: the clock of a memory unless another one is passed in."""
    return datetime.now(UTC)
