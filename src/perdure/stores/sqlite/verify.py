"""A check of everything in the file: its structure, checksums of content, the index against rows, links against facts.

What can be mended without losing anything is mended from what is still there: indexes and packed facts are made anew from
the rows, a link to nothing is dropped, and one changed bit of a text is found by the checksum and set right.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypedDict

from perdure.domain.damage import Damage, Verification
from perdure.stores.index import packing
from perdure.stores.sql import remedies
from perdure.stores.sql.columns import Values, batches
from perdure.stores.sql.damage import ALTERED, UNREADABLE
from perdure.stores.sql.feed import cached_facts, pack_facts
from perdure.stores.sqlite import mend
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.damage import is_damage, primary_code
from perdure.stores.sqlite.log_tail import LOST_LOG
from perdure.stores.sqlite.rows import ConnectionRows, SqliteTransaction

_INDEX = re.compile(r"index (\w+)$|index (\w+) ")
_MESSAGES = 100
"""Messages that are asked of SQLite's own check."""
_BELONGING = ("fact_features", "index_cache", "fact_entity", "fact_tag", "fact_source", "proof", "vector")
"""Tables with rows that belong to a fact."""


def verify(connections: Connections, *, quick: bool, repair: bool, drop: bool) -> Verification:
    """Check the file; with `repair` mend what can be mended, with `drop` also delete what cannot."""
    report = _Report(repair=repair, drop=drop)
    _tell_lost_log(connections, report)
    with connections.reader().one_state() as db:
        _check_structure(db, report, quick)
        if not quick:
            for bank_no, bank_id in _rows(db, report, "SELECT no, id FROM bank"):
                _Bank(db, report, bank_id, bank_no).check()
    damage = [_mended(connections, one, work) for one, work in report.damage]
    return Verification(checked=dict(report.checked), damage=tuple(damage), quick=quick)


Work = Callable[[SqliteTransaction], None]
"""What mends a damage, in a transaction of the bank it is in."""


@dataclass(slots=True)
class _Report:
    repair: bool
    drop: bool
    checked: Counter[str] = field(default_factory=Counter)
    damage: list[tuple[Damage, Work | None]] = field(default_factory=list)

    def add(
        self,
        kind: str,
        name: str,
        problem: str,
        bank: str = "",
        repair: str = "",
        mend: Work | None = None,
        drop: Work | None = None,
    ) -> None:
        """Note damage, and what is to be done about it by what was asked for."""
        work = mend if self.repair else None
        if mend is None and drop is not None and self.drop:
            work, repair = drop, "deleted"
        self.damage.append((Damage(kind=kind, name=name, problem=problem, bank=bank, repair=repair), work))


def _mended(connections: Connections, damage: Damage, work: Work | None) -> Damage:
    """The damage after the work on it, which is a transaction of its own: what it meets costs nothing else."""
    if work is None:
        return damage
    try:
        with connections.writing() as db:
            transaction = SqliteTransaction(db, damage.bank, datetime.now(UTC))
            work(transaction)
            transaction.finish()
    except sqlite3.Error as error:
        if not is_damage(error) and primary_code(error) != sqlite3.SQLITE_CONSTRAINT:
            raise
        return damage
    return replace(damage, repaired=True)


def _tell_lost_log(connections: Connections, report: _Report) -> None:
    """That the log lost its end, which opening the file put on record; a repair takes it off."""
    query = "SELECT id, json_extract(body, '$.transactions') FROM shared_record WHERE kind = ? ORDER BY id"
    for seen_at, count in _rows(connections.reader().connection, report, query, LOST_LOG):
        problem = f"its last {count} transactions were lost to damage; only a backup has them"
        report.add("log", f"seen at {seen_at}", problem, repair="taken note of", mend=_forget_lost_log)


def _forget_lost_log(tx: SqliteTransaction) -> None:
    tx.execute("DELETE FROM shared_record WHERE kind = ?", LOST_LOG)


def _rows(db: sqlite3.Connection, report: _Report, query: str, *parameters: object) -> list[Values]:
    """All rows of a query; a table that cannot be read is damage."""
    try:
        return db.execute(query, parameters).fetchall()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        report.add("file", query.partition(" FROM ")[2].partition(" ")[0], UNREADABLE)
        return []


def _check_structure(db: sqlite3.Connection, report: _Report, quick: bool) -> None:
    """SQLite's own check of its pages; the full one compares indexes with their tables."""
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


class _Bank:
    """The check of one bank."""

    def __init__(self, db: sqlite3.Connection, report: _Report, bank_id: str, bank_no: int) -> None:
        self._db, self._report = db, report
        self._bank_id, self._bank_no = bank_id, bank_no
        self._rows = ConnectionRows(db, bank_id, bank_no)

    def check(self) -> None:
        numbers = [no for (no,) in self._select("SELECT no FROM fact WHERE bank = ? ORDER BY no")]
        parts: tuple[Callable[[], None], ...] = (
            partial(self._check_facts, numbers),
            partial(self._check_texts, "document", lambda ids: {one.id for one in self._rows.documents(ids)}),
            partial(self._check_texts, "chunk", lambda ids: {one.id for one in self._rows.chunks(ids=ids)}),
            partial(self._check_features, numbers),
            partial(self._check_lost, set(numbers)),
            self._check_links,
        )
        for part in parts:
            try:
                part()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self._add("file", "a table", UNREADABLE)

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return _rows(self._db, self._report, query, self._bank_no, *parameters)

    def _add(
        self,
        kind: str,
        name: str,
        problem: str,
        repair: str = "",
        mend: Work | None = None,
        drop: Work | None = None,
    ) -> None:
        self._report.add(kind, name, problem, self._bank_id, repair, mend, drop)

    def _check_facts(self, numbers: Sequence[int]) -> None:
        """Facts against their checksums, packed facts against facts."""
        for block in batches(numbers):
            self._report.checked["facts"] += len(block)
            sound = self._rows.facts_by_number(block)
            for no in (no for no in block if no not in sound):
                fix = mend.find_fact(self._db, self._bank_no, no)
                name = mend.fact_id(self._db, self._bank_no, no) or f"number {no}"
                self._add("fact", name, ALTERED, **_remedies(fix, partial(remedies.drop_fact, no)))
            self._check_cache(block)

    def _check_texts(self, table: str, read: Callable[[Sequence[str]], set[str]]) -> None:
        """Documents or chunks against their checksums."""
        ids = [one for (one,) in self._select(f"SELECT id FROM {table} WHERE bank = ? ORDER BY id")]
        for block in batches(ids):
            self._report.checked[f"{table}s"] += len(block)
            sound = read(block)
            for one in (one for one in block if one not in sound):
                fix = mend.find_text(self._db, table, self._bank_no, one)
                self._add(table, one, ALTERED, **_remedies(fix, partial(remedies.drop_text, table, one)))

    def _check_cache(self, numbers: Sequence[int]) -> None:
        packed = {fact.no: fact for fact in pack_facts(self._rows, numbers)}
        cached = cached_facts(self._rows, numbers)
        self._report.checked["packed facts"] += len(packed)
        for fact in (fact for no, fact in packed.items() if cached.get(no) != fact):
            stored = cached.get(fact.no)
            pack_anew = partial(remedies.pack_anew, fact.no)
            if stored is not None and packing.is_sound(fact.id, stored.body):
                problem = "terms, links or columns differ from what was packed"
                self._add("features", fact.id, problem, "packed anew from its rows", pack_anew)
            else:
                self._add("cache", fact.id, "is missing or damaged", "packed anew from its rows", pack_anew)

    def _check_features(self, numbers: Sequence[int]) -> None:
        """What facts are found by: there, readable, and of the bank's dimensions."""
        for block in batches(numbers):
            lacking = set(block) - self._rows.terms(block).keys()
            for fact in self._rows.facts_by_number(sorted(lacking)).values():
                self._add("features", fact.id, "what the fact is found by is missing or cannot be read")
        for (dimensions,) in self._select("SELECT dimensions FROM bank WHERE no = ?"):
            if dimensions is not None:
                query = "SELECT fact, view FROM vector WHERE bank = ? AND length(value) <> ?"
                for no, view in self._select(query, 2 * dimensions):
                    name = f"{view} of fact number {no}"
                    self._add(
                        "vector",
                        name,
                        "has not the bank's dimensions",
                        drop=partial(remedies.drop_vector, no, view),
                    )
        for (count,) in self._select("SELECT count(*) FROM vector WHERE bank = ?"):
            self._report.checked["vectors"] += count

    def _check_lost(self, numbers: set[int]) -> None:
        """Facts of which other rows are left, but not their own."""
        lost: Counter[int] = Counter()
        for table in _BELONGING:
            for (no,) in self._select(f"SELECT fact FROM {table} WHERE bank = ?"):
                lost[no] += no not in numbers
        for no, rows in sorted((+lost).items()):
            named = self._select("SELECT id FROM index_cache WHERE bank = ? AND fact = ?", no)
            name = str(named[0][0]) if named else f"number {no}"
            problem = f"is gone, {rows} rows that belong to it are left"
            self._add("fact", name, problem, drop=partial(remedies.drop_fact, no))

    def _check_links(self) -> None:
        """Links between facts that are there, with a weight from 0 to 1; and what superseded a fact."""
        for (count,) in self._select("SELECT count(*) FROM link WHERE bank = ?"):
            self._report.checked["links"] += count
        query = (
            "SELECT source, target, kind FROM link WHERE bank = ? AND (weight NOT BETWEEN 0 AND 1.000001"
            " OR kind NOT IN ('temporal', 'semantic', 'causal')"
            " OR NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = link.bank AND no = source)"
            " OR NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = link.bank AND no = target))"
        )
        for source, target, kind in self._select(query):
            problem = "joins facts of which one is not there, or has no weight from 0 to 1"
            drop = partial(remedies.drop_link, source, target, kind)
            self._add("link", f"{source} to {target}", problem, "dropped", drop)
        for (fact_id,) in self._select(remedies.SUPERSEDED_BY_NOTHING):
            problem = "names a fact that superseded it and is not there"
            self._add("fact", fact_id, problem, drop=partial(remedies.drop_pointer, fact_id))


class _Remedies(TypedDict, total=False):
    repair: str
    mend: Work
    drop: Work


def _remedies(fix: mend.Fix | None, drop: Work) -> _Remedies:
    """A damaged row is set right where it can be, and may be deleted where it cannot."""
    return (
        {"drop": drop} if fix is None else {"repair": fix.told, "mend": lambda tx: fix.apply(tx.connection)}
    )
