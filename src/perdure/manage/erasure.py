"""Erasing for good: the facts, then everything that quotes them, wherever it is stored."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from perdure.domain.activity import ACTIVITY
from perdure.domain.filter import Filter
from perdure.domain.item import SPEAKER
from perdure.domain.knowledge import KNOWLEDGE_NODE
from perdure.domain.llm_call import LLM_CALL, LlmCall
from perdure.domain.observation import OBSERVATION_RECORD, read_subject
from perdure.domain.question import QUESTION_RECORD
from perdure.domain.webhook import DELIVERY, DUE
from perdure.errors import ModelError
from perdure.forget.options import Target
from perdure.forget.pipeline import Readers, forget
from perdure.forget.preview import ForgetPreview, preview_forget
from perdure.forget.target import Forgotten
from perdure.jobs.background import Background
from perdure.jobs.outbox import read_delivery, scrub_deliveries
from perdure.jobs.records import JOB, scrub
from perdure.manage.reembed import embed_facts
from perdure.ports.store import Traces, Transaction
from perdure.ports.telemetry import MemoryOperation, observed
from perdure.recall.beliefs import EVIDENCE, OPINION, read_evidence, read_opinion
from perdure.recall.freshness import stale_observations
from perdure.reflect.components import ReflectComponents
from perdure.reflect.consolidate import read_batch
from perdure.reflect.directives import DIRECTIVE, read_directive, read_earlier
from perdure.reflect.directives import HISTORY as DIRECTIVE_HISTORY
from perdure.reflect.erasure import scrub_records, scrub_thoughts
from perdure.reflect.knowledge import read_node
from perdure.reflect.mental_models.record import HISTORY as MODEL_HISTORY
from perdure.reflect.mental_models.record import MENTAL_MODEL, read_model, read_versions
from perdure.reflect.notes.write import NOTE_RECORD, drop_notes, repair_notes
from perdure.reflect.observations.erasure import BATCH_RECORD, WORK_RECORD
from perdure.reflect.observations.write import SUBJECT_RECORD
from perdure.reflect.observations.write import read_versions as read_subject_versions
from perdure.reflect.opinions.erasure import opinions_resting_on
from perdure.reflect.questions import read_fact_ids

KINDS: Readers = {
    SPEAKER: None,
    OPINION: read_opinion,
    EVIDENCE: read_evidence,
    QUESTION_RECORD: read_fact_ids,
    NOTE_RECORD: None,  # `scrub_notes` has the note of an unreadable one written anew
    MENTAL_MODEL: read_model,
    MODEL_HISTORY: read_versions,
    DIRECTIVE: read_directive,
    DIRECTIVE_HISTORY: read_earlier,
    LLM_CALL: LlmCall.from_record,
    KNOWLEDGE_NODE: lambda record: read_node(record, {}),
    OBSERVATION_RECORD: read_subject,
    SUBJECT_RECORD: lambda record: (read_subject(record), read_subject_versions(record)),
    WORK_RECORD: read_subject,
    BATCH_RECORD: read_batch,
    JOB: None,  # `scrub` reads jobs with their steps
    DELIVERY: read_delivery,
    DUE: None,
}
"""Kinds of the records that may name an entity or quote a fact."""
log = logging.getLogger(__name__)


class Erasure:
    """Erases from a memory, or shows what would be erased."""

    def __init__(self, components: ReflectComponents, background: Background) -> None:
        self._components, self._background = components, background
        self._store = components.store

    def forget(self, bank: str, target: Target) -> Forgotten:
        """Erase the target with everything that quotes it."""
        operation = MemoryOperation.FORGET_BANK if target.everything else MemoryOperation.FORGET
        record_id = target.fact_id or target.document_id  # the id of an entity is a hash of its name
        with observed(self._components.retain.telemetry, operation, bank, record_id=record_id) as report:
            forgotten = self._forget(bank, target)
            if report is not None:
                report.records(forgotten.facts)
            return forgotten

    def unlink(self, bank: str, entity_id: str) -> Forgotten:
        """Delete an entity with its observations, and leave the facts that mention it."""
        return self.forget(bank, Target(entity_id=entity_id, unlink=True))

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
            kinds=KINDS,
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
            kinds=KINDS,
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
        """Embed facts whose vectors quoted erased words; without a model they stay without vectors."""
        try:
            embed_facts(self._components.retain, bank, fact_ids)
        except ModelError as error:
            log.warning("%d facts of bank %s have no vectors until reembed: %s", len(fact_ids), bank, error)


def _scrub_background(tx: Transaction, document_ids: frozenset[str]) -> bool:
    """Take erased documents out of background work and of webhook deliveries, and delete the activity: any of it may quote them."""
    tx.delete_records(ACTIVITY, [record.id for record in tx.records(ACTIVITY)])
    return any([scrub(tx, document_ids), scrub_deliveries(tx, document_ids)])
