"""Puts `PerdureMemory` in the place of the framework's `Memory`, whose tests then run against it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("CREWAI_STORAGE_DIR", tempfile.mkdtemp())
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true")

import crewai.memory
import crewai.memory.unified_memory as module

from perdure import Perdure
from perdure.contrib.frameworks.crewai import PerdureMemory

LIGHT: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
_opened: dict[str, Perdure] = {}


class BorrowedMemory(PerdureMemory):
    """`PerdureMemory`, built as theirs is: with a folder as storage."""

    def __init__(self, storage: Any = None, **options: Any) -> None:
        key = storage if isinstance(storage, str) else str(id(storage)) if storage is not None else "default"
        if key not in _opened:
            folder = (
                Path(storage) if isinstance(storage, str) and os.sep in storage else Path(tempfile.mkdtemp())
            )
            folder.mkdir(parents=True, exist_ok=True)
            _opened[key] = Perdure.open(folder / "memory.db", **LIGHT)
        super().__init__(_opened[key], bank="crewai.tests", precision="search", deadline=20, **options)


module.Memory = BorrowedMemory
crewai.memory.Memory = BorrowedMemory


def pytest_sessionfinish() -> None:
    for memory in _opened.values():
        memory.close()
