"""Keeping: what surfaces need of a memory beside its verbs; mixed into Perdure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from perdure.compose import Components
from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Document, Fact
from perdure.domain.operation import Operation
from perdure.domain.record import Record
from perdure.errors import Conflict, NotFound, StoreError
from perdure.jobs.operations import KIND as OPERATION
from perdure.jobs.operations import Operations
from perdure.manage.documents import retag_document, set_fact_entities
from perdure.ports.clock import Clock
from perdure.ports.store import Store, Target
from perdure.recall.recipe import Recipe, find_recipe
from perdure.recall.trim import trim_recipe


class Keeping:
    """Background work, records, document tags, entity membership and the like."""

    _wired: Components
    _store: Store
    _operations: Operations
    _closed = False

    @property
    def clock(self) -> Clock:
        """What tells this memory the present."""
        return self._wired.clock

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Work on threads that end when the engine is closed, perhaps meanwhile."""
        try:
            yield
        except RuntimeError as error:
            if self._closed:
                raise StoreError(f"{self._wired.settings.database}: the store is closed") from error
            raise

    def facts_by_id(self, bank: str, fact_ids: Sequence[str]) -> list[Fact]:
        """The facts of these ids in that order, closed or not; unknown ids are left out."""
        return self._store.facts(check_bank_id(bank), fact_ids)

    def retag_document(self, bank: str, document_id: str, tags: Sequence[str]) -> Document:
        """Give a document and the facts drawn from it other tags."""
        return retag_document(self._wired.retain, check_bank_id(bank), document_id, tags)

    def set_fact_entities(
        self, bank: str, fact_id: str, names: Sequence[str], *, resolve: bool = True
    ) -> Fact:
        """Replace what a fact mentions; without `resolve` a name means only the entity of exactly that name."""
        return set_fact_entities(self._wired.retain, check_bank_id(bank), fact_id, names, resolve)

    def trimmed_recipe(
        self, name: str | Recipe | None = None, *, without: Sequence[str] = (), rerank: bool = True
    ) -> Recipe:
        """A recipe, the configured one unless named, without some of its channels or its cross-encoder."""
        return trim_recipe(find_recipe(name or self._wired.settings.recipe), without, rerank)

    def count_tokens(self, text: str) -> int:
        """How many tokens a text costs, as recall counts them."""
        return self._wired.recall.tokens.count(text)

    def records(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        """Small JSON objects of a kind that surfaces keep beside the memory, oldest first."""
        return self._store.records(kind, bank=bank, ids=ids)

    def save_record(self, record: Record) -> None:
        """Insert or replace a record."""
        self._store.save_records([record])

    def forget_record(self, kind: str, record_id: str, *, bank: str = "") -> None:
        """Erase a record; one that is not there is no error."""
        self._store.forget(bank, Target(record=(kind, record_id)))

    def operation(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """How far background work is; `wait` blocks up to so many seconds for its end."""
        if wait is not None:
            return self._operations.wait(bank, operation_id, wait)
        return self._operations.get(bank, operation_id)

    def operations(self, bank: str) -> list[Operation]:
        """The bank's background work, oldest first."""
        return self._operations.list(bank)

    def cancel_operation(self, bank: str, operation_id: str) -> Operation:
        """Stop background work before its next step."""
        return self._operations.cancel(bank, operation_id)

    def retry_operation(self, bank: str, operation_id: str) -> Operation:
        """Go on with failed or cancelled background work."""
        return self._operations.retry(bank, operation_id)

    def delete_operation(self, bank: str, operation_id: str) -> None:
        """Drop the record of background work that has ended."""
        operation = self._operations.get(check_bank_id(bank), operation_id)
        if not operation.finished:
            raise Conflict(f"operation {operation_id!r} is {operation.status.value}; cancel it first")
        self.forget_record(OPERATION, operation_id, bank=bank)

    def chunk_home(self, chunk_id: str, banks: Sequence[str]) -> str:
        """Which of the banks holds the chunk."""
        for bank in banks:
            if self._store.chunks(bank, ids=[chunk_id]):
                return bank
        raise NotFound("chunk", chunk_id)
