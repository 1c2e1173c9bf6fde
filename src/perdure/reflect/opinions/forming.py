"""Forming: facts that state a belief become opinions, and facts become evidence for the opinions on their subject.

An opinion is worded as its first statement. What a fact says of an opinion is judged as a pair, by a language model where one
is set for it, else by the judge of the components; without either, an opinion rests on the statements of it alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from perdure.domain.fact import BELIEF, INSTRUCTION, QUESTION, Entity, Fact, FactType
from perdure.domain.opinion import EvidenceLabel, OpinionEvidence
from perdure.ports.store import Features, KeyedEntity, NewFact, Transaction
from perdure.recall.beliefs import (
    StoredOpinion,
    evidence_record,
    logs_of,
    opinion_record,
    stored_opinions,
    subject_entities,
)
from perdure.reflect.components import EvidenceJudge, ReflectComponents
from perdure.reflect.opinions.rows import (
    mentions,
    opinion_fact,
    opinion_features,
    said_at,
    stated_strength,
    subject_of,
)
from perdure.retain.commit import FactChanges, apply_changes
from perdure.retain.identity import new_fact_id
from perdure.text.names import normal_name

if TYPE_CHECKING:
    from perdure.reflect.opinions.labelling import GivenLabels

UNSTATED = 0.5
"""Strength of a support that does not state the belief itself: two of them make an opinion."""
LEAST_STATED = 0.6
"""Probability from which on a fact counts as stating a belief."""
MAX_ASSESSED = 20
"""Opinions on a subject that a fact is assessed against, the newest first."""
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
        stated = _newly_stated(components.evidence_judge, batch)
        with components.store.transaction(bank) as tx:
            tx.update_facts(
                [
                    replace(fact, flags=(*fact.flags, BELIEF), confidence=fact.confidence or stated[fact.id])
                    for fact in tx.facts(list(stated))
                    if BELIEF not in fact.flags
                ]
            )
            report += _Forming(components, tx, bank, now, labels).assess(batch)
    return report


def _newly_stated(judge: EvidenceJudge | None, facts: Sequence[Fact]) -> dict[str, float]:
    """Return fact id -> probability, of the facts that the judge takes for beliefs."""
    unread = [
        fact
        for fact in facts
        if fact.type in (FactType.WORLD, FactType.EXPERIENCE)
        and not {BELIEF, INSTRUCTION, QUESTION}.intersection(fact.flags)
    ]
    if judge is None or not unread:
        return {}
    probabilities = zip(unread, judge.beliefs(unread), strict=True)
    return {fact.id: probability for fact, probability in probabilities if probability >= LEAST_STATED}


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
        self._components, self._given = components, labels
        self._tx, self._bank, self._now = tx, bank, now
        logs = logs_of(tx)
        self._beliefs = {one.id: _Belief(one, logs.get(one.id, [])) for one in stored_opinions(tx).values()}
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
        """Add a fact to the logs of the beliefs that it bears on; form a new one where it states what none of them does."""
        about = self._on_subjects_of(fact)
        if any(fact.id in belief.fact_ids and belief.stored.statement == fact.text for belief in about):
            return
        labels = self._labels([(belief, fact) for belief in about])
        for belief, label in zip(about, labels, strict=True):
            self._add(belief, fact, label)
        if stated_strength(fact) is not None and EvidenceLabel.SUPPORTING not in labels and subject_of(fact):
            rivals = [
                b for b, label in zip(about, labels, strict=True) if label is EvidenceLabel.CONTRADICTING
            ]
            self._form(fact, about, rivals)

    def _form(self, fact: Fact, about: Sequence[_Belief], rivals: Sequence[_Belief]) -> None:
        """Form an opinion of a statement, with what was said before on the same subject as its evidence."""
        position = str(len(self._beliefs))
        opinion_id = new_fact_id(self._now, len(self._beliefs), self._bank, "opinion", fact.id, position)
        stored = StoredOpinion(
            id=opinion_id,
            bank=self._bank,
            subject=subject_of(fact),
            statement=fact.text,
            tags=fact.tags,
            rivals=tuple(rival.stored.id for rival in rivals),
            created_at=self._now,
        )
        belief = _Belief(stored, [], is_new=True)
        self._beliefs[opinion_id] = belief
        for rival in rivals:
            rival.stored = replace(rival.stored, rivals=(*rival.stored.rivals, opinion_id))
            rival.is_changed = True
        self._add(belief, fact, EvidenceLabel.SUPPORTING)
        earlier = {row.fact_id for other in about for row in other.log} - {fact.id}
        pairs = [(belief, one) for one in self._tx.facts(sorted(earlier))]
        for (_, one), label in zip(pairs, self._labels(pairs), strict=True):
            self._add(belief, one, label)

    def _labels(self, pairs: Sequence[tuple[_Belief, Fact]]) -> list[EvidenceLabel | None]:
        """Return what each fact says of each belief; a language model's label goes before the judge's."""
        given = self._given.by_pair if self._given is not None else {}
        open_pairs = [(b, fact) for b, fact in pairs if (b.stored.id, fact.id) not in given]
        judge = self._components.evidence_judge
        judged: Sequence[EvidenceLabel | None] = (
            [None] * len(open_pairs)
            if judge is None or not open_pairs
            else judge.labels([(b.stored.statement, fact) for b, fact in open_pairs])
        )
        by_pair = {(b.stored.id, fact.id): label for (b, fact), label in zip(open_pairs, judged, strict=True)}
        return [{**by_pair, **given}[b.stored.id, fact.id] for b, fact in pairs]

    def _add(self, belief: _Belief, fact: Fact, label: EvidenceLabel | None) -> None:
        """Log what the fact says of the belief; a fact counts once."""
        if label is None or fact.id in belief.fact_ids:
            return
        is_given = self._given is not None and (belief.stored.id, fact.id) in self._given.by_pair
        strength = stated_strength(fact) if label is EvidenceLabel.SUPPORTING else None
        belief.log.append(
            OpinionEvidence(
                opinion_id=belief.stored.id,
                fact_id=fact.id,
                label=label,
                strength=UNSTATED if strength is None else strength,
                at=said_at(fact, self._now),
                labelled_by=self._given.prompt if is_given and self._given is not None else "",
            )
        )
        belief.is_changed = True

    def _on_subjects_of(self, fact: Fact) -> list[_Belief]:
        """Return the beliefs on what a fact speaks of, the newest ones."""
        keys = {self._key(name) for name in (subject_of(fact), *fact.entities) if name} | set(fact.entity_ids)
        about = [
            belief
            for belief in self._beliefs.values()
            if belief.stored.tags == fact.tags
            and (self._key(belief.stored.subject) in keys or mentions(fact.text, belief.stored.subject))
        ]
        about.sort(key=lambda belief: (belief.stored.created_at or self._now, belief.stored.id))
        return about[-MAX_ASSESSED:]

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
        return opinion_features(fact, retain.embedder)
