"""Clears the unused parts of pages in a SQLite file, where moved rows leave copies of themselves.

A page of a tree holds a header, an array of pointers and, at its end, the rows; what lies between is the gap.
SQLite (with secure_delete) zeroes rows and pages that it frees, but when it shares rows out anew among pages
it does not zero the gaps that arise. Nothing reads a gap: zeroing it changes no content.
File format: https://www.sqlite.org/fileformat2.html, sections 1.5 (free pages) and 1.6 (trees).
"""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path
from threading import Lock

import numpy as np

_AT_ONCE = 1 << 20
_HEAD = np.full(256, -1, np.int64)
"""Length of a page's header by its first byte, -1 for none that is known."""
_HEAD[[2, 5]] = 12
_HEAD[[10, 13]] = 8
_HEAD[0] = 0
"""Pages that are in no tree begin with the high byte of a page number: 0 in files below 2**24 pages."""
_MOST_PAGES = 1 << 24
_HEADER = 100


class OpenFiles:
    """Files opened beside SQLite, one for each database of this process.

    On POSIX closing any descriptor of a file drops all locks that the process holds on it, SQLite's too: a file
    that was opened here stays open until the last store on it is closed.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users: dict[tuple[int, int], int] = {}
        self._files: dict[tuple[int, int], FileIO] = {}

    def enter(self, path: str) -> tuple[int, int]:
        """A store begins to use a file; returns the file's key."""
        status = os.stat(path)
        key = (status.st_dev, status.st_ino)
        with self._lock:
            self._users[key] = self._users.get(key, 0) + 1
        return key

    def leave(self, key: tuple[int, int]) -> None:
        """A store does not use the file any more."""
        with self._lock:
            self._users[key] -= 1
            if self._users[key] == 0:
                del self._users[key]
                held = self._files.pop(key, None)
                if held is not None:
                    held.close()

    def file(self, key: tuple[int, int], path: str) -> FileIO | None:
        """The file, to be read and written but never closed; None when another one has taken its place."""
        with self._lock:
            held = self._files.get(key)
            if held is None:
                held = self._files[key] = FileIO(Path(path), "r+")
            status = os.fstat(held.fileno())
            return held if (status.st_dev, status.st_ino) == key else None


OPEN_FILES = OpenFiles()


def clear_gaps(file: FileIO | None) -> bool:
    """Zero every gap; False, with nothing written, when the file is not of a form that is known here.

    The caller holds the write lock, the log is empty, and before the lock is released a commit makes all other
    connections drop the pages that they hold.
    """
    if file is None:
        return False
    file.seek(0)
    header = file.read(_HEADER)
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 1 << 16 if page_size == 1 else page_size
    size = os.fstat(file.fileno()).st_size
    reserved, auto_vacuum = header[20], int.from_bytes(header[52:56], "big")
    if reserved or auto_vacuum or size % page_size or size // page_size >= _MOST_PAGES:
        return False
    dirty: list[tuple[int, int]] = []
    # The first page holds the schema alone.
    room = bytearray(_AT_ONCE)
    for offset in range(page_size, size, _AT_ONCE):
        file.seek(offset)
        length = min(_AT_ONCE, size - offset)
        _fill(file, memoryview(room)[:length])
        found = _dirty_gaps(room, length, page_size)
        if found is None:
            return False
        dirty += [(offset + start, length) for start, length in found]
    zeros = bytes(page_size)
    for start, length in dirty:
        file.seek(start)
        file.write(zeros[:length])
    if dirty:
        os.fsync(file.fileno())
    return True


def _fill(file: FileIO, room: memoryview) -> None:
    done = 0
    while done < len(room):
        got = file.readinto(room[done:])
        if not got:
            raise OSError("the file ended while it was read")
        done += got


def _dirty_gaps(block: bytearray, length: int, page_size: int) -> list[tuple[int, int]] | None:
    """(start, length) of the gaps that are not zero; None when a page is of no known form."""
    pages = np.frombuffer(block, np.uint8, length).reshape(-1, page_size)
    head = _HEAD[pages[:, 0]]
    if head.min() < 0:
        return None
    number = np.flatnonzero(head)
    heads = pages[number, :8].astype(np.int64)
    low = head[number] + 2 * (heads[:, 3] << 8 | heads[:, 4])
    high = heads[:, 5] << 8 | heads[:, 6]
    high[high == 0] = 1 << 16
    if np.any((low > high) | (high > page_size)):
        return None
    zeros = bytes(page_size)
    starts, ends = number * page_size + low, number * page_size + high
    return [
        (start, end - start)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        if block[start:end] != zeros[: end - start]
    ]
