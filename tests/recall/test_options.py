"""What a recall may be asked for: every option is checked by its declaration, and conditions end up in one filter."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from perdure.domain.fact import FactType
from perdure.domain.filter import Filter, TagLeaf, TagsMatch
from perdure.domain.recall import Budget, Precision
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput
from perdure.recall.options import PromptOptions, RecallOptions, RecallRequest
from perdure.recall.recipes import DEFAULT

NAIVE = datetime(2024, 5, 1)
AWARE = datetime(2024, 5, 1, tzinfo=UTC)


def request(query: str = "x", **options: object) -> RecallRequest:
    return RecallRequest.of("b", query, RecallOptions.read(options), DEFAULT)


@pytest.mark.parametrize("moment", [NAIVE, AWARE, date(2024, 5, 1), "2024-05-01", "2024-05-01T02:00+02:00"])
def test_a_moment_may_be_a_datetime_a_date_or_iso_text_and_is_utc_without_a_zone(moment: object) -> None:
    asked = request(asked_at=moment, as_of=moment, known_at=moment, hints={"window": {"end": moment}})
    assert asked.asked_at == AWARE
    assert asked.where.as_of == AsOf(valid=AWARE, known=AWARE)
    assert asked.hints.window == Window(None, AWARE)


def test_the_last_day_of_a_span_is_included_unless_a_time_says_otherwise() -> None:
    span = request(since="2024-05-01", until="2024-05-01").where.during
    assert (
        span
        == Window(AWARE, AWARE + timedelta(days=1))
        == request(since=AWARE, until=date(2024, 5, 1)).where.during
    )
    assert request(until="2024-05-01T00:00").where.during == Window(None, AWARE)
    assert request(until="9999-12-31").where.during == Filter().during


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"query": " "}, "query"),
        ({"query": "x" * 30_000}, "query"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": None}, "max_tokens"),
        ({"limit": 0}, "limit"),
        ({"limit": True}, "limit"),
        ({"budget": "deep"}, "budget"),
        ({"asked_at": "soon"}, "asked_at"),
        ({"asked_at": "9999-01-01"}, "asked_at"),
        ({"asker": " "}, "asker"),
        ({"channel_timeout": float("nan")}, "channel_timeout"),
        ({"recipe": 5}, "recipe"),
        ({"types": ["poem"]}, "types"),
        ({"types": "world"}, "types"),
        ({"tags": "work"}, "tags"),
        ({"tags_match": "some"}, "tags_match"),
        ({"as_of": "2024"}, "as_of"),
        ({"as_of": {"then": "2024-05-01"}}, "as_of.then"),
        ({"since": "2025-01-01", "until": "2024-01-01"}, "since"),
        ({"where": "cats"}, "where"),
        ({"where": {"topics": "cats"}}, "where.topics"),
        ({"where": {"now": AWARE}}, "where.now"),
        ({"include": True}, "include"),
        ({"include": {"max_chunk_tokens": -1}}, "include.max_chunk_tokens"),
        ({"hints": {"window": "2024"}}, "hints.window"),
        ({"hints": {"entities": "Bob"}}, "hints.entities"),
        ({"hints": {"situation": "work"}}, "hints.situation"),
        ({"hints": {"situation": {"hour": 24}}}, "hints.situation.hour"),
        ({"min_scores": 0.5}, "min_scores"),
        ({"min_scores": {"final": "high"}}, "min_scores.final"),
        ({"max_tokns": 5}, "max_tokns"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        request(**options)
    assert caught.value.field == field


def test_names_and_objects_of_json_do_as_well_as_objects_of_python() -> None:
    asked = request(
        budget="low", precision="inject", query_timestamp=AWARE, where={"topic": "cats"}, include=None
    )
    assert (asked.budget, asked.precision, asked.asked_at) == (Budget.LOW, Precision.INJECT, AWARE)
    assert asked.where == request(where=Filter(topic="cats")).where
    assert PromptOptions.read({}).precision is Precision.INJECT


def test_conditions_that_stand_alone_join_the_filter() -> None:
    own = TagLeaf(frozenset({"home"}))
    asked = request(where=Filter(topic="cats", tags=(own,)), types=["world"], tags=["work"], as_of=NAIVE)
    assert asked.where == Filter(
        topic="cats",
        tags=(own, TagLeaf(frozenset({"work"}), TagsMatch.ANY)),
        types=frozenset({FactType.WORLD}),
        as_of=AsOf(valid=AWARE),
    )
    assert request(types=[], tags=[]).where == Filter()


@pytest.mark.parametrize(
    ("where", "options", "field"),
    [
        (Filter(types=frozenset({FactType.WORLD})), {"types": ["opinion"]}, "types"),
        (Filter(as_of=AsOf(valid=AWARE)), {"as_of": AWARE}, "as_of"),
        (Filter(during=Window(AWARE, None)), {"since": AWARE}, "since"),
        (None, {"as_of": AsOf(known=AWARE), "known_at": AWARE}, "known_at"),
        (None, {"asked_at": AWARE, "query_timestamp": AWARE}, "query_timestamp"),
    ],
)
def test_a_condition_that_is_given_twice_is_refused_by_name(
    where: Filter | None, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        request(where=where, **options)
    assert caught.value.field == field
