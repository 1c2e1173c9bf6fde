"""The background work of a memory: its jobs, what follows a change, and webhook events."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from perdure.domain.activity import retain_activity
from perdure.domain.audit import AUDIT, ENABLED, AuditEntry, Transport
from perdure.domain.bank import check_bank_id
from perdure.domain.item import RetainResult
from perdure.domain.mental_model import RefreshMode
from perdure.domain.observation import Scope
from perdure.domain.operation import Operation
from perdure.domain.plain import to_record
from perdure.domain.verb import READ, WRITE, verb
from perdure.domain.webhook import CONSOLIDATION_COMPLETED, RETAIN_COMPLETED, WEBHOOK
from perdure.errors import TRY_AGAIN, Busy, InvalidInput, PerdureError
from perdure.jobs.consolidate_job import CONSOLIDATION, PERCENT, consolidate_job
from perdure.jobs.kind import JobKind, SingleStepJob, Step
from perdure.jobs.outbox import Outbox
from perdure.jobs.reprocess_job import (
    REPROCESS,
    document_items,
    outdated_documents,
    plan_reprocess,
    reprocess_job,
)
from perdure.jobs.retain_job import RetainJob
from perdure.jobs.rota import Rota, Turn
from perdure.jobs.runner import LOOK_AGAIN, JobRunner
from perdure.jobs.send import HttpSender
from perdure.ports.extractor import Extractor
from perdure.ports.store import Store, Traces, Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.due import refresh_due_models
from perdure.reflect.mental_models.refresh import refresh_mental_model
from perdure.retain.commit import CommitReceipt
from perdure.retain.masking import mask_request
from perdure.retain.pipeline import retain
from perdure.retain.plan import hash_key
from perdure.retain.request import RetainRequest

if TYPE_CHECKING:
    from perdure.jobs.refine_job import RefineJob

log = logging.getLogger(__name__)

SEARCH_TABLES = "search_tables"
"""Name of the kind and id of its only operation in a bank."""
AUTO_CONSOLIDATION = 30.0
"""Seconds after the last retain, if only the bank's own setting asks for consolidation."""
PAUSE, LONGEST_PAUSE = 2.0, 60.0
"""Seconds without a further erasure before traces are cleared, which holds the write lock; and how long at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundRules:
    """What happens automatically in the background; times are seconds after the last retain."""

    refine_after: float | None = None
    consolidate_after: float | None = None
    webhook_allow_private: bool = False


class Background:
    """The background work of a memory."""

    def __init__(
        self, components: ReflectComponents, rules: BackgroundRules, local: Extractor | None = None
    ) -> None:
        """Prepare the jobs; `local` is what refinement compares with, if a language model is set."""
        self._components, self._rules = components, rules
        self._store = store = components.store
        self.sender = HttpSender(allow_private=rules.webhook_allow_private)
        self._outbox = Outbox(store, components.clock, self.sender)
        self._retain_job = RetainJob(
            lambda request, within: self.after_retain(retain(components.retain, request, within=within)),
            announce=self.announce_retain,
        )
        self._search_tables_job = search_tables_job(store)
        self._refresh_job = refresh_job(components)
        self._consolidate_job = consolidate_job(
            components, self._refresh_touched_models, self._announce_consolidation
        )
        self._reprocess_job = reprocess_job(components.retain, self.after_retain)
        self._refine_job = self._make_refine_job(local)
        kinds: list[JobKind] = [
            self._retain_job,
            self._search_tables_job,
            self._refresh_job,
            self._consolidate_job,
            self._reprocess_job,
        ]
        kinds += [self._refine_job] if self._refine_job is not None else []
        self.jobs = JobRunner(store, components.clock, kinds)
        self._auto_consolidation = Rota(_turn(self.consolidate), threads=1, look_again=LOOK_AGAIN)
        self._auto_refinement = Rota(_turn(self.refine), threads=1, look_again=LOOK_AGAIN)
        self._clearing = Rota(_turn(self._clear_traces), threads=1, look_again=LOOK_AGAIN)
        self._clear_by: float | None = None
        """When clearing begins at the latest (monotonic), while it waits for a pause between erasures."""

    def resume(self) -> None:
        """Continue the work that an earlier process left."""
        self.jobs.resume()
        self._outbox.resume()
        if self._store.traces() is Traces.PENDING:
            self.clear_traces()

    def close(self) -> None:
        """Finish the current step and leave the rest to the next process."""
        self._auto_consolidation.close()
        self._auto_refinement.close()
        self.jobs.close()
        self._outbox.close()
        self._clearing.close()
        if self._clear_by is not None:
            _turn(self._clear_traces)("")

    def retain(self, request: RetainRequest, operation_id: str | None = None) -> Operation:
        """Submit a retain."""
        with self._store.reading(request.bank) as reading:
            key = hash_key(reading).value
        plan = self._retain_job.plan(mask_request(self._store, request), self._components.clock(), key)
        return self.jobs.submit(request.bank, plan, operation_id)

    def reprocess(self, bank: str, document_id: str | None = None) -> Operation:
        """Submit extracting a document anew, or all that an earlier extractor read, unless it waits already.

        Raise `NotFound` if there is no such document.
        """
        if document_id is None:
            with self._store.reading(bank) as reading:
                plan = plan_reprocess(outdated_documents(reading))
            return self._unfinished_reprocess(bank) or self.jobs.submit(bank, plan)
        with self._store.reading(bank) as reading:
            document_items(reading, document_id)
        plan = self._reprocess_job.plan({"items": [{"document_id": document_id}]})
        return self.jobs.submit(bank, replace(plan, document_id=document_id), reuse=True)

    def refine(self, bank: str) -> Operation:
        """Submit a refinement of the bank, or return the one that is under way."""
        if self._refine_job is None:
            raise InvalidInput("llm", "a language model, which refine asks", "none")
        return self._unfinished(bank, self._refine_job.name) or self.jobs.submit(
            bank, self._refine_job.plan(bank)
        )

    def consolidate(self, bank: str, scopes: Sequence[Scope] | None = None) -> Operation:
        """Submit a consolidation (of some scopes), or return the one that is under way."""
        unfinished = self._unfinished(bank, CONSOLIDATION) if scopes is None else None
        body = {"scopes": None if scopes is None else [list(scope) for scope in scopes]}
        return unfinished or self.jobs.submit(bank, self._consolidate_job.plan(body, total=PERCENT))

    def refresh(
        self, bank: str, model_id: str, mode: RefreshMode | None = None, not_before: datetime | None = None
    ) -> Operation:
        """Queue a refresh of a mental model, or return the one that waits; park it until `not_before`.

        A parked refresh includes later changes; a call without `not_before` releases it.
        """
        plan = self._refresh_job.plan(
            {"mental_model_id": model_id, "mode": None if mode is None else mode.value}
        )
        return self.jobs.submit(bank, plan, not_before=not_before, reuse=True)

    def clear_traces(self) -> None:
        """Clear the traces of erased content from the files, once no further erasure follows for a moment.

        It is tried again and again while a reader or writer of the files is in the way.
        """
        now = time.monotonic()
        self._clear_by = self._clear_by or now + LONGEST_PAUSE
        self._clearing.offer([""], max(0.0, min(PAUSE, self._clear_by - now)))

    def _clear_traces(self, _: str) -> None:
        self._clear_by = None
        if self._store.clear_traces() is Traces.PENDING:
            raise Busy("a reader or writer keeps traces of erased content in the files")

    def build_search_tables_if_due(self, bank: str) -> None:
        """Submit preparing a bank that became too large for memory to be searched in SQL."""
        if self._store.search_tables_due(bank):
            plan = self._search_tables_job.plan(total=PERCENT)
            self.jobs.submit(bank, plan, SEARCH_TABLES, again=True)

    def after_retain(self, result: RetainResult) -> RetainResult:
        """Schedule refinement and consolidation some time after the last retain, if settings ask for it."""
        if self._rules.refine_after is not None:
            self._auto_refinement.offer([result.bank], self._rules.refine_after)
        self._consolidate_soon(result.bank)
        self.build_search_tables_if_due(result.bank)
        tracker = self._components.recall.tracker
        if tracker is not None:
            tracker.note(retain_activity(result, self._components.clock()))
        return result

    def announce_retain(
        self, tx: Transaction, receipt: CommitReceipt, operation_id: str | None = None
    ) -> None:
        """Write the webhook deliveries of a retain, one per document, in its transaction."""
        if not tx.records(WEBHOOK):
            return
        facts = Counter(fact.document_id for fact in tx.facts(receipt.inserted))
        for document in tx.documents(receipt.document_ids):
            data = {
                "document_id": document.id, "tags": sorted(document.tags),
                "memory_unit_count": facts[document.id],
            }  # fmt: skip
            self._outbox.announce(tx, document.bank, RETAIN_COMPLETED, data, operation_id=operation_id)

    def _announce_consolidation(self, tx: Transaction, operation: Operation) -> None:
        """Write the webhook deliveries and the audit entry of a run in the transaction that ends it."""
        counts = {
            f"observations_{event}": (operation.result or {}).get(f"observations_{name}", 0)
            for event, name in (("created", "created"), ("updated", "updated"), ("deleted", "closed"))
        }
        _log_consolidation(tx, operation, counts)
        self._outbox.announce(tx, operation.bank, CONSOLIDATION_COMPLETED, counts, operation_id=operation.id)

    def _refresh_touched_models(
        self, components: ReflectComponents, bank: str, tags: frozenset[str], now: datetime
    ) -> None:
        """Refresh the mental models that ask for it after a consolidation; park those refreshed lately."""
        touched = [frozenset({tag} - {""}) for tag in sorted(tags)]
        for due in refresh_due_models(components, bank, touched, now).parked:
            self.refresh(bank, due.model.id, not_before=due.not_before)

    def _unfinished(self, bank: str, kind: str) -> Operation | None:
        for operation in self.jobs.list(bank):
            if operation.kind == kind and not operation.finished:
                return operation
        return None

    def _unfinished_reprocess(self, bank: str) -> Operation | None:
        """Return the run over the whole bank that is under way."""
        waiting = (one for one in self.jobs.list(bank) if one.kind == REPROCESS and not one.finished)
        return next((one for one in waiting if one.document_id is None), None)

    def _consolidate_soon(self, bank: str) -> None:
        """Schedule consolidation after the last change, if the bank's or the memory's setting asks for it."""
        banks = self._store.banks([bank])
        own = banks[0].settings.get("enable_auto_consolidation") if banks else False
        after = self._rules.consolidate_after
        if own is True or (own is None and after is not None):
            self._auto_consolidation.offer([bank], AUTO_CONSOLIDATION if after is None else after)

    def _make_refine_job(self, local: Extractor | None) -> RefineJob | None:
        """Return the job that asks a language model; None, and import nothing of it, if none is set."""
        if local is None:
            return None
        from perdure.jobs.refine_job import RefineJob

        return RefineJob(self._components.retain, local, self._consolidate_soon)


def _turn(action: Callable[[str], object]) -> Callable[[str], Turn]:
    """Return the turn of a bank that does an action, and again later while the store or a reader is in the way."""

    def take(bank: str) -> Turn:
        try:
            action(bank)
        except PerdureError as error:
            log.warning("bank %r: %s", bank, error)
            return Turn.LATER if isinstance(error, (Busy, *TRY_AGAIN)) else Turn.IDLE
        return Turn.IDLE

    return take


def refresh_job(components: ReflectComponents) -> SingleStepJob:
    """Return the job that refreshes the mental model named in the step."""

    def run(step: Step) -> Mapping[str, object]:
        mode = step.body["mode"]
        preview = refresh_mental_model(
            components,
            step.bank,
            str(step.body["mental_model_id"]),
            None if mode is None else RefreshMode(str(mode)),
            within=step.commit,
        )
        return {"mental_model_id": preview.model.id, "outcome": preview.outcome.value}

    return SingleStepJob("refresh_mental_model", run)


def search_tables_job(store: Store) -> SingleStepJob:
    """Return the job that fills or empties the search tables of a bank, as its size demands."""

    def run(step: Step) -> Mapping[str, object]:
        share = 0.0

        def note(now: float) -> None:
            nonlocal share
            share = now

        step.progress = lambda: share
        step.unfinished = not store.build_search_tables(step.bank, note, wait=False)
        return {}

    return SingleStepJob(SEARCH_TABLES, run)


def _log_consolidation(tx: Transaction, operation: Operation, counts: Mapping[str, object]) -> None:
    """Write a run of consolidation to the audit log, if the bank has one."""
    bank = tx.bank()
    if bank is None or bank.settings.get(ENABLED) is not True:
        return
    assert operation.created_at is not None
    entry = AuditEntry(
        id=operation.id,
        bank=operation.bank,
        action="consolidation",
        transport=Transport.SYSTEM,
        started_at=operation.created_at,
        ended_at=operation.updated_at or operation.created_at,
        response=counts,
    )
    tx.put_records([to_record(AUDIT, entry, created_at=entry.started_at)])


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
