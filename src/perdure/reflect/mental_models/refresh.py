"""A refresh, top to bottom: scope -> what is new and what is lost -> recall -> select or write -> store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.fact import Fact
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
from perdure.domain.recall import RecallResult
from perdure.errors import DeadlineExceeded, InvalidInput, LlmError, RefreshFailed
from perdure.ports.store import Transaction
from perdure.recall.options import RecallRequest
from perdure.recall.pipeline import recall
from perdure.reflect.answer import compose as compose_answer
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.compose import compose, select_facts, without_facts
from perdure.reflect.mental_models.record import add_version, find_model, put_model
from perdure.reflect.mental_models.scope import ScopeState, read_scope, retraction_of, scope_of
from perdure.reflect.reflection import Reflection
from perdure.reflect.schema import fill_schema, read_schema

RECALL_TOKENS = 4096
"""Tokens of facts that a refresh reads at least, whatever the size of its document."""
NO_CONTENT, OTHER_QUERY = "no_baseline_content", "source_query_changed"
Within = Callable[[Transaction, Mapping[str, object]], None]
"""Called in the transaction that writes, with the result to record."""


def preview_refresh(
    components: ReflectComponents, bank: str, model_id: str, mode: RefreshMode | None = None
) -> RefreshPreview:
    """Return the result of a refresh without writing anything."""
    started, now = time.perf_counter(), components.clock()
    with components.store.reading(bank) as reading:
        # Read before anything is recalled: what commits from here on counts as unseen, even if recall reads it.
        model = find_model(reading, model_id)
        state = read_scope(reading, model, now)
        retraction = retraction_of(reading, model, now)
    requested = model.trigger.mode if mode is None else mode
    reason = None
    if requested is RefreshMode.DELTA:
        reason = NO_CONTENT if not model.sections else None
        reason = OTHER_QUERY if reason is None and model.last_query != model.source_query else reason
    run = _Run(components, model, state, retraction, now)
    run.preview = RefreshPreview(
        model=model,
        requested_mode=requested,
        effective_mode=requested if reason is None else RefreshMode.FULL,
        mode_fallback_reason=reason,
        outcome=RefreshOutcome.NO_NEW_FACTS,
        sections=model.sections,
        seen=state.seen,
        newest_seen_at=state.newest_at,
        snapshot_at=now,
        read_after=model.last_memory_seen_at if requested is RefreshMode.DELTA and reason is None else None,
        retraction=retraction,
        written_by=model.written_by,
    )
    is_new = state.is_new_to(model) or retraction is not None or model.retracted
    if run.preview.effective_mode is RefreshMode.FULL or is_new:
        run.write()
    run.fill_structure()
    return replace(run.preview, duration_ms=round((time.perf_counter() - started) * 1000))


@dataclass(slots=True)
class _Run:
    """A refresh in progress, whose result `preview` becomes."""

    components: ReflectComponents
    model: MentalModel
    state: ScopeState
    retraction: Retraction | None
    now: datetime
    preview: RefreshPreview = field(init=False)

    def write(self) -> None:
        """Write the document anew, with the language model if one is set."""
        started = time.perf_counter()
        recalled = self._recall(self.model.source_query)
        with self.components.store.reading(self.model.bank) as reading:
            features = reading.features([one.fact.id for one in recalled.recollections])
        vectors = {one: own.vectors["fact"] for one, own in features.items() if "fact" in own.vectors}
        facts = select_facts(recalled, vectors, self.now)
        self.preview = replace(
            self.preview,
            retrieved=Counter(fact.type.value for fact in facts),
            recall_ms=round((time.perf_counter() - started) * 1000),
        )
        if facts and self._write_by_model(facts):
            return
        candidate = compose(facts, self.components.recall.tokens, self.model.max_tokens)
        if candidate:
            self.preview = replace(self.preview, written_by="")
            self._end(candidate, candidate)
        elif self.retraction is not None:
            self.preview = replace(
                self.preview,
                warnings=("nothing answers the question; only what no longer holds was removed",),
            )
            self._end(without_facts(self.model.sections, self.retraction.fact_ids))
        else:
            self.preview = replace(self.preview, outcome=RefreshOutcome.EMPTY)

    def _write_by_model(self, facts: Sequence[Fact]) -> bool:
        """Have a language model write; return whether the document is decided, which it is not where none is set.

        If the model fails, the document stays except for what no longer holds, and so does the watermark.
        """
        caller = self.components.llm
        if caller is None:
            return False
        from perdure.domain.llm_call import LlmOperation
        from perdure.reflect.mental_models.written import write_document

        if not caller.serves(LlmOperation.MENTAL_MODEL):
            return False
        try:
            written = write_document(self.components, caller, self.model, facts)
        except (LlmError, DeadlineExceeded) as error:
            failed = (f"the language model failed: {error}",)
            self.preview = replace(self.preview, warnings=failed, model_failed=True, seen=self.model.seen)
            if not self.model.sections:
                return False
            if self.retraction is not None:
                self._end(without_facts(self.model.sections, self.retraction.fact_ids))
            else:
                self.preview = replace(self.preview, outcome=RefreshOutcome.MODEL_FAILED)
            return True
        refused = (f"{written.refused} sentences were left out: their facts do not support them",)
        self.preview = replace(
            self.preview,
            written_by=written.written_by,
            llm_calls=(written.call,),
            warnings=refused if written.refused else (),
        )
        self._end(written.sections, written.sections)
        return True

    def _end(self, sections: tuple[ModelSection, ...], candidate: tuple[ModelSection, ...] = ()) -> None:
        """Set the sections of the refreshed document, and what that changes."""
        same = self.model.generated and render_sections(sections) == self.model.content
        used = set(cited_ids(sections))
        with self.components.store.reading(self.model.bank) as reading:
            types = Counter(fact.type.value for fact in reading.facts(sorted(used)))
        is_delta = self.preview.effective_mode is RefreshMode.DELTA
        self.preview = replace(
            self.preview,
            outcome=RefreshOutcome.UNCHANGED if same else RefreshOutcome.WRITTEN,
            candidate=candidate,
            sections=sections,
            used=types,
            operations=_operations(self.model.sections, sections) if is_delta else None,
        )

    def fill_structure(self) -> None:
        """Fill the structured output that the trigger asks for; a required field that stays empty fails the refresh."""
        schema, preview = self.model.trigger.response_schema, self.preview
        if schema is None or preview.outcome.failed:
            return
        values, fact_ids = self.model.structured_output, dict.fromkeys(self.model.structured_fact_ids)
        if preview.outcome is not RefreshOutcome.NO_NEW_FACTS or values is None:
            fact_ids = {}

            def ask(query: str) -> Reflection:
                reflection = compose_answer(self._recall(query))
                fact_ids.update(dict.fromkeys(one.fact.id for one in reflection.based_on))
                return reflection

            try:
                values = fill_schema(read_schema(schema), self.model.source_query, ask) or {}
                missing = [name for name in schema.get("required", ()) if values.get(str(name)) is None]  # type: ignore[attr-defined]
                if missing:
                    raise InvalidInput(f"response_schema.{missing[0]}", "a value that memory holds")
            except InvalidInput as error:
                self.preview = replace(
                    preview, outcome=RefreshOutcome.STRUCTURED_FAILED, warnings=(str(error),)
                )
                return
        self.preview = replace(preview, structured_output=values, structured_fact_ids=tuple(fact_ids))

    def _recall(self, query: str) -> RecallResult:
        size = self.model.trigger.recall_max_tokens
        request = RecallRequest(
            bank=self.model.bank,
            query=query,
            recipe=self.components.recipe,
            where=scope_of(self.model),
            max_tokens=max(RECALL_TOKENS, self.model.max_tokens) if size is None else size,
            track=False,
        )
        return recall(self.components.recall, request)


def _operations(before: Sequence[ModelSection], after: Sequence[ModelSection]) -> DeltaOperations:
    """Return the sentences that a refresh removed and added."""
    old, new = ([one for section in sections for one in section.sentences] for sections in (before, after))
    changes = [("remove_sentence", one) for one in old if one not in new]
    changes += [("add_sentence", one) for one in new if one not in old]
    return DeltaOperations(
        applied=tuple({"op": name, "fact_ids": list(one.fact_ids)} for name, one in changes)
    )


def refresh_mental_model(
    components: ReflectComponents,
    bank: str,
    model_id: str,
    mode: RefreshMode | None = None,
    within: Within | None = None,
) -> RefreshPreview:
    """Refresh a model and return what was done. Raise `RefreshFailed` if content and watermark had to stay."""
    preview = preview_refresh(components, bank, model_id, mode)
    with components.store.transaction(bank) as tx:
        if preview.outcome.failed:
            _record_failure(tx, preview, components.clock())
        else:
            _write(tx, preview, components.clock())
            if within is not None:
                within(tx, {"mental_model_id": model_id, "outcome": preview.outcome.value})
    if preview.outcome.failed:
        raise RefreshFailed(model_id, preview.outcome.value, REFRESH_FAILURES[preview.outcome])
    return preview


def _write(tx: Transaction, preview: RefreshPreview, now: datetime) -> None:
    """Store the model with what the refresh brought; its settings are those of this moment.

    Facts that were forgotten during the refresh leave no sentence.
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
    put_model(
        tx,
        replace(
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
        ),
    )


def _record_failure(tx: Transaction, preview: RefreshPreview, now: datetime) -> None:
    """Record why the refresh wrote nothing; content and watermark stay."""
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
