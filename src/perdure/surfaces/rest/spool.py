"""Files made for download: they live in a folder of the server's own and go when it stops."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from itertools import count
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from perdure.errors import NotFound
from perdure.ports.clock import present


class SpooledFile(NamedTuple):
    """A file and when its making began."""

    path: Path
    made_at: datetime


class Spool:
    """Keys such as `banks/<bank>/exports/<operation>/transfer.zip` and the files behind them."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._files: dict[str, SpooledFile] = {}
        self._numbers = count()
        self._lock = Lock()

    def make(self, key: str, write: Callable[[Path], None]) -> int:
        """Have the file written and keep it under the key; returns its size."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="perdure-spool-"))
            path = self._folder / f"{next(self._numbers)}.bin"
            self._files[key] = SpooledFile(path, present())
        write(path)
        return path.stat().st_size

    def find(self, key: str) -> SpooledFile:
        file = self._files.get(key)
        if file is None or not file.path.exists():
            raise NotFound("file", key)
        return file

    def drop_bank(self, bank: str) -> None:
        with self._lock:
            for key in [key for key in self._files if key.startswith(f"banks/{bank}/")]:
                self._files.pop(key).path.unlink(missing_ok=True)

    def close(self) -> None:
        with self._lock:
            self._files.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None
