"""Assessing: what a statement says of a belief on the same subject.

Likings and preferences are compared by topic and polarity, preferences also by value:

    belief                      statement                        label
    likes hiking                likes hiking in the Alps         supporting
                                sometimes likes hiking           weak
                                dislikes hiking in the rain      weak: an exception
                                does not like hiking any more    contradicting
    likes hiking in the Alps    dislikes hiking                  contradicting: all of it
                                likes hiking                     none
    prefers morning meetings    prefers afternoon meetings       contradicting: another value
    prefers tea to coffee       prefers coffee                   contradicting

A belief of the agent is compared with whatever asserts or denies the same in nearly the same words.
"""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.domain.opinion import EvidenceLabel, Polarity
from perdure.recall.beliefs import BeliefKind, StoredOpinion
from perdure.reflect.opinions.attitudes import Attitude, asserted, is_denied, is_hedged, is_reported
from perdure.text.names import normal_name
from perdure.text.terms import index_terms

LEAST_COVERED = 0.8
"""Share of a belief's terms that a sentence about the same has."""
MOST_FURTHER = 6
"""Terms that it may have beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """What a belief or statement affirms or denies, in comparable terms."""

    kind: BeliefKind
    polarity: Polarity
    topic: frozenset[str]
    over: frozenset[str] = frozenset()
    issue: str = ""
    hedged: bool = False

    @property
    def is_preference(self) -> bool:
        """Whether it puts one value before others."""
        return self.kind is BeliefKind.PREFERENCE and self.polarity is Polarity.POSITIVE


def position_of(stated: Attitude | StoredOpinion) -> Position:
    """The position of an attitude or of a stored opinion."""
    return Position(
        kind=stated.kind,
        polarity=stated.polarity,
        topic=terms_of(stated.topic),
        over=terms_of(stated.over),
        issue=stated.issue,
        hedged=stated.hedged if isinstance(stated, Attitude) else False,
    )


def claimed_label(fact: Fact, belief: StoredOpinion) -> EvidenceLabel | None:
    """What the sentences of a fact say of a belief of the agent, the last that says anything; None for other opinions."""
    if belief.kind is not BeliefKind.BELIEF:
        return None
    position = position_of(belief)
    for sentence in reversed(list(asserted(fact))):
        if mentions(sentence, belief.subject) and not is_reported(sentence):
            label = label_of(_claim(sentence), position)
            if label is not None:
                return label
    return None


def _claim(sentence: str) -> Position:
    return Position(
        kind=BeliefKind.BELIEF,
        polarity=Polarity.NEGATIVE if is_denied(sentence) else Polarity.POSITIVE,
        topic=terms_of(sentence),
        hedged=is_hedged(sentence),
    )


def mentions(text: str, name: str) -> bool:
    """Whether a text has the words of a name."""
    return f" {normal_name(name)} " in f" {normal_name(text)} "


def terms_of(text: str) -> frozenset[str]:
    """The words that tell what a text is about, stemmed."""
    return frozenset(index_terms(text))


def is_same(one: Position, other: Position) -> bool:
    """Whether two positions are one belief, more or less strongly put."""
    return (
        one.polarity is other.polarity
        and (one.kind is BeliefKind.BELIEF) is (other.kind is BeliefKind.BELIEF)
        and (not one.over or not other.over or one.over == other.over)
        and (_covers(one, other) and _covers(other, one) if one.kind is BeliefKind.BELIEF else one.topic == other.topic)
    )  # fmt: skip


def are_rivals(one: Position, other: Position) -> bool:
    """Whether only one of two beliefs can be held: each contradicts the other."""
    return (
        label_of(one, other) is EvidenceLabel.CONTRADICTING
        and label_of(other, one) is EvidenceLabel.CONTRADICTING
    )


def label_of(statement: Position, belief: Position) -> EvidenceLabel | None:
    """What the statement says of the belief; None when it says nothing of it."""
    if belief.kind is BeliefKind.BELIEF:
        if statement.kind is not BeliefKind.BELIEF or not _covers(statement, belief):
            return None
        return _by_polarity(statement, belief)
    if statement.kind is BeliefKind.BELIEF:
        return None
    if statement.topic == belief.topic:
        return _by_polarity(statement, belief)
    if _is_other_value(statement, belief):
        return EvidenceLabel.WEAK if statement.hedged else EvidenceLabel.CONTRADICTING
    same = statement.polarity is belief.polarity
    if statement.topic > belief.topic:
        if same:
            return None if statement.hedged else EvidenceLabel.SUPPORTING
        return EvidenceLabel.WEAK
    if statement.topic < belief.topic and not same:
        return EvidenceLabel.WEAK if statement.hedged else EvidenceLabel.CONTRADICTING
    return None


def _by_polarity(statement: Position, belief: Position) -> EvidenceLabel:
    if statement.hedged:
        return EvidenceLabel.WEAK
    return EvidenceLabel.SUPPORTING if statement.polarity is belief.polarity else EvidenceLabel.CONTRADICTING


def _is_other_value(statement: Position, belief: Position) -> bool:
    """Whether both prefer something, and not the same of what it could be."""
    if not (statement.is_preference and belief.is_preference):
        return False
    if statement.over == belief.topic or belief.over == statement.topic:
        return True
    nested = statement.topic < belief.topic or statement.topic > belief.topic
    return bool(statement.issue) and statement.issue == belief.issue and not nested


def _covers(statement: Position, belief: Position) -> bool:
    """Whether a sentence speaks of what a belief is about, and of hardly anything else."""
    shared = len(statement.topic & belief.topic)
    return (
        len(belief.topic) > 1
        and shared >= LEAST_COVERED * len(belief.topic)
        and len(statement.topic) - shared <= MOST_FURTHER
    )
