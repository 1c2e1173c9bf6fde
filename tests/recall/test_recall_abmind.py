"""abmind's formulas, checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import log

import pytest

from perdure.domain.fact import Fact, Tier
from perdure.domain.recall import Candidate, Query
from perdure.recall.diversify import diversify, jaccard
from perdure.recall.option_groups import Situation
from perdure.recall.recipes.abmind import (
    AbmindScoring,
    context_boost,
    spacing_factor,
    text_score,
)
from perdure.recall.score import ScoringContext

NOW = datetime(2024, 6, 5, 9, tzinfo=UTC)  # a Wednesday morning


def fact(**fields: object) -> Fact:
    return Fact(**{"id": "a", "bank": "b", "text": "t", "mentioned_at": NOW, "trust": 3, **fields})  # type: ignore[arg-type]


def test_a_plain_trusted_fact_of_today_keeps_its_bm25() -> None:
    assert text_score(2.0, fact(), NOW) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("fields", "factor"),
    [
        ({"recall_count": 3}, 1.3),
        ({"relevance": 0.4}, 1.2),
        ({"trust": 0}, 0.5),
        ({"trust": 2}, 0.5 + 0.5 * 2 / 3),
        ({"credibility": 2}, 1.25),
        ({"credibility": 3}, 1.0),
        ({"tier": Tier.CORE}, 1.3),
        ({"mentioned_at": NOW - timedelta(days=73)}, 0.8),
        ({"mentioned_at": NOW - timedelta(days=900)}, 0.3),
    ],
)
def test_each_factor_of_the_text_score(fields: dict[str, object], factor: float) -> None:
    assert text_score(2.0, fact(**fields), NOW) == pytest.approx(2.0 * factor)


def test_emotion_adds_to_bm25_and_slows_decay() -> None:
    expected = (2.0 + 0.5 * log(1 + 4)) * (1 + 4 * 0.1)
    assert text_score(2.0, fact(emotion=-4), NOW) == pytest.approx(expected)


def test_a_fact_that_is_gone_is_left_out() -> None:
    context = ScoringContext(query=Query(text="q", content="q", asked_at=NOW))
    assert AbmindScoring()([Candidate(fact_id="a")], context) == []


def test_context_boost_of_hour_weekday_and_topic() -> None:
    here = fact(topic="work")
    assert context_boost(here, Situation(hour=11)) == pytest.approx(0.02)
    assert context_boost(here, Situation(hour=13)) == 0.0
    assert context_boost(here, Situation(day_of_week=2)) == pytest.approx(0.015)
    assert context_boost(here, Situation(day_of_week=0)) == pytest.approx(0.0075)
    assert context_boost(here, Situation(day_of_week=6)) == 0.0
    assert context_boost(here, Situation(hour=8, day_of_week=2, topic="work")) == pytest.approx(0.065)
    assert context_boost(here, None) == 0.0


@pytest.mark.parametrize(("days", "factor"), [(8, 1.3), (7, 1.3), (1, 1.15), (3, 1.15), (0.5, 1.0)])
def test_spaced_recalls_multiply(days: float, factor: float) -> None:
    times = [NOW + timedelta(days=days * i) for i in range(4)]
    assert spacing_factor(times) == factor
    assert spacing_factor(times[:1]) == 1.0


def test_mmr_prefers_what_was_not_said_yet() -> None:
    facts = {
        "a": fact(id="a", text="alice likes green tea"),
        "b": fact(id="b", text="alice likes green tea"),
        "c": fact(id="c", text="bob moved to lisbon"),
    }
    pool = [Candidate(fact_id=i, score=s) for i, s in (("a", 1.0), ("b", 0.9), ("c", 0.6))]

    def read_facts(candidates: Sequence[Candidate]) -> None:
        for one in candidates:
            one.fact = facts[one.fact_id]

    # b: 0.7 x 0.9 - 0.3 x 1.0 = 0.33; c: 0.7 x 0.6 - 0 = 0.42
    assert [c.fact_id for c in diversify(pool, 0.7, read_facts)] == ["a", "c", "b"]
    assert [c.fact_id for c in diversify(pool, None, read_facts)] == ["a", "b", "c"]
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
