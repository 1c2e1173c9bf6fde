"""The end of each transaction that changes a bank: indexes are told, and segments kept in step with the rows.

A segment repeats the indexed rows of a range of facts. Closing a fact leaves it as it is, since an index applies the
changes after it; what is erased or replaced is taken out of it in the same transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

import numpy as np

from perdure.stores.index.packed import FACTS, pack_codes, pack_rows, view_part
from perdure.stores.index.rows import read_features
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.working import views_of

SEGMENT = 1024
"""Facts in a segment."""
_AT_ONCE = 4
"""Segments that one transaction makes at most, when there is much to pack."""
_CHANGES_KEPT = 100_000


def touch(db: sqlite3.Connection, bank_no: int, changed: Collection[int] = ()) -> None:
    """Make indexes look at the bank again; `changed` are numbers of facts of which nothing old may stay packed."""
    db.execute("UPDATE bank SET version = version + 1 WHERE no = ?", (bank_no,))
    oldest, newest = db.execute(
        "SELECT (SELECT seq FROM change WHERE bank = ?1 ORDER BY seq LIMIT 1),"
        " (SELECT seq FROM change WHERE bank = ?1 ORDER BY seq DESC LIMIT 1)",
        (bank_no,),
    ).fetchone()
    if oldest is not None and newest - oldest > _CHANGES_KEPT:
        db.execute("UPDATE bank SET changes_since = ? WHERE no = ?", (newest, bank_no))
        db.execute("DELETE FROM change WHERE bank = ?", (bank_no,))
        db.execute("DELETE FROM segment WHERE bank = ?", (bank_no,))
    if changed:
        _renew(db, bank_no, changed)
    _pack_new(db, bank_no)


def repack(db: sqlite3.Connection, bank_no: int) -> None:
    """Make all segments of a bank anew, whose vectors were replaced."""
    for first, last in _ranges(db, bank_no):
        _pack(db, bank_no, first, last)


def _ranges(db: sqlite3.Connection, bank_no: int) -> list[tuple[int, int]]:
    return db.execute(
        "SELECT first, last FROM segment WHERE bank = ? AND part = ? ORDER BY last", (bank_no, FACTS)
    ).fetchall()


def _renew(db: sqlite3.Connection, bank_no: int, changed: Collection[int]) -> None:
    ranges = np.array(_ranges(db, bank_no), np.int64).reshape(-1, 2)
    numbers = np.fromiter(changed, np.int64, len(changed))
    places = np.searchsorted(ranges[:, 1], numbers)
    for place in np.unique(places[places < len(ranges)]).tolist():
        first, last = ranges[place].tolist()
        if np.any((numbers >= first) & (numbers <= last)):
            _pack(db, bank_no, first, last)


def _pack_new(db: sqlite3.Connection, bank_no: int) -> None:
    """Pack the facts after the last segment where there are enough."""
    (last,) = db.execute(
        "SELECT max(last) FROM segment WHERE bank = ? AND part = ?", (bank_no, FACTS)
    ).fetchone()
    packed = last or 0
    for _ in range(_AT_ONCE):
        (newest,) = db.execute("SELECT max(fact) FROM feature WHERE bank = ?", (bank_no,)).fetchone()
        # Numbers are shared by all banks: fewer between them than a segment holds are surely too few.
        if newest is None or newest - packed < SEGMENT:
            return
        found = db.execute(
            "SELECT fact FROM feature WHERE bank = ? AND fact > ? ORDER BY fact LIMIT 1 OFFSET ?",
            (bank_no, packed, SEGMENT - 1),
        ).fetchone()
        if found is None:
            return
        _pack(db, bank_no, packed + 1, found[0])
        packed = found[0]


def _pack(db: sqlite3.Connection, bank_no: int, first: int, last: int) -> None:
    """Make the segments of a range of facts, in the place of those that are there."""
    (change,) = db.execute(
        "SELECT coalesce((SELECT max(seq) FROM change WHERE bank = ?1),"
        " (SELECT changes_since FROM bank WHERE no = ?1))",
        (bank_no,),
    ).fetchone()
    packed = [(FACTS, pack_rows(read_features(db, bank_no, "fact BETWEEN ? AND ?", (first, last))))]
    for view in views_of(db, bank_no):
        rows = db.execute(
            "SELECT fact, value FROM vector_original WHERE bank = ? AND view = ? AND fact BETWEEN ? AND ?",
            (bank_no, view, first, last),
        ).fetchall()
        if rows:
            numbers = np.array([number for number, _ in rows], np.int64)
            codes = codec.encode_vectors(codec.decode_originals([value for _, value in rows]))
            packed.append((view_part(view), pack_codes(numbers, *codes)))
    db.execute("DELETE FROM segment WHERE bank = ? AND last = ?", (bank_no, last))
    db.executemany(
        "INSERT INTO segment (bank, part, first, last, change, body) VALUES (?,?,?,?,?,?)",
        [(bank_no, part, first, last, change, body) for part, body in packed],
    )
