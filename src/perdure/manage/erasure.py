"""Erasing for good: the facts, then everything that quotes them, wherever it is stored."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from perdure.domain.filter import Filter
from perdure.errors import ModelError
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.forget.preview import ForgetPreview, preview_forget
from perdure.forget.target import Forgotten
from perdure.jobs.background import Background
from perdure.jobs.outbox import scrub_deliveries
from perdure.jobs.records import scrub
from perdure.manage.reembed import embed_facts
from perdure.ports.store import Traces, Transaction
from perdure.ports.telemetry import MemoryOperation, observed
from perdure.recall.freshness import stale_observations
from perdure.reflect.components import ReflectComponents
from perdure.reflect.erasure import scrub_records, scrub_thoughts
from perdure.reflect.notes.write import drop_notes, repair_notes
from perdure.reflect.opinions.erasure import opinions_resting_on

log = logging.getLogger(__name__)


class Erasure:
    """Erases from a memory, or shows what would be erased."""

    def __init__(self, components: ReflectComponents, background: Background) -> None:
        self._components, self._background = components, background
        self._store = components.store

    def forget(self, bank: str, target: Target) -> Forgotten:
        """Erase the target with everything that quotes it."""
        operation = MemoryOperation.FORGET_BANK if target.everything else MemoryOperation.FORGET
        record_id = target.fact_id or target.document_id or target.entity_id
        with observed(self._components.retain.telemetry, operation, bank, record_id=record_id) as report:
            forgotten = self._forget(bank, target)
            if report is not None:
                report.records(forgotten.facts)
            return forgotten

    def preview(self, bank: str, target: Target) -> ForgetPreview:
        """Return what `forget` would erase, without erasing it."""
        now = self._components.clock()
        return preview_forget(
            self._store,
            bank,
            target,
            also=_scrub_background,
            thoughts=scrub_thoughts,
            records=scrub_records,
            opinions=opinions_resting_on,
            stale=lambda rows, facts: stale_observations(rows, facts, Filter().at(now)),
        )

    def _forget(self, bank: str, target: Target) -> Forgotten:
        if target.everything:
            drop_notes(self._components, bank)
        forgotten = forget(
            self._store,
            bank,
            target,
            also=_scrub_background,
            thoughts=scrub_thoughts,
            records=scrub_records,
        )
        if target.everything:
            from perdure.llm.ledger import erase_bank_costs

            erase_bank_costs(self._store, bank)
        repair_notes(self._components, bank)
        self._embed_again(bank, forgotten.unembedded)
        if forgotten.traces is Traces.PENDING:
            self._background.clear_traces()
        self._background.build_search_tables_if_due(bank)
        return forgotten

    def _embed_again(self, bank: str, fact_ids: Sequence[str]) -> None:
        """Embed facts whose vectors were made from erased words too; without a model they stay without vectors."""
        try:
            embed_facts(self._components.retain, bank, fact_ids)
        except ModelError as error:
            log.warning("%d facts of bank %s have no vectors until reembed: %s", len(fact_ids), bank, error)


def _scrub_background(tx: Transaction, document_ids: frozenset[str]) -> bool:
    """Take erased documents out of background work and of webhook deliveries that are still to be sent."""
    return any([scrub(tx, document_ids), scrub_deliveries(tx, document_ids)])
