"""abmind's scoring: its formula for text hits, the cross-stage penalty and the context, emotion and spacing boosts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log

from perdure.domain.fact import Fact, Tier
from perdure.domain.recall import Candidate
from perdure.domain.revise import revised
from perdure.recall.request import Situation

UNCONFIRMED = 0.5
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """How memories fade: linearly over `days` to `floor`, less when emotional."""

    days: float = 365.0
    floor: float = 0.3
    emotion: float = 0.1


def score_abmind(
    candidates: Sequence[Candidate],
    facts: Mapping[str, Fact],
    now: datetime,
    situation: Situation | None,
    channels_run: Collection[str],
    decay: Decay = Decay(),
) -> list[Candidate]:
    """Final scores, best first, ties by id."""
    confirmable = "semantic_floor" in channels_run
    scored = [
        _scored(candidate, facts[candidate.fact_id], now, situation, confirmable, decay)
        for candidate in candidates
        if candidate.fact_id in facts
    ]
    return sorted(scored, key=lambda c: (-c.score, c.fact_id))


def _scored(
    candidate: Candidate,
    fact: Fact,
    now: datetime,
    situation: Situation | None,
    confirmable: bool,
    decay: Decay,
) -> Candidate:
    stages = [rank.channel for rank in candidate.ranks]
    relevance = candidate.fused
    if stages[0] == "fuzzy":
        relevance = text_score(candidate.fused, fact, now, decay)
    penalty = UNCONFIRMED if stages == ["fuzzy"] and confirmable else 1.0
    added = {
        "context": context_boost(fact, situation),
        "emotion": emotion_boost(fact.emotion),
    }
    spacing = spacing_factor(fact.recall_times)
    total = (relevance * penalty + sum(added.values())) * spacing
    boosts = {"cross_stage": penalty, "spacing": spacing, **{f"+{name}": v for name, v in added.items()}}
    return revised(candidate, relevance=relevance, boosts=boosts, score=total)


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
    """max(floor, 1 - age/days), more for emotional memories; undated ones count as fresh."""
    age = max((now - fact.dated) / _DAY, 0.0) if fact.dated is not None else 0.0
    return max(decay.floor, 1.0 - age / decay.days) * (1.0 + abs(fact.emotion) * decay.emotion)


def context_boost(fact: Fact, situation: Situation | None) -> float:
    """+0.02 same part of day, +0.015 same weekday (half for the same kind of day), +0.03 same topic."""
    if situation is None:
        return 0.0
    made = fact.mentioned_at or fact.recorded_at
    total = 0.0
    if made is not None and situation.hour is not None and _part(made.hour) == _part(situation.hour):
        total += 0.02
    if made is not None and situation.day_of_week is not None:
        total += _weekday_boost(made.weekday(), situation.day_of_week)
    if situation.topic is not None and fact.topic == situation.topic:
        total += 0.03
    return total


def _weekday_boost(made: int, today: int) -> float:
    if made == today:
        return 0.015
    return 0.0075 if (made >= 5) == (today >= 5) else 0.0


def _part(hour: int) -> str:
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
