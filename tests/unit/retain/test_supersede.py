"""Supersession: a newer truth ends the older one, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact
from perdure.retain.supersede import closures, contested_pairs, same_value

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def day(year: int, month: int = 1) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)


def lives(
    fact_id: str, place: str, since: datetime, *, speaker: str = "", relation: str = "lives_in"
) -> Fact:
    return Fact(
        id=fact_id, bank="b", text=f"Ann lives in {place}.", subject="Ann", relation=relation, object=place,
        valid_from=since, mentioned_at=since, recorded_at=since, speaker=speaker,
    )  # fmt: skip


def test_a_new_value_closes_the_old_one_on_both_axes() -> None:
    (closure,) = closures([lives("new", "Porto", day(2023))], [lives("old", "Lisbon", day(2020))], NOW)
    assert closure.fact_id == "old"
    assert closure.superseded_by == "new"
    assert closure.valid_to == day(2023)
    assert closure.retired_at == NOW


def test_the_same_value_again_closes_nothing() -> None:
    assert (
        closures([lives("new", "Lisbon, Portugal", day(2023))], [lives("old", "Lisbon", day(2020))], NOW)
        == []
    )


def test_an_older_statement_that_comes_late_is_closed_itself() -> None:
    (closure,) = closures([lives("late", "Lisbon", day(2019))], [lives("now", "Porto", day(2023))], NOW)
    assert (closure.fact_id, closure.superseded_by, closure.valid_to) == ("late", "now", day(2023))


def test_a_batch_is_a_chain() -> None:
    new = [lives("b", "Porto", day(2021)), lives("a", "Lisbon", day(2020)), lives("c", "Rome", day(2022))]
    assert {(c.fact_id, c.superseded_by) for c in closures(new, [], NOW)} == {("a", "b"), ("b", "c")}


def test_relations_with_many_values_and_other_subjects_are_left_alone() -> None:
    assert (
        closures(
            [lives("n", "Porto", day(2023), relation="visited")],
            [lives("o", "Rome", day(2020), relation="visited")],
            NOW,
        )
        == []
    )
    other = Fact(
        id="o", bank="b", text="x", subject="Bob", relation="lives_in", object="Rome", valid_from=day(2020)
    )
    assert closures([lives("n", "Porto", day(2023))], [other], NOW) == []


def test_closed_facts_are_not_closed_again() -> None:
    old = Fact(id="o", bank="b", text="x", subject="Ann", relation="lives_in", object="Rome", valid_from=day(2020),
               recorded_at=day(2020), retired_at=day(2021), superseded_by="z")  # fmt: skip
    assert closures([lives("n", "Porto", day(2023))], [old], NOW) == []


def test_what_somebody_says_of_themselves_outlasts_what_others_say() -> None:
    own = lives("own", "Lisbon", day(2020), speaker="Ann")
    assert closures([lives("talk", "Porto", day(2023), speaker="Bob")], [own], NOW) == []
    assert closures([lives("self", "Porto", day(2023), speaker="Ann")], [own], NOW) != []


def test_orders_to_the_agent_close_nothing() -> None:
    order = Fact(id="n", bank="b", text="x", subject="Ann", relation="lives_in", object="Rome", valid_from=day(2023),
                 flags=("instruction",))  # fmt: skip
    assert closures([order], [lives("old", "Lisbon", day(2020))], NOW) == []


def test_leaving_ends_working_there() -> None:
    works = lives("w", "Acme", day(2020), relation="works_at")
    left = lives("l", "Acme", day(2023), relation="left")
    (closure,) = closures([left], [works, lives("x", "Lisbon", day(2020))], NOW)
    assert (closure.fact_id, closure.superseded_by) == ("w", "l")
    assert contested_pairs([left]) == {("Ann", "works_at")}
    assert contested_pairs([works, lives("v", "Rome", day(2020), relation="visited")]) == {
        ("Ann", "works_at")
    }


def test_an_end_is_never_before_its_beginning() -> None:
    old = lives("old", "Lisbon", day(2023))
    new = Fact(id="new", bank="b", text="x", subject="Ann", relation="lives_in", object="Rome", mentioned_at=day(2023, 5),
               valid_from=day(2023, 2), recorded_at=NOW)  # fmt: skip
    (closure,) = closures([new], [old], NOW)
    assert closure.valid_to is not None
    assert closure.valid_to >= day(2023)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [("Lisbon", "lisbon", True), ("Lisbon", "Lisbon, Portugal", True), ("32", "33", False), ("Acme Inc.", "Acme", True),
     ("teal", "green", False), ("software engineer", "software enginer", True)],
)  # fmt: skip
def test_same_values(first: str, second: str, same: bool) -> None:
    assert same_value(first, second) is same
