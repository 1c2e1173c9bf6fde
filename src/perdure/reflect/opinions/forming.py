"""Forming: facts that state a belief become opinions, and facts become evidence for the opinions on their subject.

An opinion is worded as its first statement. What a fact says of an opinion is judged as a pair, by a language model if one is
set for it, else by the reader. Without either, and if the reader fails, no opinion is formed, and the report says why.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from perdure.domain.fact import BELIEF, INSTRUCTION, QUESTION, Fact, FactType
from perdure.domain.opinion import EvidenceLabel, OpinionEvidence
from perdure.errors import ModelError, public_message
from perdure.ports.store import Features, KeyedEntity, NewFact, Transaction
from perdure.recall.beliefs import (
    StoredOpinion,
    evidence_record,
    opinion_record,
)
from perdure.reflect.components import EvidenceJudge, ReflectComponents
from perdure.reflect.opinions.rows import (
    Belief,
    Beliefs,
    opinion_fact,
    opinion_features,
    said_at,
    stated_strength,
    subject_of,
)
from perdure.retain.commit import FactChanges, apply_changes
from perdure.retain.identity import new_fact_id

if TYPE_CHECKING:
    from perdure.reflect.opinions.labelling import GivenLabels

UNSTATED = 0.5
"""Strength of a support that does not state the belief itself: two of them make an opinion."""
LEAST_STATED = 0.6
"""Probability from which a fact counts as stating a belief."""
FACTS_AT_ONCE = 64
"""Facts per transaction, so that other writers get their turn."""
NO_JUDGE = "neither the reader nor a language model is at hand"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionReport:
    """What facts did to the opinions of a bank."""

    assessed: int = 0
    """Facts that were judged."""
    formed: tuple[str, ...] = ()
    """New opinions."""
    changed: tuple[str, ...] = ()
    """Existing opinions with new evidence."""
    unjudged: str = ""
    """Why facts were not judged; empty if all were."""

    def __add__(self, other: OpinionReport) -> OpinionReport:
        formed = (*self.formed, *other.formed)
        changed = dict.fromkeys((*self.changed, *other.changed))
        return OpinionReport(
            assessed=self.assessed + other.assessed,
            formed=formed,
            changed=tuple(one for one in changed if one not in formed),
            unjudged=self.unjudged or other.unjudged,
        )


def assess_facts(
    components: ReflectComponents, bank: str, facts: Sequence[Fact], now: datetime
) -> OpinionReport:
    """Form opinions from facts and add the facts to the logs of existing ones; a fact counts once, however often it comes."""
    report = OpinionReport()
    for start in range(0, len(facts), FACTS_AT_ONCE):
        batch = facts[start : start + FACTS_AT_ONCE]
        labels = _labels(components, bank, batch)
        judge = components.evidence_judge
        if judge is None and labels is None:
            return OpinionReport(unjudged=NO_JUDGE)
        try:
            stated = {} if judge is None else _newly_stated(judge, batch)
            with components.store.transaction(bank) as tx:
                tx.update_facts(
                    [
                        replace(
                            fact, flags=(*fact.flags, BELIEF), confidence=fact.confidence or stated[fact.id]
                        )
                        for fact in tx.facts(list(stated))
                        if BELIEF not in fact.flags
                    ]
                )
                report += _Forming(components, tx, bank, now, labels).assess(batch)
        except ModelError as error:
            log.warning("opinions of %s were not judged: %s", bank, public_message(error))
            return report + OpinionReport(unjudged=public_message(error))
    return report


def _newly_stated(judge: EvidenceJudge, facts: Sequence[Fact]) -> dict[str, float]:
    """Return fact id -> probability, of the facts that the judge takes for beliefs."""
    unread = [
        fact
        for fact in facts
        if fact.type in (FactType.WORLD, FactType.EXPERIENCE)
        and not {BELIEF, INSTRUCTION, QUESTION}.intersection(fact.flags)
        and not fact.is_foreign
    ]
    probabilities = zip(unread, judge.beliefs(unread) if unread else (), strict=True)
    return {fact.id: probability for fact, probability in probabilities if probability >= LEAST_STATED}


def _labels(components: ReflectComponents, bank: str, facts: Sequence[Fact]) -> GivenLabels | None:
    """Return what a language model says of the facts; None if none is set for it, or it fails."""
    if components.llm is None:
        return None
    from perdure.domain.llm_call import LlmOperation
    from perdure.reflect.opinions.labelling import label_pairs

    if not components.llm.serves(LlmOperation.CONSOLIDATE):
        return None
    return label_pairs(components, components.llm, bank, facts)


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
        self._beliefs = Beliefs(tx)

    def assess(self, facts: Sequence[Fact]) -> OpinionReport:
        # The caller's facts may be older than the transaction; those that went meanwhile are left out.
        current = [
            fact
            for fact in self._tx.facts([fact.id for fact in facts])
            if fact.type is not FactType.OBSERVATION and fact.id not in self._beliefs.by_id
        ]
        for fact in current:
            self._assess(fact)
        touched = [one for one in self._beliefs.by_id.values() if one.is_new or one.is_changed]
        self._write(touched)
        return OpinionReport(
            assessed=len(current),
            formed=tuple(belief.stored.id for belief in touched if belief.is_new),
            changed=tuple(belief.stored.id for belief in touched if not belief.is_new),
        )

    def _assess(self, fact: Fact) -> None:
        """Add a fact to the logs of the beliefs that it bears on; form a new one if it states what none of them does."""
        about = self._beliefs.on_subjects_of(fact)
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

    def _form(self, fact: Fact, about: Sequence[Belief], rivals: Sequence[Belief]) -> None:
        """Form an opinion of a statement, with what was said before on the same subject as its evidence."""
        position = str(len(self._beliefs.by_id))
        opinion_id = new_fact_id(
            self._now, len(self._beliefs.by_id), self._bank, "opinion", fact.id, position
        )
        stored = StoredOpinion(
            id=opinion_id,
            bank=self._bank,
            subject=subject_of(fact),
            statement=fact.text,
            tags=fact.tags,
            rivals=tuple(rival.stored.id for rival in rivals),
            created_at=self._now,
        )
        belief = Belief(stored, [], is_new=True)
        self._beliefs.by_id[opinion_id] = belief
        for rival in rivals:
            rival.stored = replace(rival.stored, rivals=(*rival.stored.rivals, opinion_id))
            rival.is_changed = True
        self._add(belief, fact, EvidenceLabel.SUPPORTING)
        earlier = {row.fact_id for other in about for row in other.log} - {fact.id}
        pairs = [(belief, one) for one in self._tx.facts(sorted(earlier))]
        for (_, one), label in zip(pairs, self._labels(pairs), strict=True):
            self._add(belief, one, label)

    def _labels(self, pairs: Sequence[tuple[Belief, Fact]]) -> list[EvidenceLabel | None]:
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

    def _add(self, belief: Belief, fact: Fact, label: EvidenceLabel | None) -> None:
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

    def _write(self, beliefs: Sequence[Belief]) -> None:
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
        """Return the subjects of new opinions, mentioned once more by each."""
        added = Counter(entity_id for fact in facts for entity_id in fact.entity_ids)
        return [
            replace(one, entity=replace(one.entity, mentions=one.entity.mentions + added[one.entity.id]))
            for one in self._tx.entities(ids=list(added))
        ]

    def _features(self, fact: Fact) -> Features:
        retain = self._components.retain
        return opinion_features(fact, retain.embedder)
