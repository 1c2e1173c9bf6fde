"""A memory whose clock is set by hand, so that every turn is retained at the time when it was said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from perdure import Perdure

TURN = "turn"
"""Metadata key under which a fact names the turn that it was drawn from."""


class SetClock:
    """Tells the time that was last set."""

    def __init__(self) -> None:
        self.now = datetime(2020, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def open_replay() -> Iterator[tuple[Perdure, SetClock]]:
    """A memory in a temporary file, with its clock."""
    clock = SetClock()
    with (
        TemporaryDirectory(prefix="perdure-truth-") as folder,
        Perdure.open(Path(folder) / "truth.db", clock=clock) as memory,
    ):
        yield memory, clock
