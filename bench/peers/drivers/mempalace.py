"""MemPalace through the tools that its MCP server documents: a drawer a text, a wing a bank, a room a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.drivers.protocol import Bank, Job, Query, drive

MODEL = Path(".cache", "chroma", "onnx_models", "all-MiniLM-L6-v2", "onnx")
"""Where its embedder looks for the model, under the home folder, before it downloads one."""


class MemPalaceMemory:
    """An open palace."""

    def __init__(self, tools: Any) -> None:
        self._tools = tools
        self._item_of: dict[str, str] = {}

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """A drawer at a time: there is no tool for many."""
        for item in bank.items:
            filed = self._tools.tool_add_drawer(
                wing=bank.id, room=item.session or "passages", content=item.plain
            )
            if not filed.get("success"):
                raise RuntimeError(f"add_drawer: {filed}")
            for drawer in (filed["drawer_id"], *filed.get("chunk_ids", ())):
                self._item_of.setdefault(drawer, item.id)
            progress(1)

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        """Its search as it comes, within the bank's wing."""
        found = self._tools.tool_search(query.text, limit=depth, wing=bank.id)
        if "error" in found:
            raise RuntimeError(f"search: {found['error']}")
        return [self._item_of[hit["drawer_id"]] for hit in found["results"]]


@contextmanager
def opening(job: Job) -> Iterator[MemPalaceMemory]:
    """A new palace; the embedder finds its weights where it would have put them itself."""
    folder = Path.home() / MODEL
    folder.parent.mkdir(parents=True)
    folder.symlink_to(job.options["minilm_onnx"])
    os.environ["MEMPALACE_PALACE_PATH"] = str(job.folder / "palace")
    yield MemPalaceMemory(import_module("mempalace.mcp_server"))


if __name__ == "__main__":
    drive(opening, ("mempalace", "chromadb", "onnxruntime"))
