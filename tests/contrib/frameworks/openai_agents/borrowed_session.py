"""Puts sessions with memory around the SDK's own sessions, and around the one that its tests are written with.

Tests of those sessions, and of runs with them, then test ours.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import agents
import agents.extensions.memory as extensions
import agents.memory
from tests.utils import simple_session  # type: ignore[import-not-found]  # of the SDK's distribution

from perdure import Perdure
from perdure.contrib.frameworks.openai_agents import PerdureSession

MEMORY = Perdure.open(
    Path(mkdtemp()) / "m.db", embedder="hashing", reranker="none", tagger="rules", busy_timeout_ms=60_000
)
OWN = ("_inner", "_agent", "_bank", "_forget_on_clear", "_unanswered")


class MemorySession(PerdureSession):
    """What tests replace is the inner session's."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._inner, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._inner, name)


def remembering(inner: type[Any]) -> type[MemorySession]:
    """The sessions of a class with memory around them."""

    class Remembering(MemorySession):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(inner(*arguments, **options), MEMORY, "borrowed", deadline=10.0)

    return Remembering


extensions.AsyncSQLiteSession = remembering(extensions.AsyncSQLiteSession)
agents.SQLiteSession = agents.memory.SQLiteSession = remembering(agents.SQLiteSession)
simple_session.SimpleListSession = remembering(simple_session.SimpleListSession)


def pytest_unconfigure() -> None:
    MEMORY.close()
