"""A check of all banks in the database; pages and indexes are the server's own concern."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from perdure.domain.damage import Verification
from perdure.stores.postgres.connections import Connections, select
from perdure.stores.postgres.rows import PostgresFeed, PostgresTransaction
from perdure.stores.sql.verify import BankCheck, Report, Work

OpenTransaction = Callable[[str], AbstractContextManager[PostgresTransaction]]


def verify(
    connections: Connections, transaction: OpenTransaction, *, quick: bool, repair: bool, drop: bool
) -> Verification:
    """Check all banks, each in one state; `quick` only that the tables answer."""

    def run(bank: str, work: Work) -> bool:
        with transaction(bank) as tx:
            work(tx)
        return True

    report = Report(repair=repair, drop=drop)
    for (bank,) in connections.select("SELECT id FROM bank ORDER BY id"):
        with connections.reading(bank) as db:
            report.checked["banks"] += len(select(db, "SELECT no FROM bank WHERE id = ?", bank))
            if not quick:
                _BankCheck(PostgresFeed(db, bank), report).check()
    return report.settle(run, quick=quick)


class _BankCheck(BankCheck):
    """The check of a bank that may have search tables."""

    def check(self) -> None:
        super().check()
        query = (
            "SELECT ready, (SELECT count(*) FROM fact WHERE fact.bank = large_bank.bank),"
            " (SELECT count(*) FROM large_fact WHERE large_fact.bank = large_bank.bank),"
            " (SELECT count(*) FROM large_fact JOIN fact ON fact.bank = large_fact.bank AND fact.no = large_fact.no"
            " WHERE large_fact.bank = large_bank.bank) FROM large_bank WHERE bank = ?"
        )
        for ready, facts, rows, matched in self._select(query):
            if not ready:
                continue
            self._report.checked["search tables"] += rows
            if facts != rows or rows != matched:
                self._add(
                    "search tables",
                    self._rows.bank_id,
                    f"have {rows} facts of {facts}",
                    repair="emptied; they are filled again in the background",
                    mend=PostgresTransaction.leave_search_tables,
                )
