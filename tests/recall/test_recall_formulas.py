"""Every number that the recall formulas are documented with, checked by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import tanh

import pytest

from perdure.domain.fact import Fact, FactType, RankingFields, ranking_fields
from perdure.domain.recall import Budget, Candidate, Hit, Query
from perdure.domain.time import Window
from perdure.recall.budget import BudgetPlan
from perdure.recall.fuse import fuse_by_first_channel, fuse_by_reciprocal_rank
from perdure.recall.score import (
    BoostScoring,
    ScoringContext,
    boost,
    proof,
    recency,
    temporal_proximity,
)

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def observation(proofs: int) -> RankingFields:
    return ranking_fields(Fact(id="o", bank="b", text="seen", type=FactType.OBSERVATION, proof_count=proofs))


def test_first_and_fifth_rank_fuse_to_0_0318() -> None:
    others = [Hit(name, 1.0) for name in "vwxy"]
    both, *rest = fuse_by_reciprocal_rank(
        {"semantic": [Hit("a", 1.0)], "keyword": [*others, Hit("a", 1.0)]}, 10
    )
    assert both.fact_id == "a"
    assert both.fused == pytest.approx(0.0318, abs=5e-5)
    assert both.fused == pytest.approx(1 / 61 + 1 / 65, abs=1e-15)
    assert rest[0].fused == pytest.approx(0.0164, abs=5e-5)


def test_consensus_ranks_above_a_single_channel() -> None:
    hits = {"semantic": [Hit("a", 0.9), Hit("b", 0.8)], "keyword": [Hit("c", 9.0), Hit("b", 8.0)]}
    assert [c.fact_id for c in fuse_by_reciprocal_rank(hits, 10)] == ["b", "a", "c"]


def test_in_stages_the_first_channel_that_found_a_fact_decides_its_score() -> None:
    hits = {"fuzzy": [Hit("a", 2.0), Hit("b", 1.0)], "embedding": [Hit("b", 9.0), Hit("c", 0.5)]}
    fused = fuse_by_first_channel(hits, 10)
    assert [(c.fact_id, c.fused) for c in fused] == [("a", 2.0), ("b", 1.0), ("c", 0.5)]
    assert [rank.channel for rank in fused[1].ranks] == ["fuzzy", "embedding"]


@pytest.mark.parametrize(("shared", "expected"), [(1, 0.46), (2, 0.76), (3, 0.91)])
def test_entity_overlap_saturates(shared: int, expected: float) -> None:
    assert tanh(0.5 * shared) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (365 // 2, 0.5), (365, 0.1), (4000, 0.1)])
def test_recency_decays_over_a_year(days: int, expected: float) -> None:
    assert recency(NOW - timedelta(days=days), NOW) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("proofs", "signal", "percent"), [(1, 0.5, 0.0), (3, 0.61, 1.1), (10, 0.73, 2.3), (150, 1.0, 5.0)]
)
def test_proof_signal_and_boost(proofs: int, signal: float, percent: float) -> None:
    assert proof(observation(proofs)) == pytest.approx(signal, abs=0.005)
    assert (boost(proof(observation(proofs)), 0.1) - 1) * 100 == pytest.approx(percent, abs=0.06)


def test_proof_counts_for_observations_only() -> None:
    assert proof(observation(50)._replace(type=FactType.WORLD)) == 0.5


def test_temporal_proximity_is_1_at_the_centre_and_0_at_the_edge() -> None:
    window = Window(NOW, NOW + timedelta(days=30))
    assert temporal_proximity(NOW + timedelta(days=15), window) == 1.0
    assert temporal_proximity(NOW, window) == 0.0
    assert temporal_proximity(NOW + timedelta(days=22.5), window) == pytest.approx(0.5)
    assert temporal_proximity(NOW + timedelta(days=300), window) == 0.0
    assert temporal_proximity(NOW, None) == 0.5


def test_boosts_stay_between_minus_23_and_plus_27_percent() -> None:
    best = boost(1.0, 0.2) * boost(1.0, 0.2) * boost(1.0, 0.1)
    worst = boost(0.0, 0.2) * boost(0.0, 0.2) * boost(0.0, 0.1)
    assert best == pytest.approx(1.27, abs=0.005)
    assert worst == pytest.approx(0.77, abs=0.005)
    assert boost(0.1, 0.2) == pytest.approx(0.92)


def test_final_score_is_relevance_times_boosts() -> None:
    fact = Fact(id="a", bank="b", text="t", mentioned_at=NOW)
    query = Query(text="q", content="q", asked_at=NOW)
    candidate = Candidate(fact_id="a", relevance=0.5, fields=ranking_fields(fact))
    [scored] = BoostScoring()([candidate], ScoringContext(query=query))
    assert scored.score == pytest.approx(0.5 * 1.1 * 1.0 * 1.0)
    assert scored.boosts["recency"] == pytest.approx(1.1)


@pytest.mark.parametrize(("level", "size"), [(Budget.LOW, 100), (Budget.MID, 300), (Budget.HIGH, 1000)])
def test_fixed_budgets(level: Budget, size: int) -> None:
    assert BudgetPlan().size(level, 4096) == size


@pytest.mark.parametrize(
    ("level", "tokens", "size"),
    [
        (Budget.LOW, 4096, 102),
        (Budget.MID, 4096, 307),
        (Budget.HIGH, 4096, 1024),
        (Budget.LOW, 100, 20),
        (Budget.HIGH, 100_000, 2000),
    ],
)
def test_adaptive_budgets(level: Budget, tokens: int, size: int) -> None:
    assert BudgetPlan(adaptive=True).size(level, tokens) == size
