"""The same program on a served memory: `connect` instead of `Perdure.open`. Run it as it is: it starts a server of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perdure import Perdure, Unreachable, connect

PORT = 8899


def talk(memory: Perdure) -> None:
    """Does not know whether the memory is here or elsewhere."""
    memory.retain("ann", "I moved to Lisbon in May.", speaker="Ann")
    print(memory.recall("ann", "Where does Ann live?"))


def connected(url: str, seconds: float = 180.0) -> Perdure:
    """The memory, as soon as its server answers."""
    until = time.monotonic() + seconds
    while True:
        try:
            return connect(url)
        except Unreachable:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "memory.db")
        command = [
            sys.executable,
            "-m",
            "perdure.surfaces.cli.main",
            "serve",
            "--open",
            "--database",
            database,
        ]
        server = subprocess.Popen([*command, "--port", str(PORT)], stdout=subprocess.DEVNULL)
        try:
            with connected(f"http://127.0.0.1:{PORT}") as memory:
                talk(memory)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
