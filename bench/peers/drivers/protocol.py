"""What a driver reads and writes: a job as JSON on standard input, events as JSON lines on standard output.

Events, in this order: `opened` (versions), for every bank `progress` (texts so far) and `retained` (texts, seconds),
then for every question `ranking` (item ids best first, milliseconds), at last `done`.
Only the standard library is imported here: the file runs in environments that have nothing of Perdure.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TextIO

WARM_UP = ("Who was there?", "What happened in the end?", "When did they meet for the first time?")
"""Asked of every bank before the clock runs; none of them is a measured question."""


@dataclass(frozen=True, slots=True)
class Item:
    """A text to remember: `plain` is what a user would paste, the rest what it was made of."""

    id: str
    plain: str
    text: str
    speaker: str
    title: str
    session: str | None
    date: str | None


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and the day it is asked on if the data has one."""

    id: str
    text: str
    date: str | None


@dataclass(frozen=True, slots=True)
class Bank:
    """Texts that are searched together."""

    id: str
    items: tuple[Item, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """What to do: retain all banks in an empty folder, then ask."""

    folder: Path
    depth: int
    options: dict[str, Any]
    banks: tuple[Bank, ...]


class Memory(Protocol):
    """A memory as the drivers see it."""

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """Remember all texts of a bank; `progress` is told how many were added."""

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        """Ids of the items that come back, best first; an item may come more than once."""


Opened = AbstractContextManager[Memory]


def read_job(stream: TextIO) -> Job:
    """The job that the parent sent."""
    raw = json.load(stream)
    banks = tuple(
        Bank(
            part["id"],
            tuple(Item(**item) for item in part["items"]),
            tuple(Query(**query) for query in part["queries"]),
        )
        for part in raw["banks"]
    )
    return Job(Path(raw["folder"]), raw["depth"], raw["options"], banks)


def events(job: Job, memory: Memory, tell: Callable[[dict[str, Any]], None]) -> Iterator[dict[str, Any]]:
    """Retain, warm up and ask; every figure as an event."""
    done = 0
    for bank in job.banks:

        def progress(count: int) -> None:
            nonlocal done
            done += count
            tell({"event": "progress", "texts": done})

        started = time.perf_counter()
        memory.retain(bank, progress)
        seconds = time.perf_counter() - started
        yield {"event": "retained", "bank": bank.id, "texts": len(bank.items), "seconds": seconds}
    for bank in job.banks:
        for text in WARM_UP:
            memory.search(bank, Query("", text, None), job.depth)
    for bank in job.banks:
        for query in bank.queries:
            started = time.perf_counter()
            found = memory.search(bank, query, job.depth)
            elapsed = (time.perf_counter() - started) * 1000.0
            ranked = list(dict.fromkeys(found))[: job.depth]
            yield {"event": "ranking", "bank": bank.id, "query": query.id, "ranked": ranked, "ms": elapsed}


def drive(opening: Callable[[Job], Opened], packages: Sequence[str]) -> None:
    """Run a driver: read the job, open the memory, write the events."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is not an event
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # lets context managers stop their servers

    def tell(event: dict[str, Any]) -> None:
        out.write(json.dumps(event) + "\n")

    job = read_job(sys.stdin)
    with opening(job) as memory:
        tell({"event": "opened", "versions": {name: version(name) for name in packages}})
        for event in events(job, memory, tell):
            tell(event)
    tell({"event": "done"})
