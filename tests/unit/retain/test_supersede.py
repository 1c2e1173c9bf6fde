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


def test_a_new_value_ends_the_old_one_and_leaves_it_believed() -> None:
    (closure,) = closures([lives("new", "Porto", day(2023))], [lives("old", "Lisbon", day(2020))], NOW)
    assert closure.fact_id == "old"
    assert closure.superseded_by == "new"
    assert closure.valid_to == day(2023)
    assert closure.retired_at is None


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
    assert contested_pairs([left]) == {("Ann", "works_at"), ("Ann", "also_works_at")}
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


def said(fact_id: str, relation: str, value: str, since: datetime, **more: object) -> Fact:
    fields: dict[str, object] = {
        "subject": "Ann",
        "speaker": "Ann",
        "mentioned_at": since,
        "recorded_at": since,
    }
    return Fact(
        id=fact_id, bank="b", text=f"{relation} {value}", relation=relation, object=value, **(fields | more)
    )  # type: ignore[arg-type]


def closed(new: Fact, *old: Fact, now: datetime = NOW) -> list[str]:
    return [closure.fact_id for closure in closures([new], old, now)]


def test_a_correction_is_retired_and_a_change_is_not() -> None:
    old = said("old", "haircut", "Wednesday", day(2024, 5))
    fixed = said("new", "haircut", "Thursday", day(2024, 5), flags=("correction",))
    (closure,) = closures([fixed], [old], NOW)
    assert (closure.retired_at, closure.valid_to) == (NOW, None)
    late = said(
        "new",
        "haircut",
        "Thursday",
        NOW,
        flags=("correction",),
        source_text="The haircut is on Thursday now.",
    )
    (closure,) = closures([late], [said("old", "haircut", "Wednesday", day(2023))], NOW)
    assert (closure.retired_at, closure.valid_to) == (None, NOW)


def test_less_trusted_words_close_nothing() -> None:
    own = lives("own", "Oslo", day(2020))
    assert closed(said("new", "lives_in", "Rome", day(2023), trust=0, speaker=""), own) == []


def test_words_of_nobody_do_not_close_what_somebody_said_of_themself() -> None:
    assert (
        closed(
            said("new", "lives_in", "Rome", day(2023), speaker=""),
            lives("own", "Oslo", day(2020), speaker="Ann"),
        )
        == []
    )


def test_far_ahead_and_a_clock_set_back_close_nothing() -> None:
    old = lives("old", "Oslo", day(2020))
    assert closed(said("new", "lives_in", "Rome", day(2030)), old) == []
    assert closed(said("new", "lives_in", "Rome", day(2019)), old, now=day(2019)) == []


def test_a_plan_closes_nothing_but_the_date_of_an_event_does() -> None:
    plan = said("new", "lives_in", "Rome", day(2023), flags=("planned",))
    assert closed(plan, lives("old", "Oslo", day(2020))) == []
    launch = said("new", "date", "9 November", day(2023), subject="the launch", flags=("planned",))
    assert closed(launch, said("old", "date", "14 October", day(2022), subject="the launch")) == ["old"]


def test_ends_without_a_successor_close_whatever_there_was() -> None:
    partner = said("old", "partner", "Felix", day(2020))
    assert closed(said("new", "separated_from", "", day(2023)), partner) == ["old"]
    assert closed(said("new", "separated_from", "Max", day(2023)), partner) == []
    assert closed(said("new", "marital_status", "single", day(2023)), partner) == ["old"]
    assert closed(said("new", "left", "", day(2023)), said("old", "works_at", "Acme", day(2020))) == ["old"]


def test_a_spouse_is_a_partner() -> None:
    assert closed(
        said("new", "married_to", "Leo", day(2023)), said("old", "partner", "Felix", day(2020))
    ) == ["old"]


def test_several_values_end_one_by_one() -> None:
    pet = said("rex", "has_pet", "dog called Rex", day(2020))
    cat = said("tom", "has_pet", "cat called Tom", day(2020))
    assert closed(said("new", "no_longer_has_pet", "dog", day(2023)), pet, cat) == ["rex"]
    assert closed(said("new", "has_pet", "cat called Soba", day(2023)), pet, cat) == []
    assert closed(said("new", "dislikes", "tea", day(2023)), said("old", "likes", "tea", day(2020))) == [
        "old"
    ]
    assert closed(
        said("new", "takes", "10 mg ramipril", day(2023)), said("old", "takes", "5 mg of ramipril", day(2020))
    ) == ["old"]


def test_a_value_beside_another_ends_none() -> None:
    assert (
        closed(said("new", "also_works_at", "Bosch", day(2023)), said("old", "works_at", "Acme", day(2020)))
        == []
    )


def test_a_named_end_closes_the_value_it_names() -> None:
    gone = said(
        "new",
        "joined",
        "Boulder Barn",
        day(2023),
        source_text="I cancelled at IronHouse and joined the Boulder Barn.",
    )
    assert closed(
        gone, said("gym", "gym", "IronHouse", day(2020)), said("home", "lives_in", "Rome", day(2020))
    ) == ["gym"]


def test_a_thing_may_be_named_more_shortly_by_the_same_speaker() -> None:
    tuesday = said("old", "dentist_appointment", "Tuesday", day(2023))
    moved = said("new", "date", "Thursday", day(2023, 2), subject="the appointment")
    assert closed(moved, tuesday) == ["old"]
    assert closed(moved, tuesday, said("vet", "vet_appointment", "Monday", day(2023))) == []
    assert (
        closed(
            said("new", "date", "Thursday", day(2023, 2), subject="the appointment", speaker="Bob"), tuesday
        )
        == []
    )


def test_kin_are_the_same_by_name_where_a_fact_says_so() -> None:
    tom = said(
        "old", "works_at", "Siemens", day(2020), subject="Tom", source_text="My brother Tom works at Siemens."
    )
    brother = said("new", "works_at", "Bosch", day(2023), subject="Ann's brother")
    assert closed(brother, tom) == ["old"]
    assert closed(said("new", "works_at", "Bosch", day(2023), subject="Ann's sister"), tom) == []
