"""A check of everything in the file: its structure and log by SQLite's own means, then each bank."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from perdure.domain.damage import Verification
from perdure.stores.sql.columns import Values
from perdure.stores.sql.queries import UNREADABLE
from perdure.stores.sql.verify import BankCheck, Report, Work
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.damage import is_damage, primary_code
from perdure.stores.sqlite.log_tail import LOST_LOG
from perdure.stores.sqlite.rows import ConnectionRows, SqliteTransaction

_INDEX = re.compile(r"index (\w+)$|index (\w+) ")
_MESSAGES = 100
"""Messages that are asked of SQLite's own check."""


def verify(connections: Connections, *, quick: bool, repair: bool, drop: bool) -> Verification:
    """Check the file; with `repair` mend what can be mended, with `drop` also delete what cannot."""
    report = Report(repair=repair, drop=drop)
    _check_log(connections.reader().connection, report)
    with connections.reader().one_state() as db:
        _check_structure(db, report, quick)
        if not quick:
            for bank_no, bank_id in _rows(db, report, "SELECT no, id FROM bank"):
                _BankCheck(ConnectionRows(db, bank_id, bank_no), report, db).check()
    return report.settle(partial(_run, connections), quick=quick)


def _run(connections: Connections, bank: str, work: Work) -> bool:
    """Repair a damage; return False where other damage prevents it."""
    try:
        with connections.writing() as db:
            transaction = SqliteTransaction(db, bank, datetime.now(UTC))
            work(transaction)
            transaction.finish()
    except sqlite3.Error as error:
        if not is_damage(error) and primary_code(error) != sqlite3.SQLITE_CONSTRAINT:
            raise
        return False
    return True


def _check_log(db: sqlite3.Connection, report: Report) -> None:
    """Report that the log lost its end, which opening the file put on record; a repair takes it off."""
    query = "SELECT id, json_extract(body, '$.transactions') FROM shared_record WHERE kind = ? ORDER BY id"
    for seen_at, count in _rows(db, report, query, LOST_LOG):
        problem = f"its last {count} transactions were lost to damage; only a backup has them"
        report.add("log", f"seen at {seen_at}", problem, repair="taken note of", mend=_forget_lost_log)


def _forget_lost_log(tx: SqliteTransaction) -> None:
    tx.execute("DELETE FROM shared_record WHERE kind = ?", LOST_LOG)


def _rows(db: sqlite3.Connection, report: Report, query: str, *parameters: object) -> list[Values]:
    """Return all rows of a query; report a table that cannot be read."""
    try:
        return db.execute(query, parameters).fetchall()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        report.add("file", query.partition(" FROM ")[2].partition(" ")[0], UNREADABLE)
        return []


def _check_structure(db: sqlite3.Connection, report: Report, quick: bool) -> None:
    """Check the pages by SQLite; the full check also compares indexes with their tables."""
    report.checked["structure"] += 1
    try:
        check = "quick_check" if quick else "integrity_check"
        messages = [str(message) for (message,) in db.execute(f"PRAGMA {check}({_MESSAGES})")]
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        messages = [f"SQLite cannot check it: code {primary_code(error)}"]
    indexes: dict[str, str] = {}
    for message in messages:
        index = _INDEX.search(message)
        if index:
            indexes.setdefault(index[1] or index[2], message)
        elif message != "ok":
            report.add("file", "structure", message)
    for name, message in indexes.items():
        report.add("index", name, message, repair="REINDEX", mend=partial(_reindex, name))


def _reindex(name: str, tx: SqliteTransaction) -> None:
    tx.execute(f"REINDEX {name}")


class _BankCheck(BankCheck):
    """The check of a bank in a file whose tables may be unreadable."""

    def __init__(self, rows: ConnectionRows, report: Report, db: sqlite3.Connection) -> None:
        super().__init__(rows, report)
        self._db = db

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return _rows(self._db, self._report, query, self._rows.bank_no, *parameters)

    def _run(self, part: Callable[[], None]) -> None:
        try:
            part()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self._add("file", "a table", UNREADABLE)
