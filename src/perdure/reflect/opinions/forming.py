"""Forming: facts become opinions and evidence for those there are.

Every fact is compared with the beliefs on its subject, whatever their order: which rows a log has does not depend on which
fact came first. A liking that was stated once, or with a hedge, is kept without a fact of its own until another one makes a
belief of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from perdure.domain.fact import Entity, Fact, FactType
from perdure.domain.opinion import EvidenceLabel, OpinionEvidence
from perdure.ports.store import FactsWhere, Features, KeyedEntity, NewFact, Transaction
from perdure.recall.beliefs import (
    EVIDENCE,
    OPINION,
    BeliefKind,
    StoredOpinion,
    evidence_record,
    logs_of,
    opinion_record,
    stored_opinions,
    subject_entities,
)
from perdure.reflect.components import ReflectComponents
from perdure.reflect.opinions.assess import (
    Position,
    are_rivals,
    claimed_label,
    is_same,
    label_of,
    mentions,
    position_of,
)
from perdure.reflect.opinions.attitudes import BELIEVED, LIKED, Attitude, attitudes_of
from perdure.reflect.opinions.rows import is_stronger, opinion_fact, opinion_features, said_at, worded_by
from perdure.retain.commit import FactChanges, apply_changes
from perdure.retain.identity import new_fact_id
from perdure.text.names import normal_name

if TYPE_CHECKING:
    from perdure.reflect.opinions.labelling import GivenLabels

MAX_ASSESSED = 20
"""Opinions on a subject that a fact is assessed against, the newest first."""
MAX_LOOKED_THROUGH = 500
"""Earlier facts on a subject that are compared with a new belief of the agent, the newest ones."""
FACTS_AT_ONCE = 64
"""Facts per transaction, so that other writers get their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionReport:
    """What facts did to the opinions of a bank."""

    assessed: int = 0
    """Facts that were looked at."""
    formed: tuple[str, ...] = ()
    """Opinions that are new."""
    changed: tuple[str, ...] = ()
    """Opinions that were there and have new evidence."""

    def __add__(self, other: OpinionReport) -> OpinionReport:
        formed = (*self.formed, *other.formed)
        changed = dict.fromkeys((*self.changed, *other.changed))
        return OpinionReport(
            assessed=self.assessed + other.assessed,
            formed=formed,
            changed=tuple(one for one in changed if one not in formed),
        )


def assess_facts(
    components: ReflectComponents, bank: str, facts: Sequence[Fact], now: datetime
) -> OpinionReport:
    """Form opinions from facts and add the facts to the logs of those there are; a fact counts once, however often it comes."""
    report = OpinionReport()
    for start in range(0, len(facts), FACTS_AT_ONCE):
        batch = facts[start : start + FACTS_AT_ONCE]
        labels = _labels(components, bank, batch)
        with components.store.transaction(bank) as tx:
            report += _Forming(components, tx, bank, now, labels).assess(batch)
    return report


def _labels(components: ReflectComponents, bank: str, facts: Sequence[Fact]) -> GivenLabels | None:
    """What a language model says of the facts, where one is set for it."""
    if components.llm is None:
        return None
    from perdure.domain.llm_call import LlmOperation
    from perdure.reflect.opinions.labelling import label_pairs

    return (
        label_pairs(components, components.llm, bank, facts)
        if components.llm.serves(LlmOperation.CONSOLIDATE)
        else None
    )


@dataclass(slots=True)
class _Belief:
    """An opinion that is being worked on."""

    stored: StoredOpinion
    log: list[OpinionEvidence]
    is_new: bool = False
    is_changed: bool = False

    @property
    def position(self) -> Position:
        return position_of(self.stored)

    @property
    def fact_ids(self) -> set[str]:
        return {row.fact_id for row in self.log}


class _Forming:
    """The opinions of a bank within a transaction."""

    def __init__(
        self,
        components: ReflectComponents,
        tx: Transaction,
        bank: str,
        now: datetime,
        labels: GivenLabels | None = None,
    ) -> None:
        self._components, self._labels = components, labels
        self._tx, self._bank, self._now = tx, bank, now
        logs = logs_of(tx)
        self._beliefs = {one.id: _Belief(one, logs.get(one.id, [])) for one in stored_opinions(tx).values()}
        self._joined: list[str] = []
        """Opinions that others took in."""
        self._entities: dict[str, Entity | None] = {}

    def assess(self, facts: Sequence[Fact]) -> OpinionReport:
        # The caller's facts may be older than the transaction; those that went meanwhile are left out.
        current = [fact for fact in self._tx.facts([fact.id for fact in facts]) if self._is_evidence(fact)]
        for fact in current:
            self._assess(fact)
        touched = [belief for belief in self._beliefs.values() if belief.is_new or belief.is_changed]
        self._write(touched)
        return OpinionReport(
            assessed=len(current),
            formed=tuple(belief.stored.id for belief in touched if belief.is_new),
            changed=tuple(belief.stored.id for belief in touched if not belief.is_new),
        )

    def _is_evidence(self, fact: Fact) -> bool:
        """No opinion rests on an opinion or an observation."""
        return fact.type is not FactType.OBSERVATION and fact.id not in self._beliefs

    def _assess(self, fact: Fact) -> None:
        attitudes = attitudes_of(fact)
        for attitude in attitudes:
            same = self._same(attitude, fact)
            if not same:
                self._form(attitude, fact)
            for other in same[1:]:
                self._join(same[0], other)
        for belief in self._on_subjects_of(fact, attitudes):
            self._add(belief, fact, attitudes)

    def _same(self, attitude: Attitude, fact: Fact) -> list[_Belief]:
        position = position_of(attitude)
        about = self._about(attitude.subject, fact.tags)
        return [belief for belief in about if is_same(position, belief.position)]

    def _join(self, belief: _Belief, other: _Belief) -> None:
        """Make two opinions one, whose subjects turned out to be the same."""
        earlier_ids = belief.fact_ids
        belief.log += [
            replace(row, opinion_id=belief.stored.id) for row in other.log if row.fact_id not in earlier_ids
        ]
        belief.is_changed = True
        del self._beliefs[other.stored.id]
        self._joined.append(other.stored.id)
        for rival in (belief, *self._beliefs.values()):
            rivals = [belief.stored.id if one == other.stored.id else one for one in rival.stored.rivals]
            if rival is belief:
                rivals += other.stored.rivals
            left = tuple(one for one in dict.fromkeys(rivals) if one != rival.stored.id)
            if left != rival.stored.rivals:
                rival.stored = replace(rival.stored, rivals=left)
                rival.is_changed = True

    def _form(self, attitude: Attitude, fact: Fact) -> None:
        """A new opinion, with what is known already of the same matter as its evidence."""
        position = len(self._beliefs)
        opinion_id = new_fact_id(self._now, position, self._bank, "opinion", fact.id, str(position))
        related = self._about(attitude.subject, fact.tags)
        stored = worded_by(
            attitude,
            StoredOpinion(
                id=opinion_id,
                bank=self._bank,
                subject=attitude.subject,
                statement=attitude.statement,
                polarity=attitude.polarity,
                kind=attitude.kind,
                topic=attitude.topic,
                tags=fact.tags,
                created_at=self._now,
            ),
        )
        belief = _Belief(stored, [], is_new=True)
        self._beliefs[opinion_id] = belief
        for other in related:
            if are_rivals(position_of(stored), other.position):
                belief.stored = replace(belief.stored, rivals=(*belief.stored.rivals, other.stored.id))
                other.stored = replace(other.stored, rivals=(*other.stored.rivals, opinion_id))
                other.is_changed = True
        for related_belief in self._known_of(belief, related):
            self._add(belief, related_belief, attitudes_of(related_belief))

    def _known_of(self, belief: _Belief, related: Sequence[_Belief]) -> list[Fact]:
        """Earlier facts that may say something of a new belief: the evidence of beliefs on the same subject.

        Whatever states a liking is in the log of that liking. What was claimed of a subject before the agent had a belief on
        it is in none: the newest facts that mention the subject are looked through.
        """
        earlier = {row.fact_id for other in related for row in other.log}
        facts = self._tx.facts(sorted(earlier))
        entity = self._entity(belief.stored.subject)
        if belief.stored.kind is not BeliefKind.BELIEF or entity is None:
            return facts
        mentioning = [
            fact
            for fact in self._tx.find_facts(FactsWhere(entity_ids=[entity.id]))
            if fact.tags == belief.stored.tags and fact.id not in earlier and self._is_evidence(fact)
        ]
        return [*facts, *mentioning[-MAX_LOOKED_THROUGH:]]

    def _add(self, belief: _Belief, fact: Fact, attitudes: Sequence[Attitude]) -> None:
        """Log what the fact says of the belief; the wording follows the strongest statement of it."""
        if fact.id in belief.fact_ids:
            return
        read = self._read(belief, fact, attitudes)
        if read is None:
            return
        label, strength, attitude = read
        belief.log.append(
            OpinionEvidence(
                opinion_id=belief.stored.id,
                fact_id=fact.id,
                label=label,
                strength=strength,
                at=said_at(fact, self._now),
                labelled_by=self._labels.prompt if self._is_labelled(belief, fact) and self._labels else "",
            )
        )
        belief.is_changed = True
        if attitude is not None and not attitude.hedged and is_stronger(attitude, belief.stored):
            belief.stored = worded_by(attitude, belief.stored)

    def _read(
        self, belief: _Belief, fact: Fact, attitudes: Sequence[Attitude]
    ) -> tuple[EvidenceLabel, float, Attitude | None] | None:
        """(label, strength, the attitude that states the same) of a fact for a belief.

        A label that a language model gave goes before what the words read as. Where both agree the strength is that of the words, else that
        of what is said once, so that it makes no belief alone.
        """
        read = self._read_words(belief, fact, attitudes)
        if self._labels is None or not self._is_labelled(belief, fact):
            return read
        label = self._labels.by_pair[belief.stored.id, fact.id]
        if label is None or (read is not None and read[0] is label):
            return None if label is None else read
        return label, LIKED, None

    def _read_words(
        self, belief: _Belief, fact: Fact, attitudes: Sequence[Attitude]
    ) -> tuple[EvidenceLabel, float, Attitude | None] | None:
        """The same by the words alone; of several sentences the last counts."""
        position, subject = belief.position, belief.stored.subject
        own = [attitude for attitude in attitudes if self._key(attitude.subject) == self._key(subject)]
        for attitude in reversed(own):
            stated = position_of(attitude)
            label = label_of(stated, position)
            if label is not None:
                return label, attitude.strength, attitude if is_same(stated, position) else None
        label = claimed_label(fact, belief.stored)
        return (label, BELIEVED, None) if label is not None else None

    def _is_labelled(self, belief: _Belief, fact: Fact) -> bool:
        return self._labels is not None and (belief.stored.id, fact.id) in self._labels.by_pair

    def _on_subjects_of(self, fact: Fact, attitudes: Sequence[Attitude]) -> Iterator[_Belief]:
        """The beliefs on what a fact speaks of, the newest ones."""
        keys = {self._key(attitude.subject) for attitude in attitudes}
        keys |= {self._key(name) for name in fact.entities} | set(fact.entity_ids)
        about = [
            belief
            for belief in self._beliefs.values()
            if belief.stored.tags == fact.tags
            and (
                self._key(belief.stored.subject) in keys
                or (belief.stored.kind is BeliefKind.BELIEF and mentions(fact.text, belief.stored.subject))
            )
        ]
        newest = sorted(about, key=lambda belief: (belief.stored.created_at or self._now, belief.stored.id))
        yield from newest[-MAX_ASSESSED:]

    def _about(self, subject: str, tags: frozenset[str]) -> list[_Belief]:
        return [
            belief
            for belief in self._beliefs.values()
            if belief.stored.tags == tags and self._key(subject) == self._key(belief.stored.subject)
        ]

    def _key(self, name: str) -> str:
        """What tells a subject from others: the entity that bears the name, or the name itself."""
        entity = self._entity(name)
        return entity.id if entity is not None else normal_name(name)

    def _entity(self, name: str) -> Entity | None:
        if name not in self._entities:
            self._entities[name] = subject_entities(self._tx, [name]).get(normal_name(name))
        return self._entities[name]

    def _write(self, beliefs: Sequence[_Belief]) -> None:
        evidence = {row.fact_id for belief in beliefs for row in belief.log}
        facts = {fact.id: fact for fact in self._tx.facts(sorted(evidence))}
        stored = {fact.id: fact for fact in self._tx.facts([belief.stored.id for belief in beliefs])}
        new: list[NewFact] = []
        updates: list[Fact] = []
        features: dict[str, Features] = {}
        for belief in beliefs:
            fact = opinion_fact(self._tx, belief.stored, belief.log, facts, stored.get(belief.stored.id))
            before = stored.get(belief.stored.id)
            if fact is None or fact == before:
                continue
            if before is None:
                new.append(NewFact(fact, self._features(fact)))
                continue
            updates.append(fact)
            if fact.text != before.text:
                features[fact.id] = self._features(fact)
        if self._joined:
            self._tx.delete_records(OPINION, self._joined)
            self._tx.delete_records(EVIDENCE, self._joined)
            self._tx.delete_facts(self._joined)
        embedder = self._components.retain.embedder
        records = [opinion_record(belief.stored) for belief in beliefs]
        records += [evidence_record(self._bank, belief.stored.id, belief.log) for belief in beliefs]
        apply_changes(
            self._tx,
            FactChanges(
                bank=self._bank,
                now=self._now,
                model=embedder.model if embedder is not None else None,
                facts=new,
                entities=self._mentioned([one.fact for one in new]),
                updates=updates,
                features=features,
                records=records,
            ),
        )

    def _mentioned(self, facts: Sequence[Fact]) -> list[KeyedEntity]:
        """The subjects of new opinions, mentioned once more by each."""
        added = Counter(entity_id for fact in facts for entity_id in fact.entity_ids)
        return [
            replace(one, entity=replace(one.entity, mentions=one.entity.mentions + added[one.entity.id]))
            for one in self._tx.entities(ids=list(added))
        ]

    def _features(self, fact: Fact) -> Features:
        retain = self._components.retain
        return opinion_features(fact, retain.embedder, retain.late)
