"""The check of a sentence against its sources: what counts as said, and what the cross-encoder adds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from perdure import ModelError, Vector
from perdure.reflect.support import (
    SourceText,
    check_support,
    read_calibrations,
    source_of,
    unsaid,
)
from tests.reflect.reflect_kit import fact

MOVED = SourceText(
    texts=("Ann moved to Lisbon with two cats.",),
    moments=(datetime(2026, 3, 2, tzinfo=UTC),),
    names=("Ann",),
)


class FixedReranker:
    """Gives every passage the same logit."""

    def __init__(self, logit: float, name: str = read_calibrations()["reranker"]) -> None:
        self.logit, self.name = logit, name

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        return np.full(len(passages), self.logit, dtype=np.float32)


class BrokenReranker(FixedReranker):
    """Cannot be read."""

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        raise ModelError("no file")


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Ann moved to Lisbon.", ()),
        ("Ann moved to Porto.", ("Porto",)),
        ("Bob moved to Lisbon.", ("Bob",)),
        ("Ann has 2 cats.", ()),
        ("Ann has three cats.", ("three",)),
        ("Ann moved in March 2026.", ()),
        ("Ann moved on 2 March.", ()),
        ("Ann moved on March 2nd.", ()),
        ("Ann moved on 2026-03-02.", ()),
        ("Ann moved on 9 March.", ("9",)),
        ("Ann moved on 2026-03-09 after all.", ("2026-03-09",)),
        ("Ann moved in May 2025.", ("May", "2025")),
        ("Currently Ann lives in Lisbon.", ()),
        ("Anna zog mit ihren Katzen nach Lissabon, das ist nicht neu.", ()),
        ("Anna zog mit 7 Katzen nach Lissabon, das ist nicht neu.", ("7",)),
    ],
)
def test_numbers_and_names_that_no_source_has_are_unsaid(sentence: str, missing: tuple[str, ...]) -> None:
    assert unsaid(sentence, [MOVED]) == missing


def test_the_cross_encoder_decides_where_words_are_shared() -> None:
    sentence = "Ann moved to Lisbon."
    assert check_support(sentence, [MOVED], FixedReranker(8.0)).holds
    assert not check_support(sentence, [MOVED], FixedReranker(-11.0)).holds


def test_a_value_that_nobody_said_fails_whatever_the_cross_encoder_says() -> None:
    support = check_support("Ann moved to Porto.", [MOVED], FixedReranker(10.0))
    assert not support.holds
    assert "Porto" in support.reason


@pytest.mark.parametrize("reranker", [None, FixedReranker(-11.0, "another"), BrokenReranker(0.0)])
def test_without_the_model_it_was_fitted_for_words_decide(reranker: FixedReranker | None) -> None:
    assert check_support("Ann moved to Lisbon.", [MOVED], reranker).holds
    assert not check_support("Ann adores sailing and opera.", [MOVED], reranker).holds


def test_a_fact_says_its_text_its_words_its_dates_and_its_names() -> None:
    stated = fact(
        "Ann moved house.", source_text="We got the keys on Friday!", speaker="Ann", entities=("Lisbon",)
    )
    source = source_of(stated, ["Around it: the ferry was late."])
    assert unsaid("Ann got keys in Lisbon in June 2026.", [source]) == ()
    assert "Around it: the ferry was late." in source.texts
