"""The background work of a bank as its user sees it."""

from __future__ import annotations

from perdure.domain.bank import check_bank_id
from perdure.domain.operation import Operation
from perdure.domain.verb import READ, WRITE, verb
from perdure.jobs.runner import JobRunner


class Operations:
    """The background work of a memory: `memory.operations`."""

    def __init__(self, jobs: JobRunner) -> None:
        self._jobs = jobs

    @verb(READ)
    def get(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """Return the state of an operation; `wait` blocks up to this many seconds until it ends."""
        if wait is not None:
            return self._jobs.wait(bank, operation_id, wait)
        return self._jobs.get(bank, operation_id)

    @verb(WRITE)
    def cancel(self, bank: str, operation_id: str) -> Operation:
        """Stop an operation before its next step."""
        return self._jobs.cancel(bank, operation_id)

    @verb(WRITE)
    def retry(self, bank: str, operation_id: str) -> Operation:
        """Resume an operation that failed or was cancelled."""
        return self._jobs.retry(bank, operation_id)

    @verb(WRITE)
    def delete(self, bank: str, operation_id: str) -> None:
        """Delete the record of an operation that has ended."""
        self._jobs.delete(check_bank_id(bank), operation_id)

    @verb(READ)
    def list(self, bank: str) -> list[Operation]:
        """Return the operations of a bank, oldest first."""
        return list(self._jobs.list(bank))
