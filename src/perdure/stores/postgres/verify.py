"""A check of everything in the database that has a checksum or a counterpart; pages and indexes are the server's own concern.

What follows from other rows is made anew from them: packed facts, search tables of large banks; a link to nothing is dropped.
A text that is not what was written has no second copy here: restore it from the server's backups, or give it up with `drop`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial

from perdure.domain.damage import Damage, Verification
from perdure.stores.index import packing
from perdure.stores.postgres.connections import Connections
from perdure.stores.postgres.rows import PostgresFeed, PostgresTransaction, select
from perdure.stores.sql import remedies
from perdure.stores.sql.columns import Values, batches
from perdure.stores.sql.damage import ALTERED
from perdure.stores.sql.feed import cached_facts, pack_facts

Work = Callable[[PostgresTransaction], None]
"""What mends a damage, in a transaction of the bank it is in."""
OpenTransaction = Callable[[str], AbstractContextManager[PostgresTransaction]]
_BELONGING = ("fact_features", "index_cache", "fact_entity", "fact_tag", "fact_source", "proof", "vector")
"""Tables with rows that belong to a fact."""
_GONE = "NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = {0}.bank AND fact.no = {0}.{1})"


def verify(
    connections: Connections, transaction: OpenTransaction, *, quick: bool, repair: bool, drop: bool
) -> Verification:
    """Check all banks, each in one state; `quick` only that the tables answer. Repairs are transactions of their own."""
    report = _Report(repair=repair, drop=drop)
    for (bank,) in connections.select("SELECT id FROM bank ORDER BY id"):
        with connections.reading(bank) as db:
            report.checked["banks"] += len(select(db, "SELECT no FROM bank WHERE id = ?", bank))
            if not quick:
                _Bank(PostgresFeed(db, bank), report).check()
    damage = [_mended(transaction, one, work) for one, work in report.damage]
    return Verification(checked=dict(report.checked), damage=tuple(damage), quick=quick)


@dataclass(slots=True)
class _Report:
    repair: bool
    drop: bool
    checked: Counter[str] = field(default_factory=Counter)
    damage: list[tuple[Damage, Work | None]] = field(default_factory=list)


def _mended(transaction: OpenTransaction, damage: Damage, work: Work | None) -> Damage:
    if work is None:
        return damage
    with transaction(damage.bank) as tx:
        work(tx)
    return replace(damage, repaired=True)


class _Bank:
    """The check of one bank."""

    def __init__(self, rows: PostgresFeed, report: _Report) -> None:
        self._rows, self._report = rows, report

    def check(self) -> None:
        numbers = [no for (no,) in self._select("SELECT no FROM fact WHERE bank = ? ORDER BY no")]
        for block in batches(numbers):
            self._check_facts(block)
        self._check_texts("document", lambda ids: {one.id for one in self._rows.documents(ids)})
        self._check_texts("chunk", lambda ids: {one.id for one in self._rows.chunks(ids=ids)})
        self._check_vectors()
        self._check_lost()
        self._check_links()
        self._check_search_tables(len(numbers))

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._rows._of_bank(query, *parameters)

    def _add(
        self,
        kind: str,
        name: str,
        problem: str,
        *,
        repair: str = "",
        mend: Work | None = None,
        drop: Work | None = None,
    ) -> None:
        """Note damage, and what is to be done about it by what was asked for."""
        work = mend if self._report.repair else None
        if mend is None and drop is not None and self._report.drop:
            work, repair = drop, "deleted"
        damage = Damage(kind=kind, name=name, problem=problem, bank=self._rows.bank_id, repair=repair)
        self._report.damage.append((damage, work))

    def _check_facts(self, numbers: Sequence[int]) -> None:
        """Facts against their checksums, packed facts against facts, terms that they are found by."""
        self._report.checked["facts"] += len(numbers)
        sound = self._rows.facts_by_number(numbers)
        ids: dict[int, str] = dict(self._rows._where("SELECT no, id FROM fact WHERE bank = ?", "no", numbers))
        for no in (no for no in numbers if no not in sound):
            self._add("fact", str(ids.get(no, no)), ALTERED, drop=partial(remedies.drop_fact, no))
        packed = {fact.no: fact for fact in pack_facts(self._rows, list(sound))}
        cached = cached_facts(self._rows, numbers)
        self._report.checked["packed facts"] += len(packed)
        for fact in (fact for no, fact in packed.items() if cached.get(no) != fact):
            stored = cached.get(fact.no)
            is_whole = stored is not None and packing.is_sound(fact.id, stored.body)
            problem = (
                "terms, links or columns differ from what was packed" if is_whole else "is missing or damaged"
            )
            anew = partial(remedies.pack_anew, fact.no)
            self._add("cache", fact.id, problem, repair="packed anew from its rows", mend=anew)
        lacking = sound.keys() - self._rows.terms(list(sound)).keys()
        for no in sorted(lacking):
            problem = "what the fact is found by is missing or cannot be read"
            self._add("features", sound[no].id, problem)

    def _check_texts(self, table: str, read: Callable[[Sequence[str]], set[str]]) -> None:
        """Documents or chunks against their checksums."""
        for block in batches(
            one for (one,) in self._select(f"SELECT id FROM {table} WHERE bank = ? ORDER BY id")
        ):
            self._report.checked[f"{table}s"] += len(block)
            for one in set(block) - read(block):
                self._add(table, one, ALTERED, drop=partial(remedies.drop_text, table, one))

    def _check_vectors(self) -> None:
        query = (
            "SELECT vector.fact, vector.view FROM vector JOIN bank ON bank.no = vector.bank"
            " WHERE vector.bank = ? AND length(vector.value) <> 2 * bank.dimensions"
        )
        for no, view in self._select(query):
            name = f"{view} of fact number {no}"
            self._add(
                "vector", name, "has not the bank's dimensions", drop=partial(remedies.drop_vector, no, view)
            )

    def _check_lost(self) -> None:
        """Facts of which other rows are left, but not their own."""
        lost: Counter[int] = Counter()
        for table in _BELONGING:
            condition = _GONE.format(table, "fact")
            lost.update(
                no for (no,) in self._select(f"SELECT fact FROM {table} WHERE bank = ? AND {condition}")
            )
        for no, rows in sorted(lost.items()):
            problem = f"is gone, {rows} rows that belong to it are left"
            self._add("fact", f"number {no}", problem, drop=partial(remedies.drop_fact, no))

    def _check_links(self) -> None:
        """Links between facts that are there, with a weight from 0 to 1; and what superseded a fact."""
        self._report.checked["links"] += self._select("SELECT count(*) FROM link WHERE bank = ?")[0][0]
        query = (
            "SELECT source, target, kind FROM link WHERE bank = ? AND (weight NOT BETWEEN 0 AND 1.000001"
            " OR kind NOT IN ('temporal', 'semantic', 'causal')"
            f" OR {_GONE.format('link', 'source')} OR {_GONE.format('link', 'target')})"
        )
        for source, target, kind in self._select(query):
            problem = "joins facts of which one is not there, or has no weight from 0 to 1"
            mend = partial(remedies.drop_link, source, target, kind)
            self._add("link", f"{source} to {target}", problem, repair="dropped", mend=mend)
        for (fact_id,) in self._select(remedies.SUPERSEDED_BY_NOTHING):
            problem = "names a fact that superseded it and is not there"
            self._add("fact", fact_id, problem, drop=partial(remedies.drop_pointer, fact_id))

    def _check_search_tables(self, facts: int) -> None:
        """That every fact of a large bank, and no other, can be searched."""
        for (ready,) in self._select("SELECT ready FROM large_bank WHERE bank = ?"):
            if not ready:
                continue
            condition = _GONE.format("large_fact", "no")
            query = f"SELECT count(*), count(*) FILTER (WHERE {condition}) FROM large_fact WHERE bank = ?"
            ((rows, surplus),) = self._select(query)
            self._report.checked["search tables"] += rows
            if rows != facts or surplus:
                problem = f"have {rows} facts of {facts}"
                repair = "emptied; they are filled again in the background"
                mend = PostgresTransaction.leave_search_tables
                self._add("search tables", self._rows.bank_id, problem, repair=repair, mend=mend)
