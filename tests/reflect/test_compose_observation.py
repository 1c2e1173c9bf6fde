"""Composing a profile: clauses, sources, bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.fact import INSTRUCTION, Fact, FactType
from perdure.domain.filter import Filter
from perdure.domain.observation import fingerprint, is_fresh, read_scope_rule, scopes_of
from perdure.domain.time import AsOf
from perdure.errors import InvalidInput
from perdure.ports.embedder import Vector
from perdure.reflect.consolidate import split_poison
from perdure.reflect.observations.compose import Profile, compose, is_source

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def fact(number: int, text: str = "", **fields: Any) -> Fact:
    moment = NOW + timedelta(minutes=number)
    return Fact(
        id=f"f{number:03d}", bank="b", text=text or f"Ann did thing {number}.",
        **{"mentioned_at": moment, "recorded_at": moment, **fields},
    )  # fmt: skip


def profile(
    facts: list[Fact], *, max_tokens: int = 200, vectors: dict[str, Vector] | None = None
) -> Profile | None:
    return compose("Ann", facts, vectors or {}, count=lambda text: len(text.split()), max_tokens=max_tokens)


LIKES = [
    fact(n, f"Ann likes {thing}.", subject="Ann", relation="likes", object=thing)
    for n, thing in enumerate(("tea", "jazz", "rain"))
]


def test_a_profile_is_at_most_ten_statements_as_they_were_said() -> None:
    facts = [fact(n) for n in range(30)]
    composed = profile(facts)
    assert composed is not None
    assert composed.text.startswith("Ann: ")
    assert len(composed.clauses) == 10
    assert {clause.text for clause in composed.clauses} <= {one.text for one in facts}


def test_what_a_tool_returned_is_no_source() -> None:
    assert not is_source(fact(1, flags=("origin:tool",)))


def test_sentences_that_are_alike_stand_for_each_other_once() -> None:
    facts = [fact(n) for n in range(6)]
    near, far = np.array([1.0, 0.0], np.float32), np.array([0.6, 0.8], np.float32)
    vectors = {one.id: near for one in facts[:5]} | {facts[5].id: far}
    composed = profile(facts, vectors=vectors, max_tokens=14)
    assert composed is not None
    assert facts[5].id in composed.source_ids


def test_orders_to_the_agent_and_thoughts_are_no_sources() -> None:
    assert is_source(fact(1))
    assert not is_source(fact(1, flags=(INSTRUCTION,)))
    assert not is_source(fact(1, type=FactType.OBSERVATION))
    assert not is_source(fact(1, type=FactType.OPINION, source_fact_ids=("f002",)))
    assert is_source(fact(1, type=FactType.OPINION))


def test_what_would_rest_on_one_fact_is_no_profile() -> None:
    assert profile([fact(1)]) is None


@given(st.integers(1, 60), st.integers(3, 60))
def test_a_profile_keeps_within_its_tokens_and_names_its_sources(count: int, tokens: int) -> None:
    composed = profile([*LIKES, *(fact(n) for n in range(10, 10 + count))], max_tokens=tokens)
    if composed is not None:
        assert len(composed.text.split()) <= tokens
        assert all(clause.fact_ids for clause in composed.clauses)
        assert all(clause.text in composed.text for clause in composed.clauses)


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_facts_come_makes_no_difference(random: Any) -> None:
    facts = [*LIKES, *(fact(n) for n in range(10, 20))]
    shuffled = list(facts)
    random.shuffle(shuffled)
    assert profile(shuffled) == profile(facts)


def observed(sources: list[Fact]) -> tuple[Fact, dict[str, str]]:
    observation = fact(
        90, "Ann: x.", type=FactType.OBSERVATION, source_fact_ids=tuple(one.id for one in sources)
    )
    return observation, {one.id: fingerprint(one) for one in sources}


@pytest.mark.parametrize(
    "change",
    [
        {"retired_at": NOW + timedelta(hours=1)},
        {"valid_to": NOW + timedelta(minutes=30), "end_recorded_at": NOW + timedelta(hours=1)},
        {"expires_at": NOW + timedelta(hours=1)},
        {"text": "Ann likes coffee."},
        {"tags": frozenset({"private"})},
        {"classification": 3},
        {"entity_ids": ("other",)},
    ],
)
def test_an_observation_is_stale_when_a_source_is_not_as_it_was(change: dict[str, Any]) -> None:
    observation, prints = observed(LIKES)
    sources = {one.id: one for one in LIKES}
    where = Filter(include_ended=True).at(NOW + timedelta(days=1))
    assert is_fresh(observation, prints, sources, where)
    sources["f001"] = replace(sources["f001"], **change)
    assert not is_fresh(observation, prints, sources, where)


def test_an_observation_is_stale_when_a_source_is_gone() -> None:
    observation, prints = observed(LIKES)
    assert not is_fresh(observation, prints, {one.id: one for one in LIKES[1:]}, Filter().at(NOW))


def test_an_observation_holds_at_a_time_before_its_source_ended() -> None:
    observation, prints = observed(LIKES)
    end = NOW + timedelta(days=10)
    sources = {one.id: replace(one, valid_to=end, end_recorded_at=end) for one in LIKES}
    later = NOW + timedelta(days=20)
    assert not is_fresh(observation, prints, sources, Filter().at(later))
    assert is_fresh(observation, prints, sources, Filter(as_of=AsOf(valid=NOW + timedelta(days=5))).at(later))


def test_scopes_follow_the_rule() -> None:
    assert scopes_of({"b", "a"}) == (("a", "b"),)
    assert scopes_of((), "per_tag") == ((),)
    assert scopes_of({"b", "a"}, "per_tag") == (("a",), ("b",))
    assert scopes_of({"b", "a"}, "shared") == ((),)
    assert set(scopes_of({"b", "a"}, "all_combinations")) == {("a",), ("b",), ("a", "b")}
    assert scopes_of({"x"}, read_scope_rule([["team", "a"], []])) == (("a", "team"), ())


@pytest.mark.parametrize("rule", ["everything", 3, [], ["a"], [[1]], [[" "]], None])
def test_what_is_no_rule_is_refused(rule: object) -> None:
    with pytest.raises(InvalidInput, match="observation_scopes"):
        read_scope_rule(rule)


@given(st.lists(st.integers(0, 30), unique=True), st.sets(st.integers(0, 30)))
def test_only_what_fails_alone_is_set_aside(items: list[int], poison: set[int]) -> None:
    def work(some: Any) -> list[int]:
        if poison.intersection(some):
            raise ValueError("poison")
        return list(some)

    parts, failed = split_poison(items, work)
    assert failed == [item for item in items if item in poison]
    assert [item for part in parts for item in part] == [item for item in items if item not in poison]
