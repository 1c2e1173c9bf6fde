"""Consolidation, in small steps: opinions on new facts -> observations of what they touch -> mental models -> notes.

A step is one transaction (a note is two), and the state of a run is in records, so that a run which a crash cut off goes on
where it was, and nothing is done twice. What is new is told by a watermark in the order of recording, what changed by marks
that changes leave (`history.mark_changed`): the cost of a run follows what is new and not what is stored.

    facts ──► subjects ──► models ──► notes ──► idle
    new since the      profiles that     what rests    files of the
    watermark, marked  they touch, each  on the        days, weeks and
    as changed         once per run      touched tags  quarters touched
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

from perdure.domain.fact import Fact
from perdure.domain.observation import (
    FAILED_RECORD,
    PENDING_RECORD,
    Scope,
    Subject,
    is_synthesised,
    read_subject,
)
from perdure.domain.plain import readable
from perdure.domain.record import Record
from perdure.errors import InvalidInput, PerdureError
from perdure.ports.store import Reading, Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.notes.compose import notes_of
from perdure.reflect.notes.write import NOTE_PENDING, put_pending, writable_notes, write_note
from perdure.reflect.observations.erasure import BATCH_RECORD, WORK_RECORD
from perdure.reflect.observations.progress import (
    FACTS,
    IDLE,
    MODELS,
    NOTES,
    SUBJECTS,
    ConsolidationState,
    next_facts,
    put_state,
    read_state,
)
from perdure.reflect.observations.subjects import (
    ObservationOptions,
    ScopeRules,
    read_options,
    read_rules,
    subject_record,
    touched_subjects,
)
from perdure.reflect.observations.write import (
    PlannedProfile,
    Written,
    embed_profiles,
    plan_profile,
    subject_facts,
    write_profile,
)
from perdure.reflect.opinions.forming import OpinionReport, assess_facts
from perdure.reflect.questions import find_conflicts, put_questions

PENDING_PER_STEP = 1000
SUBJECTS_PER_STEP = 16
NOTES_PER_STEP = 5
T = TypeVar("T")
R = TypeVar("R")

FactStage = Callable[[ReflectComponents, str, Sequence[Fact], datetime], OpinionReport | None]
"""Looks at new facts, in transactions of its own; it is idempotent."""
ModelStage = Callable[[ReflectComponents, str, frozenset[str], datetime], object]
"""Refreshes what rests on facts of the touched tags; "" among them stands for facts without any."""
FACT_STAGES: tuple[FactStage, ...] = (assess_facts,)

Commit = Callable[[Transaction, Mapping[str, object], float], None]
"""Records a step in its transaction, with its result and how far the run is then: 1 when it is over.

Raises when the step must not be done.
"""
Guard = Callable[[Transaction], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """The components and the state of a run."""

    components: ReflectComponents
    bank: str
    operation_id: str
    commit: Commit
    guard: Guard
    scopes: tuple[Scope, ...] | None = None
    """Only facts that carry all tags of one of these; all that is new when None."""
    fact_stages: tuple[FactStage, ...] = ()
    model_stages: tuple[ModelStage, ...] = ()


def consolidate_step(run: ConsolidationRun) -> None:
    """Do the next step of a run."""
    with run.components.store.reading(run.bank) as reading:
        state = read_state(reading)
    if state.operation != run.operation_id:
        state = replace(state, operation=run.operation_id, phase=FACTS, offset=0)
    _PHASES[state.phase](run, state)


# Facts


@dataclass(slots=True)
class _Seen:
    """The consequences of new facts."""

    subjects: set[Subject] = field(default_factory=set)
    conflicts: list[list[Fact]] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    unjudged: str = ""
    """Why facts were not judged for opinions."""

    def add(self, other: _Seen) -> None:
        self.subjects |= other.subjects
        self.conflicts += other.conflicts
        self.notes |= other.notes
        self.tags |= other.tags
        self.unjudged = self.unjudged or other.unjudged


def _facts_step(run: ConsolidationRun, state: ConsolidationState) -> ConsolidationState:
    """Look at the next facts: record what they touch, and move the watermark."""
    components, bank, now = run.components, run.bank, run.components.clock()
    with components.store.reading(bank) as reading:
        options = read_options(reading.bank())
        rules = read_rules(reading, options)
        marked = [] if run.scopes is not None else [record.id for record in reading.records(PENDING_RECORD)]
        marked = marked[:PENDING_PER_STEP]
        facts, following = next_facts(reading, run.scopes, state, now)
        changed = reading.facts(marked)
    sources = {fact.id: fact for fact in (*changed, *facts) if not is_synthesised(fact)}
    parts, failed = split_poison(list(sources.values()), lambda some: _look_at(run, some, rules, now))
    seen = _Seen()
    for part in parts:
        seen.add(part)
    following = replace(following, tags=tuple(sorted({*following.tags, *seen.tags})))
    with components.store.transaction(bank) as tx:
        tx.put_records([subject_record(WORK_RECORD, bank, subject) for subject in seen.subjects])
        if writable_notes(components) is not None:
            put_pending(tx, bank, seen.notes)
        asked = put_questions(tx, bank, seen.conflicts, now)
        tx.delete_records(PENDING_RECORD, marked)
        _set_aside(tx, bank, failed)
        if not facts and not marked:
            following = _batch_subjects(tx, bank, following)
        put_state(tx, bank, following)
        told: dict[str, object] = {"facts": len(sources), "questions": asked, "failed": len(failed)}
        told |= {"opinions_unjudged": seen.unjudged} if seen.unjudged else {}
        run.commit(tx, told, following.progress)
    return following


def _look_at(run: ConsolidationRun, facts: Sequence[Fact], rules: ScopeRules, now: datetime) -> _Seen:
    reports = [stage(run.components, run.bank, facts, now) for stage in run.fact_stages]
    unjudged = next((report.unjudged for report in reports if report is not None and report.unjudged), "")
    with run.components.store.reading(run.bank) as reading:
        return _Seen(
            subjects=touched_subjects(reading, facts, rules),
            conflicts=find_conflicts(reading, facts, now),
            notes=notes_of(facts),
            tags={tag for fact in facts for tag in fact.tags or ("",)},
            unjudged=unjudged,
        )


def split_poison(items: Sequence[T], work: Callable[[Sequence[T]], R]) -> tuple[list[R], list[T]]:
    """Return the results of the work on all items, in as few parts as possible, and the items on which it fails even alone.

    A batch that fails is halved. Errors that are no item's fault (the store, a model) are raised.
    """
    if not items:
        return [], []
    try:
        return [work(items)], []
    except Exception as error:
        if isinstance(error, PerdureError) and not isinstance(error, InvalidInput):
            raise
        if len(items) == 1:
            return [], list(items)
    middle = len(items) // 2
    first, failed = split_poison(items[:middle], work)
    second, also_failed = split_poison(items[middle:], work)
    return [*first, *second], [*failed, *also_failed]


def _set_aside(tx: Transaction, bank: str, facts: Iterable[Fact]) -> None:
    tx.put_records([Record(kind=FAILED_RECORD, id=fact.id, bank=bank) for fact in facts])


def _batch_subjects(tx: Transaction, bank: str, state: ConsolidationState) -> ConsolidationState:
    """Put the touched subjects into batches, each subject once."""
    waiting = tx.records(WORK_RECORD)
    left = tx.records(BATCH_RECORD)
    subjects = dict.fromkeys(readable(waiting, read_subject))
    subjects |= dict.fromkeys(chain.from_iterable(readable(left, read_batch)))
    tx.delete_records(WORK_RECORD, [record.id for record in waiting])
    tx.delete_records(BATCH_RECORD, [record.id for record in left])
    listed = list(subjects)
    batches = [
        listed[start : start + SUBJECTS_PER_STEP] for start in range(0, len(listed), SUBJECTS_PER_STEP)
    ]
    tx.put_records([batch_record(bank, number, batch) for number, batch in enumerate(batches)])
    return replace(state, phase=SUBJECTS if batches else MODELS, batch=0, batches=len(batches))


def batch_record(bank: str, number: int, subjects: Iterable[Subject]) -> Record:
    """Return the record of a batch of subjects."""
    listed = [{"subject": {"kind": s.kind, "key": s.key, "scope": list(s.scope)}} for s in subjects]
    return Record(kind=BATCH_RECORD, id=f"{number:08d}", bank=bank, body={"subjects": listed})


def read_batch(record: Record) -> list[Subject]:
    """Return the subjects of a batch."""
    listed: Any = record.body["subjects"]
    return [read_subject(replace(record, body=one)) for one in listed]


# Subjects


def _subjects_step(run: ConsolidationRun, state: ConsolidationState) -> ConsolidationState:
    """Bring the profiles of a batch of subjects up to date."""
    components, bank, now = run.components, run.bank, run.components.clock()
    number = f"{state.batch:08d}"
    with components.store.reading(bank) as reading:
        options = read_options(reading.bank())
        rules = read_rules(reading, options)
        subjects = [
            subject
            for batch in readable(reading.records(BATCH_RECORD, [number]), read_batch)
            for subject in batch
        ]
    facts = {one: subject_facts(components, bank, one, rules, now) for one in subjects}
    planned = [plan_profile(components, bank, one, facts[one], options) for one in subjects]
    planned, told_of_model = _in_prose(run, planned, facts, options)
    new = embed_profiles(components, bank, planned, now)
    written = Written()
    with components.store.transaction(bank) as tx:
        for plan in planned:
            if not write_profile(tx, components, bank, plan, new.get(plan.subject), now, written):
                tx.put_records([subject_record(WORK_RECORD, bank, plan.subject)])
        tx.delete_records(BATCH_RECORD, [number])
        following = replace(state, batch=state.batch + 1)
        if following.batch >= state.batches:
            following = _batch_subjects(tx, bank, following)
        put_state(tx, bank, following)
        told = {
            "observations_created": written.created,
            "observations_updated": written.updated,
            "observations_closed": written.closed,
            **told_of_model,
        }
        run.commit(tx, told, following.progress)
    return following


def _in_prose(
    run: ConsolidationRun,
    planned: list[PlannedProfile],
    facts: Mapping[Subject, Sequence[Fact]],
    options: ObservationOptions,
) -> tuple[list[PlannedProfile], Mapping[str, object]]:
    """Return the profiles as a language model words them, if one is set, and what the operation shows of that."""
    components = run.components
    if components.llm is None:
        return planned, {}
    from perdure.domain.llm_call import LlmOperation
    from perdure.reflect.observations.prose import write_prose

    if not components.llm.serves(LlmOperation.CONSOLIDATE):
        return planned, {}
    in_prose, report = write_prose(components, components.llm, run.bank, planned, facts, options)
    return in_prose, report.told()


# Models and notes


def _models_step(run: ConsolidationRun, state: ConsolidationState) -> ConsolidationState:
    components, bank = run.components, run.bank
    if state.tags:
        for stage in run.model_stages:
            stage(components, bank, frozenset(state.tags), components.clock())
    following = replace(state, phase=NOTES, tags=())
    with components.store.transaction(bank) as tx:
        put_state(tx, bank, following)
        run.commit(tx, {}, following.progress)
    return following


def _notes_step(run: ConsolidationRun, state: ConsolidationState) -> ConsolidationState:
    """Write the notes that are due, a few at a time; then the run is over."""
    components, bank, now = run.components, run.bank, run.components.clock()
    notes = writable_notes(components)
    with components.store.reading(bank) as reading:
        due = [record.id for record in reading.records(NOTE_PENDING)] if notes is not None else []
    written = 0
    if notes is not None:
        for name in due[:NOTES_PER_STEP]:
            written += write_note(components, notes, bank, name, now, run.guard)
    over = len(due) <= NOTES_PER_STEP
    with components.store.reading(bank) as reading:
        following = _past_own_facts(reading, state, now) if over and run.scopes is None else state
    with components.store.transaction(bank) as tx:
        if over:
            following = replace(following, phase=IDLE, operation="", at=now.isoformat())
        put_state(tx, bank, following)
        told: dict[str, object] = {"notes": written}
        if over:
            told["failed_fact_ids"] = [record.id for record in tx.records(FAILED_RECORD)]
        run.commit(tx, told, following.progress)
    return following


def _past_own_facts(reading: Reading, state: ConsolidationState, now: datetime) -> ConsolidationState:
    """Return the state with the watermark behind what the run itself wrote, unless other facts came between."""
    while True:
        facts, following = next_facts(reading, None, state, now)
        if not facts or any(not is_synthesised(fact) for fact in facts):
            return state
        state = following


_PHASES: Mapping[str, Callable[[ConsolidationRun, ConsolidationState], ConsolidationState]] = {
    FACTS: _facts_step,
    SUBJECTS: _subjects_step,
    MODELS: _models_step,
    NOTES: _notes_step,
}
