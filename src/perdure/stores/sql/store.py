"""The part of the Store protocol that is the same on every SQL database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime

from perdure.domain.bank import Bank
from perdure.domain.record import Record
from perdure.ports.store import IndexUsage, Transaction
from perdure.stores.index.cache import IndexCache
from perdure.stores.sql import columns
from perdure.stores.sql.columns import Values, batches, placeholders
from perdure.stores.sql.copying import Tables
from perdure.stores.sql.queries import BANK
from perdure.stores.sql.transaction import BankTransaction, upsert

_SHARED_RECORD = f"SELECT {columns.names(columns.RECORD)} FROM shared_record WHERE kind = ?"


class SqlStore(ABC):
    """Banks, records that belong to no bank, transactions and the indexes in memory."""

    def __init__(
        self, errors: AbstractContextManager[None], indexes: IndexCache, clock: Callable[[], datetime]
    ) -> None:
        """Translate the driver's errors by `errors`, which may be entered any number of times."""
        self._errors = errors
        self._indexes = indexes
        self._clock = clock

    @abstractmethod
    def _select(self, query: str, *parameters: object) -> list[Values]:
        """Return all rows of a query."""

    @abstractmethod
    def _writing(self, bank: str) -> AbstractContextManager[BankTransaction]:
        """Open a transaction of a bank."""

    @abstractmethod
    def tables(self, *, writing: bool) -> AbstractContextManager[Tables]:
        """Open a transaction on the tables as they are."""

    def _select_shared(self, query: str, *parameters: object) -> list[Values]:
        """Return all rows of a query of the records that belong to no bank."""
        return self._select(query, *parameters)

    def _writing_shared(self) -> AbstractContextManager[Tables]:
        """Open a transaction that writes records that belong to no bank."""
        return self.tables(writing=True)

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        rows = self._rows(self._select, f"{BANK} WHERE true", ids)
        return sorted(map(columns.read_bank, rows), key=lambda bank: bank.id)

    def banks_with_records(self, kind: str) -> list[str]:
        query = (
            "SELECT id FROM bank WHERE EXISTS (SELECT 1 FROM record WHERE record.bank = bank.no AND kind = ?)"
        )
        with self._errors:
            return sorted(bank_id for (bank_id,) in self._select(query, kind))

    @contextmanager
    def transaction(self, bank: str) -> Iterator[Transaction]:
        with self._writing(bank) as transaction:
            yield transaction

    def record_recalls(self, bank: str, recalls: Iterable[tuple[str, datetime]]) -> None:
        with self._writing(bank) as transaction:
            transaction.add_recalls(recalls)

    def shared_records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        rows = self._rows(self._select_shared, _SHARED_RECORD, ids, kind)
        return columns.oldest_first(Record(**columns.fields(columns.RECORD, row)) for row in rows)

    def put_shared_records(self, records: Sequence[Record]) -> None:
        now = self._clock().isoformat()
        with self._writing_shared() as tables:
            for record in records:
                row = dict(zip(columns.RECORD, columns.values(record, columns.RECORD), strict=True))
                statement, values = upsert("shared_record", ("kind", "id"), row, now)
                tables.execute(statement, *values)

    def delete_shared_records(self, kind: str, ids: Sequence[str]) -> None:
        with self._writing_shared() as tables:
            for batch in batches(ids):
                condition = f"kind = ? AND id IN ({placeholders(batch)})"
                tables.execute(f"DELETE FROM shared_record WHERE {condition}", kind, *batch)

    def evictions(self) -> int:
        return self._indexes.evicted

    def index_usage(self) -> IndexUsage:
        return self._indexes.usage()

    def _rows(
        self, select: Callable[..., list[Values]], query: str, ids: Sequence[str] | None, *parameters: object
    ) -> list[Values]:
        """Return the rows of a query, all or those with one of the ids."""
        with self._errors:
            if ids is None:
                return select(query, *parameters)
            return [
                row
                for batch in batches(ids)
                for row in select(f"{query} AND id IN ({placeholders(batch)})", *parameters, *batch)
            ]
