"""A check of everything in a bank that has a checksum or a counterpart, and what is done about damage.

What follows from other rows is made anew from them: packed facts, indexes, search tables; a link to nothing is dropped. A
row that is not what was written has no second copy: restore a backup, or give it up with `drop`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from perdure.domain.damage import Damage, Verification
from perdure.stores.index import packing
from perdure.stores.sql.columns import Values, batches
from perdure.stores.sql.feed import cached_facts, pack_facts
from perdure.stores.sql.queries import ALTERED, BankRows
from perdure.stores.sql.transaction import BankTransaction

Work = Callable[[Any], None]
"""The repair of a damage, given a transaction of its bank."""
_BELONGING = ("fact_features", "index_cache", "fact_entity", "fact_tag", "fact_source", "proof", "vector")
"""Tables with rows that belong to a fact."""
_NO_FACT = "NOT EXISTS (SELECT 1 FROM fact WHERE fact.bank = {0}.bank AND fact.no = {0}.{1})"


class Report:
    """The damage that a check met, each with the repair that was asked for."""

    def __init__(self, *, repair: bool, drop: bool) -> None:
        self._repair, self._drop = repair, drop
        self.checked: Counter[str] = Counter()
        self._damage: list[tuple[Damage, Work | None]] = []

    def add(
        self,
        kind: str,
        name: str,
        problem: str,
        *,
        bank: str = "",
        repair: str = "",
        mend: Work | None = None,
        drop: Work | None = None,
    ) -> None:
        """Note damage. `mend` repairs it without losing anything, `repair` says how; `drop` deletes it."""
        work = mend if self._repair else None
        if mend is None and drop is not None and self._drop:
            work, repair = drop, "deleted"
        self._damage.append((Damage(kind=kind, name=name, problem=problem, bank=bank, repair=repair), work))

    def settle(self, run: Callable[[str, Work], bool], *, quick: bool) -> Verification:
        """Run the repairs, each in a transaction of its own: `run` returns whether one succeeded."""
        damage = [
            replace(one, repaired=work is not None and run(one.bank, work)) for one, work in self._damage
        ]
        return Verification(checked=dict(self.checked), damage=tuple(damage), quick=quick)


class BankCheck:
    """The check of one bank within one state of the database."""

    def __init__(self, rows: BankRows, report: Report) -> None:
        self._rows, self._report = rows, report

    def check(self) -> None:
        """Run all parts of the check."""
        numbers = [no for (no,) in self._select("SELECT no FROM fact WHERE bank = ? ORDER BY no")]
        rows = self._rows
        for part in (
            partial(self._check_facts, numbers),
            partial(self._check_texts, "document", lambda ids: {one.id for one in rows.documents(ids)}),
            partial(self._check_texts, "chunk", lambda ids: {one.id for one in rows.chunks(ids=ids)}),
            self._check_vectors,
            self._check_lost,
            self._check_links,
        ):
            self._run(part)

    def _run(self, part: Callable[[], None]) -> None:
        part()

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._rows._of_bank(query, *parameters)

    def _count(self, table: str) -> None:
        for (count,) in self._select(f"SELECT count(*) FROM {table} WHERE bank = ?"):
            self._report.checked[f"{table}s"] += count

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
        bank = self._rows.bank_id
        self._report.add(kind, name, problem, bank=bank, repair=repair, mend=mend, drop=drop)

    def _check_facts(self, numbers: Sequence[int]) -> None:
        """Compare facts with their checksums, packed facts with facts; look for the terms of facts."""
        for block in batches(numbers):
            self._report.checked["facts"] += len(block)
            sound = self._rows.facts_by_number(block)
            if altered := [no for no in block if no not in sound]:
                ids: dict[int, str] = dict(
                    self._rows._where("SELECT no, id FROM fact WHERE bank = ?", "no", altered)
                )
                for no in altered:
                    self._add("fact", ids.get(no, f"number {no}"), ALTERED, drop=partial(_drop_fact, no))
            packed = pack_facts(self._rows, list(sound))
            cached = cached_facts(self._rows, block)
            self._report.checked["packed facts"] += len(packed)
            for fact in (fact for fact in packed if cached.get(fact.no) != fact):
                stored = cached.get(fact.no)
                kind, problem = "cache", "is missing or damaged"
                if stored is not None and packing.is_sound(fact.id, stored.body):
                    kind, problem = "features", "terms, links or columns differ from what was packed"
                mend = partial(_pack_anew, fact.no)
                self._add(kind, fact.id, problem, repair="packed anew from its rows", mend=mend)
            for no in sorted(sound.keys() - self._rows.terms(list(sound)).keys()):
                self._add("features", sound[no].id, "what the fact is found by is missing or cannot be read")

    def _check_texts(self, table: str, read: Callable[[Sequence[str]], set[str]]) -> None:
        """Compare documents or chunks with their checksums."""
        ids = [row_id for (row_id,) in self._select(f"SELECT id FROM {table} WHERE bank = ? ORDER BY id")]
        for block in batches(ids):
            self._report.checked[f"{table}s"] += len(block)
            for row_id in sorted(set(block) - read(block)):
                self._add(table, row_id, ALTERED, drop=partial(_drop_text, table, row_id))

    def _check_vectors(self) -> None:
        """Look for vectors that have not the bank's dimensions."""
        self._count("vector")
        query = (
            "SELECT vector.fact, vector.view FROM vector JOIN bank ON bank.no = vector.bank"
            " WHERE vector.bank = ? AND length(vector.value) <> 2 * bank.dimensions"
        )
        for no, view in self._select(query):
            name = f"{view} of fact number {no}"
            self._add("vector", name, "has not the bank's dimensions", drop=partial(_drop_vector, no, view))

    def _check_lost(self) -> None:
        """Look for rows that belong to facts which are not there."""
        lost: Counter[int] = Counter()
        for table in _BELONGING:
            query = f"SELECT fact FROM {table} WHERE bank = ? AND {_NO_FACT.format(table, 'fact')}"
            lost.update(no for (no,) in self._select(query))
        for no, rows in sorted(lost.items()):
            named = self._select("SELECT id FROM index_cache WHERE bank = ? AND fact = ?", no)
            name = str(named[0][0]) if named else f"number {no}"
            self._add(
                "fact", name, f"is gone, {rows} rows that belong to it are left", drop=partial(_drop_fact, no)
            )

    def _check_links(self) -> None:
        """Look for links without both facts or with a wrong weight, and for missing successors."""
        self._count("link")
        query = (
            "SELECT source, target, kind FROM link WHERE bank = ? AND (weight NOT BETWEEN 0 AND 1.000001"
            " OR kind NOT IN ('temporal', 'semantic', 'causal')"
            f" OR {_NO_FACT.format('link', 'source')} OR {_NO_FACT.format('link', 'target')})"
        )
        for source, target, kind in self._select(query):
            problem = "joins facts of which one is not there, or has no weight from 0 to 1"
            mend = partial(_drop_link, source, target, kind)
            self._add("link", f"{source} to {target}", problem, repair="dropped", mend=mend)
        query = (
            "SELECT id FROM fact WHERE bank = ? AND superseded_by IS NOT NULL AND NOT EXISTS"
            " (SELECT 1 FROM fact AS other WHERE other.bank = fact.bank AND other.id = fact.superseded_by)"
        )
        for (fact_id,) in self._select(query):
            problem = "names a fact that superseded it and is not there"
            self._add("fact", fact_id, problem, drop=partial(_drop_successor, fact_id))


def _drop_fact(no: int, tx: BankTransaction) -> None:
    tx.delete_numbers([no])
    tx.erased_content()


def _drop_text(table: str, row_id: str, tx: BankTransaction) -> None:
    (tx.delete_chunks if table == "chunk" else tx.delete_documents)([row_id])
    tx.erased_content()


def _drop_vector(no: int, view: str, tx: BankTransaction) -> None:
    tx.delete_vector(no, view)


def _drop_link(source: int, target: int, kind: str, tx: BankTransaction) -> None:
    tx.delete_link(source, target, kind)


def _drop_successor(fact_id: str, tx: BankTransaction) -> None:
    tx.update_facts([replace(fact, superseded_by=None) for fact in tx.facts([fact_id])])


def _pack_anew(no: int, tx: BankTransaction) -> None:
    tx.pack_anew(no)
