"""Beliefs: opinions as they stand at a moment, read from their records and from the facts that are their evidence.

kind              id           body
opinion           <opinion>    subject, statement, polarity, tags, rivals
opinion_evidence  <opinion>    rows: fact, label, strength, at; in the order in which they were added

No confidence is stored: a row counts while its fact is believed and holds, so a fact that is superseded, corrected, declared
wrong or restored changes the confidence without any write. Of opposite beliefs only the surest is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import Entity, Fact
from perdure.domain.filter import Filter, is_current
from perdure.domain.opinion import (
    ConfidenceRates,
    EvidenceLabel,
    Opinion,
    OpinionEvidence,
    Polarity,
    beginning,
    fold,
    read_rates,
)
from perdure.domain.plain import from_record, readable, to_record
from perdure.domain.record import Record
from perdure.ports.store import Rows
from perdure.text.names import normal_name

OPINION = "opinion"
EVIDENCE = "opinion_evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOpinion:
    """An opinion as its record keeps it."""

    id: str
    bank: str
    subject: str
    statement: str
    polarity: Polarity = Polarity.POSITIVE
    rivals: tuple[str, ...] = ()
    """Opinions that contradict this one."""
    tags: frozenset[str] = frozenset()
    """Those of its evidence: facts of other tags neither form it nor move it."""
    created_at: datetime | None = None


def opinion_record(stored: StoredOpinion) -> Record:
    return to_record(OPINION, stored)


def read_opinion(record: Record) -> StoredOpinion:
    return from_record(StoredOpinion, record)


def evidence_record(bank: str, opinion_id: str, rows: Iterable[OpinionEvidence]) -> Record:
    """The record of an opinion's log."""
    plain = [
        {"fact": row.fact_id, "label": row.label.value, "strength": row.strength, "at": row.at.isoformat()}
        | ({"by": row.labelled_by} if row.labelled_by else {})
        for row in rows
    ]
    return Record(kind=EVIDENCE, id=opinion_id, bank=bank, body={"rows": plain})


def read_evidence(record: Record) -> list[OpinionEvidence]:
    """The log from its record; raises what says that it is none."""
    rows = record.body["rows"]
    if not isinstance(rows, list):
        raise TypeError("rows")
    return [
        OpinionEvidence(
            opinion_id=record.id,
            fact_id=str(row["fact"]),
            label=EvidenceLabel(row["label"]),
            strength=float(row["strength"]),
            at=datetime.fromisoformat(row["at"]),
            labelled_by=str(row.get("by", "")),
        )
        for row in rows
    ]


def logs_of(rows: Rows, ids: Sequence[str] | None = None) -> dict[str, list[OpinionEvidence]]:
    """Opinion id -> its log."""
    return dict(readable(rows.records(EVIDENCE, ids), lambda record: (record.id, read_evidence(record))))


def stored_opinions(rows: Rows, ids: Sequence[str] | None = None) -> dict[str, StoredOpinion]:
    """Opinion id -> the opinion as stored: all, or those of `ids`."""
    return {opinion.id: opinion for opinion in readable(rows.records(OPINION, ids), read_opinion)}


def held_opinions(rows: Rows, where: Filter, ids: Sequence[str] | None = None) -> list[Opinion]:
    """The opinions (all, or those of `ids`) that are held at the filter's `as_of`, surest first."""
    stored = stored_opinions(rows, ids)
    if not stored:
        return []
    if ids is not None:
        rivals = {rival for one in stored.values() for rival in one.rivals} - stored.keys()
        stored |= stored_opinions(rows, sorted(rivals)) if rivals else {}
    folded = _Folded(rows, where, stored)
    asked = stored if ids is None else [one for one in ids if one in stored]
    opinions = [folded.opinion(stored[one]) for one in asked if folded.is_held(stored[one])]
    return sorted(opinions, key=lambda opinion: (-opinion.confidence, opinion.id))


def counts(fact: Fact, said_at: datetime, where: Filter) -> bool:
    """Whether a fact is evidence at the filter's `as_of`: said by then, believed and holding."""
    valid_at = where.as_of.valid
    return (
        (valid_at is None or said_at <= valid_at)
        and is_current(fact, where.changed(include_ended=False))
        and (fact.expires_at is None or fact.expires_at > where.judged_at)
    )


def as_recalled(rows: Rows, where: Filter, facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Facts that are opinions, worded and with the confidence of that moment; those that are not held then are left out.

    A fact of that type without a record is what somebody said, and stays as it is.
    """
    own = stored_opinions(rows, list(facts))
    opinions_by_id = {opinion.id: opinion for opinion in held_opinions(rows, where, list(own))} if own else {}
    recalled = {fact_id: fact for fact_id, fact in facts.items() if fact_id not in own}
    for fact_id, opinion in opinions_by_id.items():
        recalled[fact_id] = replace(facts[fact_id], text=opinion.text, confidence=opinion.confidence)
    return recalled


class _Folded:
    """The logs of opinions, folded at a moment."""

    def __init__(self, rows: Rows, where: Filter, stored: Mapping[str, StoredOpinion]) -> None:
        self._where = where
        self._stored = stored
        bank = rows.bank()
        self._rates = read_rates(bank.settings) if bank is not None else ConfidenceRates()
        logs = logs_of(rows, list(stored))
        fact_ids = {row.fact_id for log in logs.values() for row in log}
        facts = {fact.id: fact for fact in rows.facts([*fact_ids, *stored])}
        self._counting: dict[str, list[OpinionEvidence]] = {}
        self._left_out: dict[str, list[OpinionEvidence]] = {}
        self._confidence: dict[str, float | None] = {}
        for opinion_id in stored:
            log = in_time_order(logs.get(opinion_id, ()), facts)
            counting = [
                row for row in log if row.fact_id in facts and counts(facts[row.fact_id], row.at, where)
            ]
            self._counting[opinion_id] = counting
            self._left_out[opinion_id] = [row for row in log if row not in counting]
            is_wrong = opinion_id not in facts or _is_retired(facts[opinion_id], where)
            self._confidence[opinion_id] = None if is_wrong else fold(counting, self._rates)
        self._entities = subject_entities(rows, {one.subject for one in stored.values()})

    def is_held(self, stored: StoredOpinion) -> bool:
        """Whether it is a belief, and no rival is surer (of equally sure ones the older is held)."""
        own = self._standing(stored)
        return own is not None and all(
            other is None or other < own for other in map(self._standing_of, stored.rivals)
        )

    def _standing_of(self, opinion_id: str) -> tuple[float, float, str] | None:
        return self._standing(self._stored[opinion_id]) if opinion_id in self._stored else None

    def _standing(self, stored: StoredOpinion) -> tuple[float, float, str] | None:
        c = self._confidence[stored.id]
        if c is None:
            return None
        first = self._counting[stored.id][0].at
        return round(c, 9), -first.timestamp(), stored.id

    def opinion(self, stored: StoredOpinion) -> Opinion:
        counting = self._counting[stored.id]
        first, confidence = beginning(counting), self._confidence[stored.id]
        entity = self._entities.get(normal_name(stored.subject))
        if first is None or confidence is None:
            raise ValueError(f"opinion {stored.id} is not held")
        return Opinion(
            id=stored.id,
            bank=stored.bank,
            statement=stored.statement,
            subject=stored.subject,
            entity_id=entity.id if entity is not None else None,
            polarity=stored.polarity,
            c0=first.strength,
            confidence=confidence,
            evidence=tuple(counting),
            left_out=tuple(self._left_out[stored.id]),
            as_of=self._where.as_of,
            rates=self._rates,
        )


def in_time_order(log: Iterable[OpinionEvidence], facts: Mapping[str, Fact]) -> list[OpinionEvidence]:
    """The rows by when they were said; of one moment by when they were recorded, then by their place in the text."""

    def moment(row: OpinionEvidence) -> tuple[datetime, datetime, int, str]:
        fact = facts.get(row.fact_id)
        recorded = fact.recorded_at if fact is not None else None
        return row.at, recorded or row.at, fact.ordinal if fact is not None else 0, row.fact_id

    return sorted(log, key=moment)


def _is_retired(fact: Fact, where: Filter) -> bool:
    known_at = where.as_of.known
    return fact.retired_at is not None and (known_at is None or fact.retired_at <= known_at)


def subject_entities(rows: Rows, names: Iterable[str]) -> dict[str, Entity]:
    """Normal name -> the entity of exactly that name or alias, the most mentioned one."""
    keys = sorted({normal_name(name) for name in names} - {""})
    entities: dict[str, Entity] = {}
    for keyed in rows.entities(keys=keys) if keys else ():
        for name in (keyed.entity.name, *keyed.entity.aliases):
            entities.setdefault(normal_name(name), keyed.entity)
    return entities
