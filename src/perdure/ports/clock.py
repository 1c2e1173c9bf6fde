"""Port of time, so that tests and replays can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Returns the present as an aware datetime."""
