"""Writing observations: a changed profile is a new fact that supersedes the old one, which stays for `as_of`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import Entity, Fact, FactType
from perdure.domain.filter import Filter, is_current
from perdure.domain.observation import (
    OBSERVATION_RECORD,
    Subject,
    fingerprint,
    observation_record,
    read_clauses,
    read_fingerprints,
)
from perdure.domain.record import Record
from perdure.history import CLOSINGS
from perdure.ports.store import NewFact, Rows, Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.observations.compose import Profile, compose
from perdure.reflect.observations.subjects import (
    ENTITY,
    ObservationOptions,
    ScopeRules,
    facts_of,
    subject_id,
    subject_record,
)
from perdure.retain.commit import Closure, FactChanges, apply_changes
from perdure.retain.features import features_of_synthesised
from perdure.retain.identity import new_fact_id

SUBJECT_RECORD = "observation_subject"
"""Kind of the records that list the versions of a subject's profile, oldest first."""
MOST_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class PlannedProfile:
    """A subject and its profile; None if there are too few facts."""

    subject: Subject
    name: str
    profile: Profile | None
    sources: Mapping[str, Fact]
    """The facts that the profile rests on, as they were read."""
    prose: Mapping[str, object] | None = None
    """The prompt and the model of a profile that a language model wrote."""


@dataclass(slots=True)
class Written:
    """The number of profiles that were written."""

    created: int = 0
    updated: int = 0
    closed: int = 0


def plan_profile(
    components: ReflectComponents,
    bank: str,
    subject: Subject,
    facts: Sequence[Fact],
    options: ObservationOptions,
) -> PlannedProfile:
    """Return the profile that the facts make."""
    with components.store.reading(bank) as reading:
        entity = _entity(reading, subject)
        name = entity.name if entity is not None else subject.key
        exists = subject.kind != ENTITY or entity is not None
        if not options.enabled or not exists or len(facts) < options.min_facts:
            return PlannedProfile(subject, name, None, {})
        features = reading.features([fact.id for fact in facts])
    vectors = {fact_id: own.vectors["fact"] for fact_id, own in features.items() if "fact" in own.vectors}
    count = components.recall.tokens.count
    profile = compose(name, facts, vectors, count=count, max_tokens=options.max_tokens)
    by_id = {fact.id: fact for fact in facts}
    sources = {} if profile is None else {fact_id: by_id[fact_id] for fact_id in profile.source_ids}
    return PlannedProfile(subject, name, profile, sources)


def subject_facts(
    components: ReflectComponents, bank: str, subject: Subject, rules: ScopeRules, now: datetime
) -> list[Fact]:
    """Return the facts that a profile is made from."""
    with components.store.reading(bank) as reading:
        return facts_of(reading, subject, rules, now)


def _entity(rows: Rows, subject: Subject) -> Entity | None:
    if subject.kind != ENTITY:
        return None
    return next((keyed.entity for keyed in rows.entities(ids=[subject.key])), None)


def embed_profiles(
    components: ReflectComponents, bank: str, planned: Sequence[PlannedProfile], now: datetime
) -> dict[Subject, NewFact]:
    """Return the facts of the profiles that differ from what is stored, embedded in one call."""
    with components.store.reading(bank) as reading:
        changed = [
            plan for plan in planned if plan.profile is not None and not _is_stored(reading, bank, plan)
        ]
    facts = [_fact(bank, plan, position, now) for position, plan in enumerate(changed)]
    retain = components.retain
    features = features_of_synthesised(facts, retain.embedder)
    return {
        plan.subject: NewFact(fact, own) for plan, fact, own in zip(changed, facts, features, strict=True)
    }


def write_profile(
    tx: Transaction,
    components: ReflectComponents,
    bank: str,
    plan: PlannedProfile,
    new: NewFact | None,
    now: datetime,
    written: Written,
) -> bool:
    """Store the profile of a subject. Return False if a source changed since it was read.

    Of several open versions (an older one opens again when its successor was erased) the newest stays.
    """
    here = Filter().at(now)
    for source in tx.facts(list(plan.sources)):
        if fingerprint(source) != fingerprint(plan.sources[source.id]) or not is_current(source, here):
            return False
    versions = _versions(tx, bank, plan.subject)
    stored = tx.facts(versions)
    if len(tx.facts(list(plan.sources))) < len(plan.sources):
        return False
    open_ones = [fact for fact in stored if fact.is_open]
    same = open_ones[-1] if plan.profile is not None and _is_stored(tx, bank, plan) else None
    if same is None and plan.profile is not None and new is None:
        return False
    successor = same.id if same is not None else None if new is None else new.fact.id
    closures = [
        _closure(tx, fact, successor, now) for fact in open_ones if same is None or fact.id != same.id
    ]
    facts = [new] if new is not None and same is None else []
    if same is not None and plan.prose is not None:
        records = tx.records(OBSERVATION_RECORD, [same.id])
        tx.put_records([replace(record, body={**record.body, "prose": plan.prose}) for record in records])
    if not facts and not closures:
        return True
    embedder = components.retain.embedder
    apply_changes(
        tx,
        FactChanges(
            bank=bank,
            now=now,
            model=embedder.model if embedder is not None else None,
            facts=facts,
            closures=closures,
            records=[
                observation_record(
                    one.fact, plan.subject, plan.name, plan.profile.clauses, plan.sources.values(), plan.prose
                )
                for one in facts
                if plan.profile is not None
            ],
        ),
    )
    kept = [fact.id for fact in stored] + [one.fact.id for one in facts]
    _list_versions(tx, bank, plan.subject, kept)
    if facts:
        written.updated += bool(open_ones)
        written.created += not open_ones
    else:
        written.closed += bool(plan.profile is None and open_ones)
    return True


def _closure(tx: Transaction, fact: Fact, successor: str | None, now: datetime) -> Closure:
    """Return the end of a profile: when its first source ended if all are still believed, else it is retired from now on."""
    sources = tx.facts(fact.source_fact_ids)
    believed = len(sources) == len(fact.source_fact_ids) and all(one.retired_at is None for one in sources)
    ends = [one.valid_to for one in sources if one.is_ended and one.valid_to is not None]
    if believed and ends and min(ends) <= now:
        return Closure(fact_id=fact.id, valid_to=min(ends), superseded_by=successor)
    return Closure(fact_id=fact.id, retired_at=now, superseded_by=successor)


def _versions(rows: Rows, bank: str, subject: Subject) -> list[str]:
    for record in rows.records(SUBJECT_RECORD, [subject_id(bank, subject)]):
        return read_versions(record)
    return []


def read_versions(record: Record) -> list[str]:
    """Return the ids of the versions that a record of a subject lists, oldest first."""
    versions = record.body["versions"]
    assert isinstance(versions, list)
    return versions


def _list_versions(tx: Transaction, bank: str, subject: Subject, versions: Sequence[str]) -> None:
    """Record the newest versions and delete the others. The oldest closed nothing, so that nothing opens again."""
    dropped, kept = versions[:-MOST_VERSIONS], list(versions[-MOST_VERSIONS:])
    delete_versions(tx, dropped)
    if kept:
        tx.put_records([subject_record(SUBJECT_RECORD, bank, subject, versions=kept)])
    else:
        tx.delete_records(SUBJECT_RECORD, [subject_id(bank, subject)])


def delete_versions(tx: Transaction, fact_ids: Iterable[str]) -> None:
    """Delete observations with their records."""
    ids = list(fact_ids)
    if ids:
        tx.delete_facts(ids)
        tx.delete_records(OBSERVATION_RECORD, ids)
        tx.delete_records(CLOSINGS, ids)


def _is_stored(rows: Rows, bank: str, plan: PlannedProfile) -> bool:
    """Return whether the newest open version states this profile, of unchanged sources."""
    open_ones = [fact for fact in rows.facts(_versions(rows, bank, plan.subject)) if fact.is_open]
    if plan.profile is None or not open_ones or open_ones[-1].text != plan.profile.text:
        return False
    for record in rows.records(OBSERVATION_RECORD, [open_ones[-1].id]):
        prints = {fact_id: fingerprint(fact) for fact_id, fact in plan.sources.items()}
        clauses = [(clause.text, clause.fact_ids) for clause in plan.profile.clauses]
        stored = [(clause.text, clause.fact_ids) for clause in read_clauses(record)]
        return read_fingerprints(record) == prints and stored == clauses
    return False


def _fact(bank: str, plan: PlannedProfile, position: int, now: datetime) -> Fact:
    """Return the profile as a fact; its times and bounds are those of its sources."""
    profile, sources = plan.profile, list(plan.sources.values())
    assert profile is not None
    sure = [fact for fact in sources if not fact.has_unsure_date]
    starts = [fact.occurred_start for fact in sure if fact.occurred_start is not None]
    ends = [fact.occurred_end for fact in sure if fact.occurred_end is not None]
    start, end = min(starts, default=None), max(ends, default=None)
    if start is not None and end is not None and end < start:
        end = start
    is_entity = plan.subject.kind == ENTITY
    return Fact(
        id=new_fact_id(now, position, bank, "observation", plan.subject.key, profile.text),
        bank=bank,
        text=profile.text,
        type=FactType.OBSERVATION,
        occurred_start=start,
        occurred_end=end,
        mentioned_at=max((fact.mentioned_at for fact in sources if fact.mentioned_at), default=None),
        recorded_at=now,
        entities=(plan.name,) if is_entity else (),
        entity_ids=(plan.subject.key,) if is_entity else (),
        topic=None if is_entity else plan.subject.key,
        tags=frozenset(plan.subject.scope),
        classification=max(fact.classification for fact in sources),
        trust=min(fact.trust for fact in sources),
        expires_at=min((fact.expires_at for fact in sources if fact.expires_at), default=None),
        proof_count=sum(fact.proof_count for fact in sources),
        source_fact_ids=profile.source_ids,
    )
