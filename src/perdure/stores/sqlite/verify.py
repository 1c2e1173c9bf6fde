"""A check of everything in the file: its structure, checksums of content, the index against rows, links against facts.

What can be mended without losing anything is mended from what is still there: indexes and packed facts are made anew from
the rows, a link to nothing is dropped, and one changed bit of a text is found by the checksum and set right.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from perdure.domain.damage import Damage, Verification
from perdure.stores.index import packing
from perdure.stores.sqlite import mend
from perdure.stores.sqlite.columns import Values, batches
from perdure.stores.sqlite.connections import Connections
from perdure.stores.sqlite.damage import ALTERED, UNREADABLE, is_damage, primary_code
from perdure.stores.sqlite.feed import ConnectionRows, pack_facts, write_cache
from perdure.stores.sqlite.log_tail import LOST_LOG
from perdure.stores.sqlite.transaction import SqliteTransaction

_INDEX = re.compile(r"index (\w+)$|index (\w+) ")
_MESSAGES = 100
"""Messages that are asked of SQLite's own check."""
_BELONGING = ("fact_features", "index_cache", "fact_entity", "fact_tag", "fact_source", "proof", "vector")
"""Tables with rows that belong to a fact."""
_MADE_ANEW = "made anew from its rows"


def verify(connections: Connections, *, quick: bool, repair: bool, drop: bool) -> Verification:
    """Check the file; with `repair` mend what can be mended, with `drop` also delete what cannot."""
    report = _Report()
    _tell_lost_log(connections, report, acknowledge=repair)
    if repair:
        with connections.writing() as db:
            _reindex(db, report)
    _check_structure(connections.reader().connection, report, quick)
    if not quick:
        with _reading(connections, writing=repair or drop) as db:
            for bank_no, bank_id in _rows(db, report, "SELECT no, id FROM bank"):
                _Bank(db, report, bank_id, bank_no, repair=repair, drop=drop).check()
    return Verification(checked=dict(report.checked), damage=tuple(report.damage), quick=quick)


@dataclass(slots=True)
class _Report:
    checked: Counter[str] = field(default_factory=Counter)
    damage: list[Damage] = field(default_factory=list)

    def add(
        self, kind: str, name: str, problem: str, bank: str = "", repair: str = "", *, repaired: bool = False
    ) -> None:
        self.damage.append(
            Damage(kind=kind, name=name, problem=problem, bank=bank, repair=repair, repaired=repaired)
        )


def _tell_lost_log(connections: Connections, report: _Report, *, acknowledge: bool) -> None:
    """That the log lost its end, which opening the file put on record; `acknowledge` takes it off."""
    query = "SELECT id, json_extract(body, '$.transactions') FROM shared_record WHERE kind = ? ORDER BY id"
    rows = _rows(connections.reader().connection, report, query, LOST_LOG)
    for seen_at, count in rows:
        problem = f"its last {count} transactions were lost to damage; only a backup has them"
        told = "acknowledged" if acknowledge else ""
        report.add("log", f"seen at {seen_at}", problem, repair=told, repaired=acknowledge)
    if rows and acknowledge:
        with connections.writing() as db:
            db.execute("DELETE FROM shared_record WHERE kind = ?", (LOST_LOG,))


@contextmanager
def _reading(connections: Connections, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """One state of the file, under the write lock when it is to be mended."""
    if writing:
        with connections.writing() as db:
            yield db
    else:
        with connections.reader().one_state() as db:
            yield db


def _rows(db: sqlite3.Connection, report: _Report, query: str, *parameters: object) -> list[Values]:
    """All rows of a query; a table that cannot be read is damage."""
    try:
        return db.execute(query, parameters).fetchall()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        report.add("file", query.partition(" FROM ")[2].partition(" ")[0], UNREADABLE)
        return []


def _structure(db: sqlite3.Connection, check: str) -> list[str]:
    try:
        messages = [str(message) for (message,) in db.execute(f"PRAGMA {check}({_MESSAGES})")]
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        messages = [f"SQLite cannot check it: code {primary_code(error)}"]
    return [message for message in messages if message != "ok"]


def _check_structure(db: sqlite3.Connection, report: _Report, quick: bool) -> None:
    """SQLite's own check of its pages; the full one compares indexes with their tables."""
    report.checked["structure"] += 1
    for message in _structure(db, "quick_check" if quick else "integrity_check"):
        index = _INDEX.search(message)
        if index:
            report.add("index", index[1] or index[2], message, repair="REINDEX")
        else:
            report.add("file", "structure", message)


def _reindex(db: sqlite3.Connection, report: _Report) -> None:
    """Make indexes anew whose entries differ from their table."""
    damaged = {
        match[1] or match[2]: message
        for message in _structure(db, "integrity_check")
        if (match := _INDEX.search(message))
    }
    for index, message in damaged.items():
        try:
            db.execute(f"REINDEX {index}")
        except sqlite3.Error as error:
            if not is_damage(error) and primary_code(error) != sqlite3.SQLITE_CONSTRAINT:
                raise
        else:
            report.add("index", index, message, repair="REINDEX", repaired=True)


class _Bank:
    """The check of one bank."""

    def __init__(
        self, db: sqlite3.Connection, report: _Report, bank_id: str, bank_no: int, *, repair: bool, drop: bool
    ) -> None:
        self._db, self._report, self._repair, self._drop = db, report, repair, drop
        self._bank_id, self._bank_no = bank_id, bank_no
        self._rows = ConnectionRows(db, bank_id, bank_no)
        self._tx = SqliteTransaction(db, bank_id, datetime.now(UTC)) if repair or drop else None

    def check(self) -> None:
        numbers = [no for (no,) in self._select("SELECT no FROM fact WHERE bank = ? ORDER BY no")]
        self._check_facts(numbers)
        self._check_texts("document", lambda ids: {one.id for one in self._rows.documents(ids)})
        self._check_texts("chunk", lambda ids: {one.id for one in self._rows.chunks(ids=ids)})
        self._check_features(numbers)
        self._check_lost(set(numbers))
        self._check_links()
        if self._tx is not None:
            self._tx.finish()

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return _rows(self._db, self._report, query, self._bank_no, *parameters)

    def _add(self, kind: str, name: str, problem: str, repair: str = "", *, repaired: bool = False) -> None:
        self._report.add(kind, name, problem, self._bank_id, repair, repaired=repaired)

    def _check_facts(self, numbers: Sequence[int]) -> None:
        """Facts against their checksums, packed facts against facts."""
        for block in batches(numbers):
            self._report.checked["facts"] += len(block)
            sound = self._rows.facts_by_number(block)
            self._mend_facts([no for no in block if no not in sound])
            self._check_cache(block)

    def _mend_facts(self, numbers: Iterable[int]) -> None:
        for no in numbers:
            fact_id = mend.fact_id(self._db, self._bank_no, no)
            fix = mend.find_fact(self._db, self._bank_no, no)
            self._settle("fact", fact_id or f"number {no}", fix, partial(self._drop_fact, no))

    def _check_texts(self, table: str, read: Callable[[Sequence[str]], set[str]]) -> None:
        """Documents or chunks against their checksums."""
        ids = [str(one) for (one,) in self._select(f"SELECT id FROM {table} WHERE bank = ? ORDER BY id")]
        for block in batches(ids):
            self._report.checked[f"{table}s"] += len(block)
            sound = read(block)
            for one in block:
                if one not in sound:
                    fix = mend.find_text(self._db, table, self._bank_no, one)
                    self._settle(table, one, fix, partial(self._drop_text, table, one))

    def _settle(self, kind: str, name: str, fix: mend.Fix | None, drop: Callable[[], None]) -> None:
        """Report a damaged row, and mend or drop it if that was asked for."""
        if fix is not None:
            if self._repair:
                fix.apply(self._db)
            self._add(kind, name, ALTERED, fix.told, repaired=self._repair)
        elif self._drop:
            drop()
            self._add(kind, name, ALTERED, "deleted", repaired=True)
        else:
            self._add(kind, name, ALTERED)

    def _drop_fact(self, no: int) -> None:
        assert self._tx is not None
        self._tx.delete_numbers([no])
        self._tx.erased_content()

    def _drop_text(self, table: str, one: str) -> None:
        assert self._tx is not None
        (self._tx.delete_chunks if table == "chunk" else self._tx.delete_documents)([one])
        self._tx.erased_content()

    def _check_cache(self, numbers: Sequence[int]) -> None:
        packed = {fact.no: fact for fact in pack_facts(self._rows, numbers)}
        cached = self._rows.cached_facts(numbers)
        stale = [fact for no, fact in packed.items() if cached.get(no) != fact]
        self._report.checked["packed facts"] += len(packed)
        for fact in stale:
            stored = cached.get(fact.no)
            if stored is not None and packing.is_sound(fact.id, stored.body):
                self._add(
                    "features",
                    fact.id,
                    "terms, links or columns differ from what was packed",
                    _MADE_ANEW,
                    repaired=self._repair,
                )
            else:
                self._add("cache", fact.id, "is missing or damaged", _MADE_ANEW, repaired=self._repair)
        if self._repair:
            write_cache(self._db, self._bank_no, stale)

    def _check_features(self, numbers: Sequence[int]) -> None:
        for block in batches(numbers):
            lacking = set(block) - self._rows.terms(block).keys()
            for fact in self._rows.facts_by_number(sorted(lacking)).values():
                self._add("features", fact.id, "what the fact is found by is missing or cannot be read")
        (state,) = self._select("SELECT dimensions FROM bank WHERE no = ?")
        if state[0] is not None:
            query = "SELECT fact, view FROM vector WHERE bank = ? AND length(value) <> ?"
            for no, view in self._select(query, 2 * state[0]):
                self._add("vector", f"{view} of fact number {no}", "has not the bank's dimensions")
            (count,) = self._select("SELECT count(*) FROM vector WHERE bank = ?")
            self._report.checked["vectors"] += count[0]

    def _check_lost(self, numbers: set[int]) -> None:
        """Facts of which other rows are left, but not their own."""
        lost: Counter[int] = Counter()
        for table in _BELONGING:
            for (no,) in self._select(f"SELECT fact FROM {table} WHERE bank = ?"):
                if no not in numbers:
                    lost[no] += 1
        for no, rows in sorted(lost.items()):
            named = self._select("SELECT id FROM index_cache WHERE bank = ? AND fact = ?", no)
            if self._drop:
                assert self._tx is not None
                self._tx.delete_numbers([no])
            name = str(named[0][0]) if named else f"number {no}"
            self._add(
                "fact",
                name,
                f"is gone, {rows} rows that belong to it are left",
                "deleted" if self._drop else "",
                repaired=self._drop,
            )

    def _check_links(self) -> None:
        """Links between facts that are there, with a weight from 0 to 1."""
        (count,) = self._select("SELECT count(*) FROM link WHERE bank = ?") or [(0,)]
        self._report.checked["links"] += count[0]
        query = (
            "SELECT source, target, kind FROM link WHERE bank = ? AND (weight NOT BETWEEN 0 AND 1.000001"
            " OR kind NOT IN ('temporal', 'semantic', 'causal')"
            " OR NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = link.bank AND no = source)"
            " OR NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = link.bank AND no = target))"
        )
        for source, target, kind in self._select(query):
            if self._repair:
                self._db.execute(
                    "DELETE FROM link WHERE bank = ? AND source = ? AND target = ? AND kind = ?",
                    (self._bank_no, source, target, kind),
                )
            problem = "joins facts of which one is not there, or has no weight from 0 to 1"
            self._add("link", f"{source} to {target}", problem, "dropped", repaired=self._repair)
        pointers = (
            "SELECT id FROM fact WHERE bank = ? AND superseded_by IS NOT NULL AND NOT EXISTS"
            " (SELECT 1 FROM fact AS other WHERE other.bank = fact.bank AND other.id = fact.superseded_by)"
        )
        for (fact_id,) in self._select(pointers):
            facts = self._rows.facts([str(fact_id)])
            if self._drop and self._tx is not None:
                self._tx.update_facts([replace(fact, superseded_by=None) for fact in facts])
            problem = "names a fact that superseded it and is not there"
            self._add(
                "fact", str(fact_id), problem, "pointer dropped" if self._drop else "", repaired=self._drop
            )
