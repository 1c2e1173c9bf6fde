"""How much code a retain and a recall run: distinct functions and files of the package.

    python -m bench.footprint

A fresh memory, two sentences and one question, models loaded on the way; comprehensions and lambdas are not counted.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import perdure
from perdure import Perdure

PACKAGE = str(Path(perdure.__file__).parent)
SAID = "I moved from Oslo to Lisbon last spring, because of the light. My sister Vera is a vet in Bergen."


def functions_run(work: Callable[[], object]) -> set[tuple[str, str, int]]:
    """(file, name, line) of every function of the package that is called, on any thread."""
    seen: set[tuple[str, str, int]] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_name, code.co_firstlineno))

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Perdure.open(f"{folder}/memory.db") as memory:
        retained = functions_run(lambda: memory.retain("ann", SAID, speaker="Ann"))
        recalled = functions_run(lambda: memory.recall("ann", "Where did Ann move last spring?"))
    for name, functions in (("retain", retained), ("recall", recalled)):
        print(f"{name}: {len(functions)} functions in {len({file for file, _, _ in functions})} files")


if __name__ == "__main__":
    main()
