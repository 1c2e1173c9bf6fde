"""Subjects: the profiles that a fact belongs to, and the facts that a profile is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from perdure.domain.bank import Bank
from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter, TagLeaf, TagsMatch
from perdure.domain.item import AGENT_ROLES
from perdure.domain.observation import (
    FAILED_RECORD,
    OBSERVATION_RECORD,
    SCOPES_RECORD,
    ScopeRule,
    Subject,
    read_scope_rule,
    read_subject,
    scopes_of,
)
from perdure.domain.plain import readable
from perdure.domain.record import Record
from perdure.ports.store import FactsWhere, Reading, Rows, Selection
from perdure.reflect.observations.compose import is_source
from perdure.retain.identity import digest

ENTITY, TOPIC = "entity", "topic"
WINDOW = 120
"""The newest facts of a subject, from which a profile is made, so that its cost does not grow with the bank."""
MIN_FACTS, MAX_TOKENS = 3, 160
_SOURCES = frozenset(FactType) - {FactType.OBSERVATION}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationOptions:
    """The settings of a bank for its observations."""

    enabled: bool = True
    min_facts: int = MIN_FACTS
    max_tokens: int = MAX_TOKENS
    rule: ScopeRule = "combined"


def read_options(bank: Bank | None) -> ObservationOptions:
    """Return the options of a bank; a setting that cannot be read counts as not set."""
    settings: Mapping[str, object] = bank.settings if bank is not None else {}
    rule = settings.get("default_observation_scopes")
    return ObservationOptions(
        enabled=settings.get("enable_observations") is not False,
        min_facts=_number(settings.get("observation_min_facts"), MIN_FACTS),
        max_tokens=_number(settings.get("observation_max_tokens"), MAX_TOKENS),
        rule="combined" if rule is None else read_scope_rule(rule, "default_observation_scopes"),
    )


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


@dataclass(frozen=True, slots=True)
class ScopeRules:
    """The scopes of the facts of documents."""

    default: ScopeRule = "combined"
    of_document: Mapping[str, ScopeRule] = field(default_factory=dict)

    def scopes(self, fact: Fact) -> tuple[tuple[str, ...], ...]:
        """Return the scopes of a fact."""
        return scopes_of(fact.tags, self.of_document.get(fact.document_id or "", self.default))

    @property
    def are_exact(self) -> bool:
        """Return whether every fact belongs to the scope of all its tags, and to no other."""
        return self.default == "combined" and not self.of_document


def read_rules(rows: Rows, options: ObservationOptions) -> ScopeRules:
    """Return the bank's rules; few documents have one of their own."""
    own = dict(
        readable(
            rows.records(SCOPES_RECORD), lambda record: (record.id, read_scope_rule(record.body["scopes"]))
        )
    )
    return ScopeRules(options.rule, own)


def subject_id(bank: str, subject: Subject) -> str:
    """Return the id of the records of a subject."""
    return digest(bank, "observation", subject.kind, subject.key, *subject.scope)


def subject_record(kind: str, bank: str, subject: Subject, **body: object) -> Record:
    """Return a record that names a subject."""
    named = {"kind": subject.kind, "key": subject.key, "scope": list(subject.scope)}
    return Record(kind=kind, id=subject_id(bank, subject), bank=bank, body={"subject": named, **body})


def subjects_of(facts: Iterable[Fact], rules: ScopeRules) -> set[Subject]:
    """Return the subjects to whose profiles these facts may belong."""
    subjects = set()
    for fact in facts:
        if not is_source(fact):
            continue
        for scope in rules.scopes(fact):
            subjects |= {Subject(kind=ENTITY, key=key, scope=scope) for key in fact.entity_ids}
            if fact.topic:
                subjects.add(Subject(kind=TOPIC, key=fact.topic, scope=scope))
    return subjects


def touched_subjects(rows: Rows, facts: Sequence[Fact], rules: ScopeRules) -> set[Subject]:
    """Return the subjects whose profiles may change with these facts: theirs, those of what they closed, those that rest on them."""
    ids = [fact.id for fact in facts]
    closed = rows.find_facts(FactsWhere(superseded_by=ids)) if ids else []
    subjects = subjects_of((*facts, *closed), rules)
    resting = (
        rows.find_facts(FactsWhere(source_fact_ids=[*ids, *(fact.id for fact in closed)])) if ids else []
    )
    open_ones = [fact.id for fact in resting if fact.type is FactType.OBSERVATION and fact.is_open]
    records = rows.records(OBSERVATION_RECORD, open_ones) if open_ones else []
    return subjects.union(readable(records, read_subject))


def facts_of(reading: Reading, subject: Subject, rules: ScopeRules, now: datetime) -> list[Fact]:
    """Return the newest current facts of the subject, without those that were set aside; of a topic, what people say of it."""
    scope = frozenset(subject.scope)
    exact = TagLeaf(scope, TagsMatch.EXACT)
    if rules.are_exact:
        leaves: tuple[tuple[TagLeaf, ...], ...] = ((exact,),)
    else:
        leaves = ((exact,), (TagLeaf(scope, TagsMatch.ALL_STRICT),) if scope else ())
    facts: dict[str, Fact] = {}
    for tags in leaves:
        where = Filter(types=_SOURCES, tags=tags, topic=subject.key if subject.kind == TOPIC else None).at(
            now
        )
        entity_id = subject.key if subject.kind == ENTITY else None
        page = reading.browse(Selection(where=where, entity_id=entity_id, limit=WINDOW))
        facts |= {fact.id: fact for fact in page.facts}
    members = [
        fact
        for fact in facts.values()
        if is_source(fact)
        and subject.scope in rules.scopes(fact)
        and not (subject.kind == TOPIC and fact.speaker.lower() in AGENT_ROLES)
    ]
    aside = {record.id for record in reading.records(FAILED_RECORD, [fact.id for fact in members])}
    return [fact for fact in members if fact.id not in aside]
