"""Language models as a memory uses them: which ones, what they cost, and whether they answer."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from perdure.domain.bank import check_bank_id
from perdure.domain.llm_call import LLM_CALL, LlmCall, LlmCost
from perdure.domain.plain import readable
from perdure.domain.verb import ADMIN, READ, WRITE, BankIn, verb
from perdure.ports.store import Store

if TYPE_CHECKING:
    from perdure.domain.llm_call import LlmOperation
    from perdure.llm.caller import Caller
    from perdure.llm.health import LlmHealth


class LanguageModels:
    """The language models of a memory: `memory.llm`."""

    def __init__(self, store: Store, caller: Caller | None) -> None:
        self._store, self._caller = store, caller

    @verb(ADMIN, "read", bank=BankIn.OPTIONAL)
    def costs(self, bank: str | None = None, since: date | None = None) -> list[LlmCost]:
        """Return the cost of calls by day (from `since` on, UTC), bank, operation and model."""
        if isinstance(since, datetime):
            since = since.astimezone(UTC).date()
        from perdure.llm.ledger import read_costs

        return read_costs(self._store, None if bank is None else check_bank_id(bank), since)

    @verb(ADMIN, "read")
    def calls(self, bank: str) -> list[LlmCall]:
        """Return the bank's calls of language models, newest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return list(readable(reversed(reading.records(LLM_CALL)), LlmCall.from_record))

    @verb(READ, bank=BankIn.NOWHERE)
    def models(self, operation: LlmOperation) -> list[str]:
        """Return the names of the models that an operation asks, in this order; none if no model is set."""
        return [] if self._caller is None else self._caller.models(operation)

    @verb(WRITE)
    def health(self, bank: str) -> list[LlmHealth]:
        """Return whether the models of retain, consolidation and reflect answer one word."""
        from perdure.domain.llm_call import LlmOperation
        from perdure.llm.health import LlmHealth, LlmStatus, check_health

        check_bank_id(bank)
        caller = self._caller
        operations = (LlmOperation.RETAIN, LlmOperation.CONSOLIDATE, LlmOperation.REFLECT)
        if caller is None:
            return [LlmHealth(operation=one, status=LlmStatus.NOT_CONFIGURED) for one in operations]
        return [check_health(caller, bank, one) for one in operations]
