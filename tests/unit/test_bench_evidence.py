"""The fitting of evidence: bounded weights, calibration error, thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from bench.evidence import as_toml
from bench.evidence_data import exchange
from bench.evidence_fit import calibration_error, fit_logistic, reliability, threshold_for, threshold_of_share
from perdure.evaluation.data import LabelledBank, LabelledItem
from perdure.recall.evidence import parse_calibrations, probability, read_calibrations

FREE = (float("-inf"), float("inf"))


def drawn(count: int = 4000) -> tuple[list[dict[str, float]], list[bool]]:
    """Outcomes that follow a logistic regression with the weights 2 and -1 and the bias 0.5."""
    chance = np.random.default_rng(7)
    rows = [{"a": float(a), "b": float(b)} for a, b in chance.normal(size=(count, 2))]
    told = [probability({"bias": 0.5, "a": 2.0, "b": -1.0}, row) for row in rows]
    return rows, [bool(chance.random() < p) for p in told]


def test_fitting_finds_the_weights_that_made_the_outcomes() -> None:
    rows, outcomes = drawn()
    weights = fit_logistic(rows, outcomes, {"a": FREE, "b": FREE})
    assert weights == pytest.approx({"bias": 0.5, "a": 2.0, "b": -1.0}, abs=0.15)
    told = [probability(weights, row) for row in rows]
    assert calibration_error(reliability(told, outcomes)) < 0.02


def test_weights_stay_within_their_bounds() -> None:
    rows, outcomes = drawn(500)
    weights = fit_logistic(rows, outcomes, {"a": (0.0, 1.0), "b": (0.0, float("inf"))})
    assert weights["a"] == pytest.approx(1.0)
    assert "b" not in weights


def test_a_feature_that_never_varies_keeps_its_bound() -> None:
    rows, outcomes = drawn(500)
    rows = [{**row, "stale": 0.0} for row in rows]
    weights = fit_logistic(rows, outcomes, {"a": FREE, "stale": (float("-inf"), -1.5)})
    assert weights["stale"] == pytest.approx(-1.5)


def test_the_calibration_error_is_the_mean_distance_between_told_and_come_true() -> None:
    bins = reliability([0.95, 0.95, 0.95, 0.95, 0.15], [True, True, True, False, False])
    assert [bin_.count for bin_ in bins] == [1, 4]
    assert calibration_error(bins) == pytest.approx((4 * 0.2 + 0.15) / 5)


def test_thresholds_hold_a_precision_and_a_share() -> None:
    told = [0.9, 0.8, 0.7, 0.6, 0.5]
    assert threshold_for(told, [True, True, True, False, False], 0.75, least=1) == 0.6
    assert threshold_for(told, [False] * 5, 0.75, least=1) == 1.0
    assert threshold_for(told, [True] * 5, 0.75, least=6) == 1.0
    assert threshold_of_share(told, 0.4) == 0.7
    assert threshold_of_share([], 0.4) == 0.0


def test_the_file_that_is_written_is_the_one_that_is_read() -> None:
    shipped = read_calibrations()
    assert parse_calibrations(as_toml(shipped)) == shipped


def test_an_exchange_is_the_turns_around_an_answer_in_its_session() -> None:
    items = [LabelledItem(id=str(n), text="", session="a" if n < 4 else "b") for n in range(8)]
    assert exchange(LabelledBank(id="x", items=items, queries=[]), ["3"]) == {"1", "2", "3"}
