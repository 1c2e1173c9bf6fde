"""The formulas of opinions, their fold and their wording."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure import InvalidInput
from perdure.domain.opinion import (
    ConfidenceRates,
    EvidenceLabel,
    OpinionEvidence,
    beginning,
    confidence_curve,
    contradicted,
    fold,
    read_rates,
    supported,
    toned,
    weakened,
)

RATES = ConfidenceRates()
FOR, WEAK, AGAINST = EvidenceLabel.SUPPORTING, EvidenceLabel.WEAK, EvidenceLabel.CONTRADICTING
START = datetime(2026, 1, 1, tzinfo=UTC)


def log(*rows: tuple[EvidenceLabel, float]) -> list[OpinionEvidence]:
    return [
        OpinionEvidence(
            opinion_id="o", fact_id=f"f{n}", label=label, strength=strength, at=START + timedelta(days=n)
        )
        for n, (label, strength) in enumerate(rows)
    ]


def test_the_formulas_are_those_of_cara() -> None:
    assert supported(0.5, 0.2) == pytest.approx(0.6)
    assert weakened(0.5, 0.1) == pytest.approx(0.45)
    assert contradicted(0.5, 0.5) == pytest.approx(0.25)


def test_confidence_stays_between_0_and_1_under_any_evidence() -> None:
    for label in EvidenceLabel:
        for c in (0.0, 0.3, 1.0):
            folded = fold(log((FOR, 0.9), *[(label, c)] * 50), RATES)
            assert folded is not None
            assert 0.0 <= folded <= 1.0


def test_a_statement_that_stands_alone_begins_a_belief_with_its_own_strength() -> None:
    assert fold(log((FOR, 0.85)), RATES) == 0.85


def test_a_weaker_one_needs_a_second() -> None:
    assert fold(log((FOR, 0.5)), RATES) is None
    assert fold(log((FOR, 0.5), (FOR, 0.5)), RATES) == pytest.approx(0.6)


def test_evidence_from_before_the_belief_weighs_on_it() -> None:
    assert fold(log((AGAINST, 0.85), (FOR, 0.8)), RATES) == pytest.approx(0.4)
    assert fold(log((AGAINST, 0.85), (WEAK, 0.5)), RATES) is None


def test_a_belief_begins_with_the_first_that_stands_alone() -> None:
    rows = log((FOR, 0.5), (FOR, 0.85), (FOR, 0.9))
    assert beginning(rows) is rows[1]
    assert fold(rows, RATES) == pytest.approx(0.85 + 0.2 * 0.15 + 0.2 * (1 - 0.88))


def test_the_curve_begins_where_the_belief_does_and_ends_at_the_fold() -> None:
    rows = log((FOR, 0.5), (FOR, 0.55), (AGAINST, 0.5), (WEAK, 0.5))
    assert [round(c, 3) for _, c in confidence_curve(rows, RATES)] == [0.6, 0.3, 0.27]
    assert confidence_curve(rows, RATES)[0][0] == rows[1].at


@pytest.mark.parametrize(
    ("confidence", "wording"),
    [
        (0.85, "Ann prefers tea"),
        (0.5, "Ann prefers tea"),
        (0.49, "Ann prefers tea, with reservations"),
        (0.25, "Ann prefers tea, with reservations"),
        (0.24, "Unsure whether Ann prefers tea"),
    ],
)
def test_the_wording_is_toned_down_in_three_steps(confidence: float, wording: str) -> None:
    assert toned("Ann prefers tea", confidence) == wording


def test_an_article_is_no_capital_inside_a_sentence() -> None:
    assert toned("The Alps are best in June", 0.1) == "Unsure whether the Alps are best in June"


def test_a_bank_sets_its_own_rates() -> None:
    rates = read_rates({"opinion_alpha": 0.5, "opinion_gamma": 0.1, "complete": True})
    assert (rates.alpha, rates.delta, rates.gamma) == (0.5, 0.1, 0.1)


@pytest.mark.parametrize("value", [2, -0.1, "much", True])
def test_a_rate_that_is_none_is_named(value: Any) -> None:
    with pytest.raises(InvalidInput, match="opinion_delta"):
        read_rates({"opinion_delta": value})
