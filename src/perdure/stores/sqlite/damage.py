"""Which of SQLite's errors mean that a part of the file cannot be read."""

from __future__ import annotations

import sqlite3

from perdure.errors import StoreCorrupt

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})


def primary_code(error: sqlite3.Error) -> int | None:
    """Return SQLite's primary result code of an error; None for errors of the driver itself."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def is_undecodable(error: BaseException) -> bool:
    """Return whether the driver met text that is not UTF-8; its message quotes that text."""
    return isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error)


def is_damage(error: BaseException) -> bool:
    """Return whether an error means that what is stored is damaged, so that other rows may still be read."""
    if isinstance(error, sqlite3.Error):
        return is_undecodable(error) or primary_code(error) in _DAMAGE
    return isinstance(error, StoreCorrupt | UnicodeDecodeError)
