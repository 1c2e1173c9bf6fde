"""Puts a session with memory around the SDK's SQLite session, whose tests then test ours."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import agents.extensions.memory as extensions
from agents.extensions.memory import AsyncSQLiteSession

from perdure import Perdure
from perdure.integrations.openai_agents import PerdureSession

MEMORY = Perdure.open(
    Path(mkdtemp()) / "m.db", embedder="hashing", reranker="none", tagger="rules", busy_timeout_ms=60_000
)
OWN = ("_inner", "_agent", "_bank", "_forget_on_clear", "_unanswered")


class MemorySession(PerdureSession):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(AsyncSQLiteSession(*arguments, **options), MEMORY, "borrowed", deadline=10.0)

    def __setattr__(self, name: str, value: Any) -> None:
        """What tests replace is the inner session's."""
        if name in OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._inner, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._inner, name)


extensions.AsyncSQLiteSession = MemorySession


def pytest_unconfigure() -> None:
    MEMORY.close()
