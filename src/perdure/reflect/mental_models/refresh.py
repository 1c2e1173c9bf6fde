"""A refresh, top to bottom: scope -> what is new and what is lost -> recall -> compose or edit -> decide -> write."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter, admits
from perdure.domain.mental_model import (
    REFRESH_FAILURES,
    DeltaOperations,
    MentalModel,
    ModelSection,
    RefreshMode,
    RefreshOutcome,
    RefreshPreview,
    Retraction,
    cited_ids,
    render_sections,
)
from perdure.errors import DeadlineExceeded, InvalidInput, LlmError, ModelError, RefreshFailed
from perdure.ports.store import Transaction
from perdure.recall.options import RecallRequest
from perdure.recall.pipeline import recall
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.compose import compose, supported_facts, without_facts
from perdure.reflect.mental_models.delta import NO_ROOM, apply_delta
from perdure.reflect.mental_models.record import (
    add_version,
    find_model,
    put_model,
    put_vector,
    searched_text,
)
from perdure.reflect.mental_models.scope import ScopeState, read_scope, retraction_of, scope_of
from perdure.reflect.mental_models.structured import Structured, fill_fields

log = logging.getLogger(__name__)

RECALL_TOKENS = 4096
"""Tokens of facts that a refresh reads at least, whatever the size of its document."""
NO_CONTENT, OTHER_QUERY, ALL_SKIPPED = "no_baseline_content", "source_query_changed", "delta_ops_all_skipped"
Within = Callable[[Transaction, Mapping[str, object]], None]
"""Called in the transaction that writes, with the result to record."""


def preview_refresh(
    components: ReflectComponents, bank: str, model_id: str, mode: RefreshMode | None = None
) -> RefreshPreview:
    """The whole refresh, without writing anything."""
    started, now = time.perf_counter(), components.clock()
    with components.store.reading(bank) as reading:
        # Read before anything is recalled: what commits from here on counts as unseen, even where recall reads it.
        model = find_model(reading, model_id)
        state = read_scope(reading, model, now)
        retraction = retraction_of(reading, model, now)
        successors = {
            fact.id: fact.superseded_by
            for fact in (reading.facts(retraction.fact_ids) if retraction is not None else ())
            if fact.superseded_by is not None
        }
    run = _Run(components, model, state, retraction, successors, now)
    requested = model.trigger.mode if mode is None else mode
    reason = run.full_because() if requested is RefreshMode.DELTA else None
    preview: RefreshPreview | None = None
    if requested is RefreshMode.DELTA and reason is None:
        preview = run.delta()
        reason = ALL_SKIPPED if preview is None else None
    if preview is None:
        preview = run.full(requested, reason)
    if run.failures:
        # What a model has not seen stays unseen, so that it is asked again later.
        preview = replace(preview, model_failed=True, seen=model.seen)
    preview = run.with_structure(preview)
    return replace(preview, duration_ms=round((time.perf_counter() - started) * 1000))


@dataclass(frozen=True, slots=True)
class _Run:
    components: ReflectComponents
    model: MentalModel
    state: ScopeState
    retraction: Retraction | None
    successors: Mapping[str, str]
    now: datetime
    failures: list[str] = field(default_factory=list)
    """Why a language model that is set wrote nothing."""

    def full_because(self) -> str | None:
        """Why a delta cannot be applied."""
        if not self.model.sections:
            return NO_CONTENT
        return OTHER_QUERY if self.model.last_query != self.model.source_query else None

    def full(self, requested: RefreshMode, reason: str | None) -> RefreshPreview:
        facts, milliseconds = self.recalled()
        written = self._written_by_model(requested, RefreshMode.FULL, reason, facts, milliseconds)
        if written is not None:
            return written
        candidate = compose(facts, self.components.recall.tokens, self.model.max_tokens, self.now)
        sections, warnings = candidate, list(self.failures)
        if candidate:
            outcome = self._outcome(candidate)
        elif self.retraction is not None:
            sections = without_facts(self.model.sections, self.retraction.fact_ids)
            outcome = RefreshOutcome.WRITTEN
            warnings.append("nothing answers the question; only what no longer holds was taken out")
        else:
            outcome = RefreshOutcome.EMPTY
        return self._preview(
            requested, RefreshMode.FULL, reason, outcome, facts, candidate, sections, milliseconds, warnings
        )

    def delta(self) -> RefreshPreview | None:
        """The document with what is new and without what is lost; None when there was no room for anything new."""
        if not self.state.has_new and self.retraction is None:
            return self._preview(
                RefreshMode.DELTA,
                RefreshMode.DELTA,
                None,
                RefreshOutcome.NO_NEW_FACTS,
                (),
                (),
                self.model.sections,
            )
        facts, milliseconds = self.recalled()
        if self.state.new_ids is not None:
            facts = [fact for fact in facts if fact.id in self.state.new_ids]
        written = self._written_by_model(RefreshMode.DELTA, RefreshMode.DELTA, None, facts, milliseconds)
        if written is not None:
            return written
        tokens, size = self.components.recall.tokens, self.model.max_tokens
        lost = () if self.retraction is None else self.retraction.fact_ids
        done = apply_delta(self.model.sections, facts, lost, self.successors, tokens, size, self.now)
        if done.operations.skipped and not done.operations.applied:
            return None
        outcome = self._outcome(done.sections)
        if outcome is RefreshOutcome.UNCHANGED and not facts:
            outcome = RefreshOutcome.NO_NEW_FACTS
        skipped = len(done.operations.skipped)
        warnings = [f"{skipped} new sentences were left out: {NO_ROOM}"] if skipped else []
        candidate = compose(facts, tokens, size, self.now)
        return self._preview(
            RefreshMode.DELTA, RefreshMode.DELTA, None, outcome, facts, candidate, done.sections, milliseconds,
            warnings, done.operations,
        )  # fmt: skip

    def _written_by_model(
        self,
        requested: RefreshMode,
        effective: RefreshMode,
        reason: str | None,
        facts: Sequence[Fact],
        milliseconds: int,
    ) -> RefreshPreview | None:
        """The refresh by a language model; None where none is set, nothing new is to be told, or there is no document that it could keep."""
        caller = self.components.llm
        current = [fact for fact in facts if admits(Filter().at(self.now), fact)]
        if caller is None or not current:
            return None
        from perdure.domain.llm_call import LlmOperation
        from perdure.reflect.mental_models.written import change_document, write_document

        if not caller.serves(LlmOperation.MENTAL_MODEL):
            return None
        lost = () if self.retraction is None else self.retraction.fact_ids
        kept = without_facts(self.model.sections, lost)
        try:
            if effective is RefreshMode.DELTA and kept:
                written = change_document(self.components, caller, self.model, kept, current)
            else:
                written = write_document(self.components, caller, self.model, current)
        except (LlmError, DeadlineExceeded) as error:
            self.failures.append(f"composed without the language model: {error}")
            if not self.model.sections:
                return None
            return self._kept(requested, effective, reason, facts, kept, milliseconds, str(error))
        warnings = [f"{written.refused} sentences were left out: their facts do not support them"]
        preview = self._preview(
            requested, effective, reason, self._outcome(written.sections), facts, written.sections,
            written.sections, milliseconds, warnings if written.refused else (), written.operations,
        )  # fmt: skip
        return replace(preview, written_by=written.written_by, llm_calls=(written.call,))

    def _kept(
        self,
        requested: RefreshMode,
        effective: RefreshMode,
        reason: str | None,
        facts: Sequence[Fact],
        kept: tuple[ModelSection, ...],
        milliseconds: int,
        error: str,
    ) -> RefreshPreview:
        """After a failure of the model: what no longer holds is taken back, all else stays, and the watermark too."""
        outcome = RefreshOutcome.MODEL_FAILED if self.retraction is None else RefreshOutcome.WRITTEN
        preview = self._preview(
            requested, effective, reason, outcome, facts, (), kept, milliseconds,
            (f"the language model failed: {error}",),
        )  # fmt: skip
        return replace(preview, written_by=self.model.written_by)

    def with_structure(self, preview: RefreshPreview) -> RefreshPreview:
        """The preview with structured output, where the trigger asks for it and the refresh succeeds."""
        schema = self.model.trigger.response_schema
        if schema is None or preview.outcome.failed:
            return preview
        if preview.outcome is RefreshOutcome.NO_NEW_FACTS and self.model.structured_output is not None:
            kept = Structured(self.model.structured_output, self.model.structured_fact_ids)
            return replace(preview, structured_output=kept.values, structured_fact_ids=kept.fact_ids)
        try:
            filled = fill_fields(schema, self.model.source_query, lambda query: self.recalled(query)[0])
        except InvalidInput as error:
            return replace(preview, outcome=RefreshOutcome.STRUCTURED_FAILED, warnings=(str(error),))
        return replace(preview, structured_output=filled.values, structured_fact_ids=filled.fact_ids)

    def recalled(self, query: str | None = None) -> tuple[list[Fact], int]:
        """The facts in scope that bear on the question, and how many milliseconds that took."""
        started = time.perf_counter()
        size = self.model.trigger.recall_max_tokens
        result = recall(
            self.components.recall,
            RecallRequest(
                bank=self.model.bank,
                query=query or self.model.source_query,
                recipe=self.components.recipe,
                where=scope_of(self.model),
                max_tokens=max(RECALL_TOKENS, self.model.max_tokens) if size is None else size,
                track=False,
            ),
        )
        return supported_facts(result), round((time.perf_counter() - started) * 1000)

    def _outcome(self, sections: Sequence[ModelSection]) -> RefreshOutcome:
        same = self.model.generated and render_sections(sections) == self.model.content
        return RefreshOutcome.UNCHANGED if same else RefreshOutcome.WRITTEN

    def _preview(
        self,
        requested: RefreshMode,
        effective: RefreshMode,
        reason: str | None,
        outcome: RefreshOutcome,
        facts: Sequence[Fact],
        candidate: tuple[ModelSection, ...],
        sections: tuple[ModelSection, ...],
        recall_ms: int = 0,
        warnings: Sequence[str] = (),
        operations: DeltaOperations | None = None,
    ) -> RefreshPreview:
        used = set(cited_ids(sections))
        return RefreshPreview(
            model=self.model,
            requested_mode=requested,
            effective_mode=effective,
            mode_fallback_reason=reason,
            outcome=outcome,
            candidate=candidate,
            sections=sections,
            seen=self.state.seen,
            newest_seen_at=self.state.newest_at,
            snapshot_at=self.now,
            read_after=self.model.last_memory_seen_at if effective is RefreshMode.DELTA else None,
            retrieved=Counter(fact.type.value for fact in facts),
            used=Counter(fact.type.value for fact in facts if fact.id in used),
            operations=operations,
            retraction=self.retraction,
            recall_ms=recall_ms,
            warnings=tuple(warnings),
        )


def refresh_mental_model(
    components: ReflectComponents,
    bank: str,
    model_id: str,
    mode: RefreshMode | None = None,
    within: Within | None = None,
) -> RefreshPreview:
    """Refresh a model; returns what was done. RefreshFailed when content and watermark had to stay."""
    preview = preview_refresh(components, bank, model_id, mode)
    if preview.outcome.failed:
        _record_failure(components, preview)
        raise RefreshFailed(model_id, preview.outcome.value, REFRESH_FAILURES[preview.outcome])
    with components.store.transaction(bank) as tx:
        model = _written(tx, preview, components.clock())
        if within is not None:
            within(tx, {"mental_model_id": model_id, "outcome": preview.outcome.value})
    keep_vector(components, model)
    return preview


def _written(tx: Transaction, preview: RefreshPreview, now: datetime) -> MentalModel:
    """The model with what the refresh brought, stored; its settings are those of this moment.

    Facts that were forgotten while the refresh was under way leave no sentence.
    """
    current = find_model(tx, preview.model.id)
    cited = cited_ids(preview.sections)
    gone = set(cited) - {fact.id for fact in tx.facts(cited)}
    sections = without_facts(preview.sections, gone) if gone else preview.sections
    structured = preview.structured_fact_ids
    structure_holds = len(tx.facts(structured)) == len(structured)
    # The same text may rest on other facts than before; a model that was cleared meanwhile stays so.
    same_text = preview.outcome is RefreshOutcome.UNCHANGED and current.sections == preview.model.sections
    replaces = preview.would_persist or same_text
    if preview.would_persist:
        add_version(tx, current, now)
    full = preview.effective_mode is RefreshMode.FULL
    seen_at = [one for one in (current.last_memory_seen_at, preview.newest_seen_at) if one is not None]
    model = replace(
        current,
        sections=sections if replaces else without_facts(current.sections, gone),
        generated=current.generated or preview.would_persist,
        seen=preview.seen,
        retracted=bool(gone),
        last_query=preview.model.source_query,
        last_refreshed_at=now,
        last_full_refreshed_at=now if full else current.last_full_refreshed_at,
        last_refresh_failed_at=now if preview.model_failed else None,
        last_memory_seen_at=max(seen_at, default=None),
        cron_ticked_at=now,
        refresh_skipped=None,
        written_by=preview.written_by if replaces else current.written_by,
        refresh_failures=current.refresh_failures + 1 if preview.model_failed else 0,
        structured_output=preview.structured_output if structure_holds else None,
        structured_fact_ids=structured if structure_holds else (),
        trace=preview.trace(now) if current.trigger.keep_trace else None,
        updated_at=now,
    )
    put_model(tx, model)
    return model


def _record_failure(components: ReflectComponents, preview: RefreshPreview) -> None:
    """Keep why the refresh wrote nothing; content and watermark stay."""
    now = components.clock()
    with components.store.transaction(preview.model.bank) as tx:
        current = find_model(tx, preview.model.id)
        put_model(
            tx,
            replace(
                current,
                last_refresh_failed_at=now,
                refresh_skipped=preview.outcome.value,
                refresh_failures=current.refresh_failures + (preview.outcome is RefreshOutcome.MODEL_FAILED),
                cron_ticked_at=now,
                trace=preview.trace(now) if current.trigger.keep_trace else current.trace,
            ),
        )


def keep_vector(components: ReflectComponents, model: MentalModel) -> None:
    """Store the vector of a model's text, unless the model changed meanwhile; without an embedder there is none."""
    embedder = components.recall.embedder
    if embedder is None:
        return
    try:
        vector = embedder.embed_passages([searched_text(model)])[0]
    except ModelError as error:
        log.warning("mental model %s has no vector until it is searched: %s", model.id, error)
        return
    with components.store.transaction(model.bank) as tx:
        if searched_text(find_model(tx, model.id)) == searched_text(model):
            put_vector(tx, model, embedder, vector)
