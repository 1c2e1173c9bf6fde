"""Puts Perdure's stores in the place of LangGraph's SQLite stores, whose tests then test ours.

An index in their configuration is a memory whose items are found by meaning, none is a plain store. Values are taken as they
are (`extractor="verbatim"`): the tests put fragments such as "zzz", of which nobody would draw a fact.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from perdure import Perdure
from perdure.contrib.frameworks.langgraph import AsyncPerdureStore, PerdureStore


class SetUpStore(PerdureStore):
    def setup(self) -> None:
        """Nothing to do: a memory is set up when it is opened."""


class SetUpAsyncStore(AsyncPerdureStore):
    async def setup(self) -> None:
        """Nothing to do: a memory is set up when it is opened."""


def fields(index: Mapping[str, Any] | None) -> tuple[str, ...]:
    return () if index is None else tuple(index.get("text_fields") or index.get("fields") or ("$",))


@contextmanager
def memory() -> Iterator[Perdure]:
    with (
        TemporaryDirectory() as folder,
        Perdure.open(
            Path(folder) / "m.db", embedder="hashing", reranker="none", tagger="rules", extractor="verbatim"
        ) as opened,
    ):
        yield opened


@contextmanager
def open_store(_: str, *, index: Any = None, **options: Any) -> Iterator[PerdureStore]:
    with memory() as opened:
        yield SetUpStore(opened, "borrowed", fields=fields(index))


@asynccontextmanager
async def open_async_store(_: str, *, index: Any = None, **options: Any) -> AsyncIterator[AsyncPerdureStore]:
    with memory() as opened:
        yield SetUpAsyncStore(opened, "borrowed", fields=fields(index))


SqliteStore.from_conn_string = staticmethod(open_store)
AsyncSqliteStore.from_conn_string = staticmethod(open_async_store)
