"""Puts Perdure's memory tools in the place of the SDK's file tools, whose tests then test ours.

Their tests look at the folder of the files; here they see the files that the tool keeps.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import anthropic.lib.tools._beta_builtin_memory_tool as builtin
import pytest

from perdure import Perdure
from perdure.contrib.frameworks.anthropic_memory import FILE, AsyncPerdureMemoryTool, PerdureMemoryTool

MEMORY = Perdure.open(
    Path(mkdtemp()) / "m.db", embedder="hashing", reranker="none", tagger="rules", busy_timeout_ms=60_000
)


def bank_of_folder(folder: str) -> str:
    return "borrowed." + str(folder).replace("/", "_")


class FolderTool(PerdureMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        super().__init__(MEMORY, bank_of_folder(base_path))
        self.base_path = Path(base_path)


class AsyncFolderTool(AsyncPerdureMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        super().__init__(MEMORY, bank_of_folder(base_path))
        self.base_path = Path(base_path)


def snapshot(folder: str) -> dict[str, str]:
    records = MEMORY.records.list(FILE, bank=bank_of_folder(folder))
    return {record.id.removeprefix("/"): str(record.body["text"]) for record in records}


builtin.BetaLocalFilesystemMemoryTool = FolderTool
builtin.BetaAsyncLocalFilesystemMemoryTool = AsyncFolderTool


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if hasattr(item.module, "get_directory_snapshot"):
            item.module.get_directory_snapshot = snapshot


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    MEMORY.close()
