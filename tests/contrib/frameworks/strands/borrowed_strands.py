"""Puts `PerdureStore` in the place of the framework's own file store, whose tests then run against it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import Any

import strands.vended_memory_stores
import strands.vended_memory_stores.test_memory_store as package

from perdure import Perdure
from perdure.contrib.frameworks.strands import PerdureStore

BANK = "strands.tests"
LIGHT: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
_opened: dict[str, Perdure] = {}
_opening = RLock()


class _OnFirstUse:
    """A memory that is opened when it is first used, and shared by all stores of its file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        with _opening:
            if self._path not in _opened:
                _opened[self._path] = Perdure.open(Path(self._path).with_suffix(".db"), **LIGHT)
        return getattr(_opened[self._path], name)


class BorrowedStore(PerdureStore):
    """`PerdureStore`, built as the file store is: by a name and a path."""

    __test__ = False

    def __init__(self, *, name: str, path: str | None = None, persist: bool = True, **options: Any) -> None:
        file = str(path) if persist else f"{tempfile.mkdtemp()}/memory.db"
        memory: Any = _OnFirstUse(file)
        options.setdefault("extraction", None)
        super().__init__(memory, bank=BANK, name=name, **options)
        self._path = path if persist else None

    async def add(self, content: str, metadata: Any = None) -> Any:
        """The file store returns one id for one text; its tests count what is stored by its file."""
        ids = await super().add(content, metadata)
        if self._path is not None:
            with _opening:
                stored = [{"content": fact.text} for fact in self.agent.memory.facts.iterate(BANK)]  # type: ignore[attr-defined]
                Path(self._path).write_text(json.dumps(stored), encoding="utf-8")
        return SimpleNamespace(id=ids[0])


package.TestMemoryStore = BorrowedStore
strands.vended_memory_stores.TestMemoryStore = BorrowedStore


def pytest_sessionfinish() -> None:
    for memory in _opened.values():
        memory.close()
