"""Whether SQLite's log lost its end: transactions that were acknowledged and are not read back after damage.

A frame of the log carries the salt of its round, a checksum of itself that goes on from the one of the frame
before, and, when it ends a transaction, the size of the file (https://www.sqlite.org/fileformat2.html, 4).
SQLite reads the log up to the first frame whose checksum is wrong. A whole frame behind that which has the
same salt and ends a transaction belongs to one that was acknowledged and is lost; one that is not whole was
cut off by the death of its writer, who acknowledged nothing. The log may be opened beside SQLite: its locks
are on other files.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import struct
from datetime import UTC, datetime

log = logging.getLogger(__name__)

LOST_LOG = "lost_log"
"""Kind of the shared record that says so until somebody has seen it."""
_HEADER, _FRAME = 32, 24
_TRIES = 3


def lost_transactions(db: sqlite3.Connection, path: str) -> int:
    """Return how many transactions stand in the log behind its readable part; 0 while others write."""
    log_file = f"{path}-wal"
    for _ in range(_TRIES):
        if not os.path.exists(log_file) or os.path.getsize(log_file) <= _HEADER:
            return 0
        before = _readable_frames(db)
        lost = _ends_behind(log_file, before)
        if _readable_frames(db) == before:
            return lost
    return 0


def note_lost(db: sqlite3.Connection, path: str) -> None:
    """Keep on record that the log lost its end, before the next write takes its place."""
    lost = lost_transactions(db, path)
    if not lost:
        return
    log.error("%s: the log was damaged, its last %d transactions are lost; restore a backup", path, lost)
    now = datetime.now(UTC).isoformat()
    db.execute(
        "INSERT OR REPLACE INTO shared_record (kind, id, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
        (LOST_LOG, now, f'{{"transactions":{lost}}}', now, now),
    )


def _readable_frames(db: sqlite3.Connection) -> int:
    """Return frames of the log that SQLite reads."""
    frames = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    return max(0, int(frames))


def _ends_behind(log_file: str, frames: int) -> int:
    """Return whole frames of the same round that end a transaction, behind so many."""
    ends = 0
    with open(log_file, "rb") as file:
        header = file.read(_HEADER)
        if len(header) < _HEADER:
            return 0
        order = ">" if header[3] & 1 else "<"
        page_size, salt = struct.unpack(">I", header[8:12])[0], header[16:24]
        before: bytes | None = None
        file.seek(_HEADER + frames * (_FRAME + page_size))
        while len(frame := file.read(_FRAME + page_size)) == _FRAME + page_size:
            if frame[8:16] != salt:
                return ends
            ends_one = before is not None and frame[4:8] != bytes(4)
            if ends_one and before is not None and _checksum(before, frame, order) == frame[16:24]:
                ends += 1
            before = frame[16:24]
    return ends


def _checksum(before: bytes, frame: bytes, order: str) -> bytes:
    """Return the checksum of a frame that goes on from the one before it (the same, 4.2)."""
    first, second = struct.unpack(">II", before)
    words = struct.unpack(f"{order}{(len(frame) - 16) // 4}I", frame[:8] + frame[_FRAME:])
    for place in range(0, len(words), 2):
        first = (first + words[place] + second) & 0xFFFFFFFF
        second = (second + words[place + 1] + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second)
