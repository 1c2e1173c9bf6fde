"""Calibrated evidence: probabilities, the levels and floors of the file, and what lowers them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perdure.domain.recall import Evidence, FactSignals, QuestionSignals
from perdure.recall.evidence import (
    Calibration,
    answer_features,
    fact_features,
    judge,
    parse_calibrations,
    probability,
    read_calibrations,
)

GOOD = FactSignals(answers=4.0, cosine=0.9, bm25=9.0, covered=1.0, score=0.999, names=1.0, speaker=True)
POOR = FactSignals(answers=-5.0, cosine=0.78, bm25=0.5, covered=0.2, score=0.05)
UNREAD = replace(GOOD, answers=None)
SMALL = """
[reader]
strong = 0.8
weak = 0.3
floor = 0.2
[reader.answer]
bias = 0.0
answers = 1.0
[reader.fact]
answers = 0.5
[words]
strong = 0.95
weak = 0.5
floor = 0.4
[words.answer]
covered = 1.0
[words.fact]
covered = 1.0
[bare]
strong = 0.95
weak = 0.5
floor = 0.4
[bare.answer]
covered = 1.0
[bare.fact]
covered = 1.0
"""
CALIBRATIONS = pytest.mark.parametrize("name", ["reader", "words", "bare"])


def asked(*facts: FactSignals, **question: float) -> QuestionSignals:
    fields = {"terms": 3, "entities": 1, **question}
    return QuestionSignals(facts=facts, **fields)  # type: ignore[arg-type]


def confidence(signals: QuestionSignals, calibration: Calibration) -> float:
    return judge(signals, calibration, [str(n) for n in range(len(signals.facts))]).confidence


@CALIBRATIONS
@pytest.mark.parametrize("field", ["answers", "cosine", "bm25", "covered", "names"])
def test_what_speaks_for_a_fact_never_lowers_its_probability(name: str, field: str) -> None:
    calibration = read_calibrations().by_name[name]
    low, high = replace(POOR, **{field: getattr(POOR, field)}), replace(POOR, **{field: getattr(GOOD, field)})
    assert confidence(asked(high, POOR), calibration) >= confidence(asked(low, POOR), calibration)
    relevance = [probability(calibration.fact, fact_features(asked(GOOD, one), 1)) for one in (low, high)]
    assert relevance[1] >= relevance[0]


@CALIBRATIONS
@pytest.mark.parametrize("doubt", ["stale", "unsure"])
def test_a_first_fact_that_is_over_or_doubtful_lowers_the_confidence(name: str, doubt: str) -> None:
    calibration = read_calibrations().by_name[name]
    sure, doubtful = asked(GOOD, POOR), asked(replace(GOOD, **{doubt: True}), POOR)
    assert confidence(doubtful, calibration) < confidence(sure, calibration)


@CALIBRATIONS
def test_a_clear_answer_is_likely_with_and_without_the_reader_and_a_poor_one_is_nothing(
    name: str,
) -> None:
    calibration = read_calibrations().by_name[name]
    assert judge(asked(GOOD, POOR), calibration, ["1", "2"]).confidence > 0.5
    poor = judge(asked(replace(POOR, covered=0.0), POOR, uncovered=1.0), calibration, ["1", "2"])
    assert poor.level is Evidence.NONE
    assert max(poor.relevances.values()) < calibration.floor


def test_the_calibration_is_chosen_by_the_signals_and_the_script() -> None:
    choose = read_calibrations().choose
    assert choose(asked(GOOD)).name == "reader"
    assert choose(asked(UNREAD, GOOD)).name == "reader"
    assert choose(asked(UNREAD)).name == "words"
    assert choose(asked(GOOD, latin=0.0)).name == "words"
    assert choose(asked(replace(UNREAD, bm25=0.0))).name == "bare"
    assert choose(asked()).name == "bare"


def test_levels_and_weights_are_those_of_the_file() -> None:
    calibrations = parse_calibrations(SMALL)
    reader = calibrations.by_name["reader"]
    levels = {-2.0: Evidence.NONE, 0.0: Evidence.WEAK, 1.3: Evidence.WEAK, 1.4: Evidence.STRONG}
    for answers, level in levels.items():
        assert judge(asked(replace(POOR, answers=answers)), reader, ["1"]).level is level
    judged = judge(asked(replace(POOR, answers=2.0), replace(POOR, answers=2.0)), reader, ["a", "b"])
    assert judged.relevances == {"a": pytest.approx(0.8808, abs=1e-4), "b": pytest.approx(0.7311, abs=1e-4)}
    assert judged.confidence == judged.relevances["a"]
    assert judged.lowest == judged.relevances["b"]


def test_nothing_recalled_is_no_evidence() -> None:
    judged = judge(asked(), read_calibrations().by_name["words"], [])
    assert (judged.level, judged.confidence, judged.lowest) == (Evidence.NONE, 0.0, 0.0)


def test_the_margin_of_an_answer_is_its_lead_over_the_second() -> None:
    assert answer_features(asked(GOOD, replace(GOOD, answers=3.0)))["margin"] == 0.0
    assert answer_features(asked(GOOD, replace(GOOD, answers=3.0)))["best_rival"] == 3.0
    assert answer_features(asked(GOOD, POOR))["margin"] == 6.0
    assert answer_features(asked(GOOD))["margin"] == 6.0
