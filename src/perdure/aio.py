"""AsyncPerdure: the same methods on worker threads."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from perdure.engine import Perdure
from perdure.errors import StoreError
from perdure.settings import Settings

T = TypeVar("T")

WORKERS = 16
ASYNC_METHODS = (
    "retain", "retain_later", "operation", "operations", "cancel_operation", "retry_operation",
    "recall", "context", "reflect", "banks", "bank", "configure_bank", "stats", "facts", "fact", "update_fact",
    "history", "links", "documents", "chunks", "entities", "merge_entities", "split_entity", "forget",
    "import_bank", "reembed", "facts_by_id", "retag_document", "set_fact_entities", "trimmed_recipe",
    "count_tokens", "records", "save_record", "forget_record", "delete_operation", "chunk_home",
)  # fmt: skip


class AsyncPerdure:
    """Every method of Perdure as a coroutine; a test keeps the two in step."""

    def __init__(self, engine: Perdure) -> None:
        self.engine = engine
        self._closed = False
        self._workers = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="perdure-async")

    @classmethod
    async def open(
        cls, database: str | Path | None = None, *, settings: Settings | None = None, **overrides: Any
    ) -> AsyncPerdure:
        """Open a database file (made if missing); overrides are settings by name."""
        return cls(await asyncio.to_thread(Perdure.open, database, settings=settings, **overrides))

    async def __aenter__(self) -> AsyncPerdure:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish the background step at hand, leave the rest of such work to the next open, and release files and memory."""
        if not self._closed:
            await self._run(self.engine.close)
            self._closed = True
            self._workers.shutdown(wait=False)

    async def export_bank(self, bank: str) -> list[str]:
        """The bank as JSON lines."""
        return await self._run(lambda: list(self.engine.export_bank(bank)))

    async def _run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        if self._closed:
            raise StoreError(f"{self.engine.settings.database}: the store is closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._workers, functools.partial(work, *args, **options))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ASYNC_METHODS:
            raise AttributeError(f"AsyncPerdure has no attribute {name!r}")
        return functools.partial(self._run, getattr(self.engine, name))
