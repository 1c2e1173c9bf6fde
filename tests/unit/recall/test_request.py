"""What a recall may be asked for: moments without a time zone are UTC, other things are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.fact import FactType
from perdure.domain.filter import Filter, TagLeaf, TagsMatch
from perdure.domain.recall import Budget
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput
from perdure.recall.options import Hints, Include, MinScores, Situation
from perdure.recall.recipes import DEFAULT
from perdure.recall.request import RecallRequest, read_budget, read_where

NAIVE = datetime(2024, 5, 1)
AWARE = datetime(2024, 5, 1, tzinfo=UTC)


def request(**options: Any) -> RecallRequest:
    return RecallRequest(**{"bank": "b", "query": "x", "recipe": DEFAULT, **options})


def test_moments_without_a_zone_are_utc() -> None:
    asked = request(hints=Hints(window=Window(None, NAIVE)), asked_at=NAIVE)
    assert asked.hints.window == Window(None, AWARE)
    assert asked.asked_at == AWARE


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: request(query=" "), "query"),
        (lambda: request(query="x" * 30_000), "query"),
        (lambda: request(max_tokens=-1), "max_tokens"),
        (lambda: request(limit=0), "limit"),
        (lambda: request(asked_at="2024"), "asked_at"),
        (lambda: request(recipe="default"), "recipe"),
        (lambda: request(where={"topic": "work"}), "where"),
        (lambda: request(include=True), "include"),
        (lambda: request(hints={}), "hints"),
        (lambda: request(min_scores=0.5), "min_scores"),
        (lambda: Include(max_chunk_tokens=-1), "max_chunk_tokens"),
        (lambda: Hints(window="2024"), "hints.window"),  # type: ignore[arg-type]
        (lambda: Hints(entities="Bob"), "hints.entities"),
        (lambda: Hints(situation="work"), "hints.situation"),  # type: ignore[arg-type]
        (lambda: Situation(hour=24), "hour"),
        (lambda: Situation(day_of_week=7), "day_of_week"),
        (lambda: MinScores(final="high"), "min_scores.final"),  # type: ignore[arg-type]
        (lambda: read_budget("deep"), "budget"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(make: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.field == field


def test_conditions_by_themselves_join_the_filter() -> None:
    own = TagLeaf(frozenset({"home"}))
    where = read_where(Filter(topic="cats", tags=(own,)), types=["world"], tags=["work"], as_of=NAIVE)
    assert where.topic == "cats"
    assert where.types == frozenset({FactType.WORLD})
    assert where.tags == (own, TagLeaf(frozenset({"work"}), TagsMatch.ANY))
    assert where.as_of == AsOf(valid=AWARE)
    assert read_where() == read_where(types=[], tags=[]) == Filter()
    assert read_budget("low") is Budget.LOW


@pytest.mark.parametrize(
    ("where", "options", "field"),
    [
        (Filter(types=frozenset({FactType.WORLD})), {"types": ["opinion"]}, "types"),
        (Filter(as_of=AsOf(valid=AWARE)), {"as_of": AWARE}, "as_of"),
        (None, {"types": ["poem"]}, "types"),
        (None, {"types": "world"}, "types"),
        (None, {"tags": "work"}, "tags"),
        (None, {"as_of": "2024"}, "as_of"),
        ({"topic": "cats"}, {}, "where"),
    ],
)
def test_conditions_that_contradict_the_filter_or_cannot_be_read_are_refused_by_name(
    where: Any, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_where(where, **options)
    assert caught.value.field == field
