"""An observation: a profile of one entity or topic, composed of clauses that cite their facts.

It is stored as a fact of type `observation` and a record of the same id with its clauses. It holds while all
of its sources are unchanged: every reader asks `is_fresh`, so that a change takes effect at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import combinations
from typing import Any

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter, is_current
from perdure.domain.record import Record
from perdure.errors import InvalidInput

OBSERVATION_RECORD = "observation"
"""Kind of the records with the clauses of observations; the id is the fact's."""
SCOPES_RECORD = "observation_scopes"
"""Kind of the records with the scope rule of a document's facts; the id is the document's."""
CONSOLIDATION_RECORD = "consolidation"
"""Kind and id of the record with the progress of consolidation; a bank without it was never consolidated."""
PENDING_RECORD = "consolidation_pending"
"""Kind of the records that name facts to consolidate again; the id is the fact's."""
FAILED_RECORD = "consolidation_failed"
"""Kind of the records that name facts which consolidation set aside."""
SCOPE_RULES = ("combined", "per_tag", "all_combinations", "shared")
MOST_COMBINED_TAGS = 6
"""`all_combinations` uses only this many tags, the first by name: combinations double with each tag."""

Scope = tuple[str, ...]
"""The tags that an observation carries, sorted; empty for the untagged scope."""
ScopeRule = str | tuple[Scope, ...]
"""How a fact's tags become scopes: a name of SCOPE_RULES, or the scopes themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One statement of an observation and the facts that it rests on."""

    text: str
    fact_ids: tuple[str, ...]
    proofs: int
    """Number of times that its facts were stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a profile: an entity by id or a topic by name, within one scope."""

    kind: str
    """entity or topic"""
    key: str
    scope: Scope = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A version of a profile."""

    id: str
    bank: str
    text: str
    subject: Subject
    name: str
    """Name of the entity or topic."""
    clauses: tuple[Clause, ...]
    source_fact_ids: tuple[str, ...]
    proof_count: int
    tags: frozenset[str] = frozenset()
    recorded_at: datetime | None = None
    closed_at: datetime | None = None
    """When a newer version replaced it; None for the current one."""
    superseded_by: str | None = None
    stale: bool = False
    """Whether a source has changed since: recall does not return it."""


def is_synthesised(fact: Fact) -> bool:
    """Return whether reflection made it from other facts, so that it is no source of observations itself."""
    return fact.type is FactType.OBSERVATION or (fact.type is FactType.OPINION and bool(fact.source_fact_ids))


def read_scope_rule(value: object, name: str = "observation_scopes") -> ScopeRule:
    """Return a scope rule given by name or as lists of tags."""
    if isinstance(value, str) and value in SCOPE_RULES:
        return value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and value:
        scopes = []
        for scope in value:
            if isinstance(scope, str) or not isinstance(scope, Sequence | frozenset | set):
                break
            if not all(isinstance(tag, str) and tag.strip() for tag in scope):
                break
            scopes.append(tuple(sorted(set(scope))))
        else:
            return tuple(dict.fromkeys(scopes))
    raise InvalidInput(name, "one of " + ", ".join(SCOPE_RULES) + ", or lists of tags", value)


def scopes_of(tags: Iterable[str], rule: ScopeRule = "combined") -> tuple[Scope, ...]:
    """Return the scopes of a fact with these tags."""
    own = tuple(sorted(set(tags)))
    if not isinstance(rule, str):
        return rule
    if rule == "shared" or not own:
        return ((),)
    if rule == "per_tag":
        return tuple((tag,) for tag in own)
    if rule == "all_combinations":
        few = own[:MOST_COMBINED_TAGS]
        return tuple(chosen for size in range(1, len(few) + 1) for chosen in combinations(few, size))
    return (own,)


_PRINTED = (
    "text", "type", "subject", "relation", "object", "entity_ids", "topic", "classification", "trust", "tier", "flags",
    "occurred_start", "occurred_end", "valid_from", "expires_at",
)  # fmt: skip


def fingerprint(fact: Fact) -> str:
    """Return a digest of what an observation may depend on in a fact, except its ends."""
    values = [str(getattr(fact, name)) for name in _PRINTED] + sorted(fact.tags)
    return blake2b("\x1f".join(values).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def is_fresh(
    observation: Fact, prints: Mapping[str, str] | None, sources: Mapping[str, Fact], where: Filter
) -> bool:
    """Return whether every source is stored, holds at the filter's time, and is unchanged.

    `prints` are the fingerprints taken when the observation was written; None if there is no record of them.
    """
    if not observation.source_fact_ids:
        return True
    at_the_time = where.changed(include_ended=False, include_closed=False)
    for source_id in observation.source_fact_ids:
        source = sources.get(source_id)
        if source is None or not is_current(source, at_the_time):
            return False
        if source.expires_at is not None and source.expires_at <= where.judged_at:
            return False
        if prints is None and not observation.tags <= source.tags:
            return False
        if prints is not None and prints.get(source_id) != fingerprint(source):
            return False
    return True


def observation_record(
    fact: Fact,
    subject: Subject,
    name: str,
    clauses: Sequence[Clause],
    sources: Iterable[Fact],
    prose: Mapping[str, object] | None = None,
) -> Record:
    """Return the record stored with an observation's fact; `prose` says how a language model wrote it."""
    return Record(
        kind=OBSERVATION_RECORD,
        id=fact.id,
        bank=fact.bank,
        body={
            "subject": {"kind": subject.kind, "key": subject.key, "scope": list(subject.scope)},
            "name": name,
            "clauses": [
                {"text": clause.text, "fact_ids": list(clause.fact_ids), "proofs": clause.proofs}
                for clause in clauses
            ],
            "fingerprints": {source.id: fingerprint(source) for source in sources},
            **({} if prose is None else {"prose": prose}),
        },
    )


def read_fingerprints(record: Record | None) -> Mapping[str, str] | None:
    prints = record.body.get("fingerprints") if record is not None else None
    return prints if isinstance(prints, dict) else None


def read_subject(record: Record) -> Subject:
    body: Any = record.body["subject"]
    return Subject(kind=str(body["kind"]), key=str(body["key"]), scope=tuple(body["scope"]))


def read_clauses(record: Record) -> tuple[Clause, ...]:
    body: Any = record.body["clauses"]
    return tuple(
        Clause(text=str(one["text"]), fact_ids=tuple(one["fact_ids"]), proofs=int(one["proofs"]))
        for one in body
    )


def read_observation(fact: Fact, record: Record, *, stale: bool) -> Observation:
    """Return the observation that a fact and its record store."""
    return Observation(
        id=fact.id,
        bank=fact.bank,
        text=fact.text,
        subject=read_subject(record),
        name=str(record.body["name"]),
        clauses=read_clauses(record),
        source_fact_ids=fact.source_fact_ids,
        proof_count=fact.proof_count,
        tags=fact.tags,
        recorded_at=fact.recorded_at,
        closed_at=fact.retired_at or fact.end_recorded_at,
        superseded_by=fact.superseded_by,
        stale=stale,
    )
