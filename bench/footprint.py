"""How much code a warm retain, recall and reflect run: distinct functions and files of the package, and SELECTs.

    python -m bench.footprint [--list FILE]

A fresh memory in SQLite. Each verb has run once before it is counted; comprehensions and lambdas are not counted. `--list`
writes the functions with the number of their calls, most called first, and the SELECTs.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import perdure
from perdure import Perdure

PACKAGE = f"{Path(perdure.__file__).parent}/"
BEFORE = "My sister Vera is a vet in Bergen. We met at a concert in May 2023."
SAID = "I moved from Oslo to Lisbon last spring, because of the light."
ASKED = "Where did Ann move last spring?"


@dataclass
class Footprint:
    """What a call entered and asked."""

    calls: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """(file, name, first line) of a function -> how often it was called, on any thread."""
    selects: list[str] = field(default_factory=list)

    @property
    def files(self) -> set[str]:
        return {file for file, _, _ in self.calls}


@contextmanager
def statements_of(opened: list[str]) -> Iterator[None]:
    """Append the statements of every connection that is opened inside the block, for as long as it is open."""
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_trace_callback(opened.append)
        return connection

    with patch("sqlite3.connect", traced):
        yield


def footprint(work: Callable[[], object], statements: list[str]) -> Footprint:
    """Run a call and return what it entered."""
    result = Footprint()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            name = code.co_filename.removeprefix(PACKAGE), code.co_qualname, code.co_firstlineno
            result.calls[name] += 1

    statements.clear()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    result.selects = [one for one in statements if one.lstrip().upper().startswith(("SELECT", "WITH"))]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="How much code a retain, a recall and a reflect run.")
    parser.add_argument("--list", type=Path, metavar="FILE", help="write the functions and the SELECTs")
    listing = parser.parse_args().list
    statements: list[str] = []
    lines: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        statements_of(statements),
        Perdure.open(f"{folder}/memory.db") as memory,
    ):
        memory.retain("ann", BEFORE, speaker="Ann")
        memory.recall("ann", "Where does Vera work?")
        memory.reflect("ann", "What does Vera do?")
        for verb, work in (
            ("retain", lambda: memory.retain("ann", SAID, speaker="Ann")),
            ("recall", lambda: memory.recall("ann", ASKED)),
            ("reflect", lambda: memory.reflect("ann", ASKED)),
        ):
            run = footprint(work, statements)
            counts = f"{len(run.calls)} functions in {len(run.files)} files, {len(run.selects)} SELECTs"
            print(f"{verb}: {counts}")
            lines += [f"# {verb}: {counts}", ""]
            lines += [f"{times:5} {file} {name}" for (file, name, _), times in run.calls.most_common()]
            lines += ["", *(" ".join(select.split())[:300] for select in run.selects), ""]
    if listing:
        listing.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
