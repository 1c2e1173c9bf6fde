"""What an answer says of its facts: conflicts, timelines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact
from perdure.recall.answer import timelines
from perdure.recall.current import conflicts


def fact(fact_id: str, **fields: object) -> Fact:
    return Fact(**{"id": fact_id, "bank": "b", "text": f"text of {fact_id}", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("relation", ["lives_in", "works_at", "rent"])
def test_different_objects_of_a_single_valued_relation_are_a_conflict(relation: str) -> None:
    one = fact("1", subject="Ann", relation=relation, object="Blue")
    other = fact("2", subject="ann", relation=relation, object="Red")
    same = fact("3", subject="Ann", relation=relation, object="blue")
    warnings = conflicts([one, other, same])
    assert warnings["1"] == warnings["3"] == f"Conflicts with another result: {relation} Red"
    assert warnings["2"].endswith(f"{relation} Blue, blue")


def test_several_objects_of_other_relations_are_none() -> None:
    likes = [
        fact(str(n), subject="Ann", relation="likes", object=thing) for n, thing in enumerate(("tea", "jam"))
    ]
    assert conflicts([*likes, fact("x", subject="Bob", relation="lives_in", object="Rome")]) == {}


def test_dated_facts_of_one_topic_are_told_in_order() -> None:
    days = [datetime(2024, 1, day, tzinfo=UTC) for day in (3, 1, 2)]
    facts = [fact(str(n), topic="move", mentioned_at=when) for n, when in enumerate(days)]
    (timeline,) = timelines(
        [*facts, fact("alone", topic="cat", mentioned_at=days[0]), fact("undated", topic="move")]
    )
    assert timeline.told({"0": 1, "1": 2, "2": 3}) == (
        "Timeline of move: 2024-01-01 [2], 2024-01-02 [3], 2024-01-03 [1]"
    )
    assert timeline.told({"0": 1, "1": 2}) == "Timeline of move: 2024-01-01 [2], 2024-01-03 [1]"
    assert timeline.told({"0": 1}) == ""
