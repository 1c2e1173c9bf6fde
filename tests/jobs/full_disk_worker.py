"""Consolidates on a file system that is full when the first step is done, and has room again later.

FOLDER: an empty folder on a file system of a few megabytes.
"""

from __future__ import annotations

import logging
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from perdure import OperationStatus, Perdure
from perdure.jobs import runner
from perdure.ports.store import Transaction
from perdure.stores.sqlite.store import SqliteStore

BANK = "b"
PATIENCE = 120.0
PEOPLE = "Ann Bob Cleo Dan".split()
TEXTS = ("I live in Berlin.", "I work at Ford.", "I have a dog named Rex.", "I like tea.")


class FillingStore:
    """A store whose disk is full from the second transaction of background work on, which is that of a step."""

    def __init__(self, store: SqliteStore, ballast: Path) -> None:
        self._store, self._ballast = store, ballast
        self.transactions = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def transaction(self, bank: str) -> Iterator[Transaction]:
        if threading.current_thread().name.startswith("perdure-jobs"):
            self.transactions += 1
            if self.transactions == 2:
                self.fill()
        with self._store.transaction(bank) as tx:
            yield tx

    def fill(self) -> None:
        with self._ballast.open("wb", buffering=0) as file:
            while True:
                try:
                    file.write(bytes(4096))
                except OSError:
                    return


class FullDiskSeen(logging.Handler):
    """Tells when background work has met the full disk."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if "until the disk has room" in record.getMessage():
            self.seen.set()


def main(folder: Path) -> None:
    runner.ROOM_AGAIN = 0.05
    handler = FullDiskSeen()
    logging.getLogger("perdure.jobs.runner").addHandler(handler)
    ballast = folder / "ballast"
    store: Any = FillingStore(SqliteStore.open(folder / "memory.db"), ballast)
    with Perdure.open(store=store, embedder="hashing", reranker="none", tagger="rules") as memory:
        for person in PEOPLE:
            memory.retain(BANK, " ".join(TEXTS), speaker=person)
        operation = memory.consolidate(BANK)
        assert handler.seen.wait(PATIENCE), "the disk was never full"
        status = memory.operations.get(BANK, operation.id).status
        assert status in (OperationStatus.PENDING, OperationStatus.PROCESSING), status
        assert memory.banks.stats(BANK).facts >= len(PEOPLE)
        ballast.unlink()
        done = memory.operations.get(BANK, operation.id, wait=PATIENCE)
        assert done.status is OperationStatus.COMPLETED, done.error
        assert memory.observations.list(BANK)
    with closing(sqlite3.connect(folder / "memory.db")) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
