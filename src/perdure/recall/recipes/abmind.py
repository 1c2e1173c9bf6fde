"""`abmind`: abmind's way. Channels in stages, a score of their own for text hits, and diversity at the end.

A stage after the first is skipped when the fuzzy one filled the limit. The formulas are those of abmind's recall engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log

from perdure.domain.fact import Fact, Tier
from perdure.domain.recall import Candidate
from perdure.recall.channels import MENTION_SCORE
from perdure.recall.fuse import fuse_by_first_channel
from perdure.recall.option_groups import Situation
from perdure.recall.recipe import ChannelSpec, Recipe
from perdure.recall.score import ScoringContext

UNCONFIRMED = 0.5
"""Penalty of a text hit that the embedding did not find as well."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """How memories fade: linearly over `days` to `floor`, less when emotional."""

    days: float = 365.0
    floor: float = 0.3
    emotion: float = 0.1


@dataclass(frozen=True, slots=True)
class AbmindScoring:
    """(relevance x penalty + context boost + emotion boost) x spacing."""

    decay: Decay = Decay()

    @property
    def reads_facts(self) -> bool:
        """Every formula looks at the fact."""
        return True

    def __call__(self, pool: Sequence[Candidate], context: ScoringContext) -> list[Candidate]:
        """The candidates with their boosts and scores."""
        scored = []
        for candidate in pool:
            if candidate.fact is not None:
                self._score(candidate, candidate.fact, context)
                scored.append(candidate)
        return sorted(scored, key=lambda c: (-c.score, c.fact_id))

    def _score(self, candidate: Candidate, fact: Fact, context: ScoringContext) -> None:
        channels = [rank.channel for rank in candidate.ranks]
        candidate.relevance = candidate.fused
        if channels[0] == "fuzzy":
            candidate.relevance = text_score(candidate.fused, fact, context.query.asked_at, self.decay)
        # That a statement names an entity of the question confirms nothing.
        confirming = [
            rank for rank in candidate.ranks if rank.channel != "relation" or rank.score > MENTION_SCORE
        ]
        unconfirmed = [rank.channel for rank in confirming] == [
            "fuzzy"
        ] and "semantic_floor" in context.channels
        penalty = UNCONFIRMED if unconfirmed else 1.0
        situation = context_boost(fact, context.situation)
        emotion = emotion_boost(fact.emotion)
        spacing = spacing_factor(fact.recall_times)
        candidate.score = (candidate.relevance * penalty + (situation + emotion)) * spacing
        candidate.boosts.update(
            {"cross_stage": penalty, "spacing": spacing, "+context": situation, "+emotion": emotion}
        )


def text_score(bm25: float, fact: Fact, now: datetime, decay: Decay = Decay()) -> float:
    """(bm25 + emotion) x recall x relevance x trust x credibility x tier x recency."""
    emotion = 0.5 * log(1.0 + abs(fact.emotion))
    recalled = 1.0 + 0.1 * fact.recall_count
    relevant = 1.2 if fact.relevance > 0 else 1.0
    trust = 0.5 + 0.5 * (fact.trust / 3.0)
    credibility = 1.25 if fact.credibility <= 2 else 1.0
    tier = 1.3 if fact.tier is Tier.CORE else 1.0
    recency = recency_factor(fact, now, decay)
    return (bm25 + emotion) * recalled * relevant * trust * credibility * tier * recency


def recency_factor(fact: Fact, now: datetime, decay: Decay = Decay()) -> float:
    """max(floor, 1 - age / days) x (1 + |emotion| x decay.emotion); undated facts count as fresh."""
    age = max((now - fact.dated) / _DAY, 0.0) if fact.dated is not None else 0.0
    return max(decay.floor, 1.0 - age / decay.days) * (1.0 + abs(fact.emotion) * decay.emotion)


def context_boost(fact: Fact, situation: Situation | None) -> float:
    """+0.02 same part of day, +0.015 same weekday (half for the same kind of day), +0.03 same topic."""
    if situation is None:
        return 0.0
    created = fact.mentioned_at or fact.recorded_at
    total = 0.0
    if (
        created is not None
        and situation.hour is not None
        and part_of_day(created.hour) == part_of_day(situation.hour)
    ):
        total += 0.02
    if created is not None and situation.day_of_week is not None:
        total += weekday_boost(created.weekday(), situation.day_of_week)
    if situation.topic is not None and fact.topic == situation.topic:
        total += 0.03
    return total


def weekday_boost(created: int, today: int) -> float:
    """0.015 on the same weekday, half of it when both or neither are at the weekend; Monday is 0."""
    if created == today:
        return 0.015
    return 0.0075 if (created >= 5) == (today >= 5) else 0.0


def part_of_day(hour: int) -> str:
    """The bucket of an hour."""
    if 5 <= hour < 12:
        return "morning"
    if 12 <= hour < 17:
        return "afternoon"
    return "evening" if 17 <= hour < 22 else "night"


def emotion_boost(emotion: float) -> float:
    """|emotion| x 0.02, at most 0.10."""
    return abs(emotion) * 0.02


def spacing_factor(times: Sequence[datetime]) -> float:
    """1.3 when recalled a week or more apart on average, 1.15 a day or more, else 1."""
    if len(times) < 2:
        return 1.0
    ordered = sorted(times)
    average = (ordered[-1] - ordered[0]) / (len(ordered) - 1)
    if average >= 7 * _DAY:
        return 1.3
    return 1.15 if average >= _DAY else 1.0


ABMIND = Recipe(
    name="abmind",
    channels=(
        ChannelSpec(name="fuzzy"),
        ChannelSpec(name="semantic_floor", unless_filled="fuzzy"),
        ChannelSpec(name="signature", limit=5, unless_filled="fuzzy"),
        ChannelSpec(name="notes"),
        ChannelSpec(name="relation"),
    ),
    fusion=fuse_by_first_channel,
    cross_pool=0,
    scoring=AbmindScoring(),
    diversity=0.7,
    limit=10,
    edges=True,
)
