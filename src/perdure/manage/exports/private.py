"""Files and folders that only their owner can read, and the errors of writing them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from perdure.errors import StoreError, StoreFull, StoreReadOnly


def open_private(path: Path) -> TextIO:
    """Open a new text file for writing, readable by its owner alone."""
    return open(path, "w", encoding="utf-8", newline="\n", opener=_for_owner)


def make_private_folder(path: Path) -> None:
    """Create a folder, with those above it, that only its owner can enter."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Raise StoreReadOnly, StoreFull or another StoreError where the system refuses to write to a path."""
    try:
        yield
    except PermissionError as error:
        raise StoreReadOnly(f"{path} cannot be written: {error.strerror}") from error
    except OSError as error:
        kind = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"{path} cannot be written: {error.strerror}") from error


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
