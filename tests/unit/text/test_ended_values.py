"""Values that a sentence names as over, corrections, and plain statements."""

from __future__ import annotations

import pytest

from perdure.text.assertion import is_plain_statement, speaks_of_change, speaks_of_end
from perdure.text.correction import is_correction
from perdure.text.ended_values import ended_values
from perdure.text.habits import habit_of


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Jenkins is gone, we shut it down on Friday.", "Jenkins"),
        ("Felix and I broke up.", "Felix"),
        ("I use Zed now instead of Sublime.", "Sublime"),
        ("Sumi has replaced Trattoria Nove as my favourite.", "Trattoria Nove"),
        ("I gave up on Japanese.", "Japanese"),
        ("We migrated from Postgres to MySQL.", "Postgres"),
        ("It's walnuts, not almonds.", "almonds"),
        ("I used to be Catholic.", "Catholic"),
        ("Petra moved out this weekend.", "Petra"),
    ],
)
def test_the_value_that_is_over(said: str, value: str) -> None:
    assert value in [ended.value for ended in ended_values(said)]


@pytest.mark.parametrize(
    "said",
    ["No, I haven't left the post office.", "I might quit the choir.", "Did you quit the choir?", "We will drop Jenkins."],
)  # fmt: skip
def test_what_is_not_over_ends_nothing(said: str) -> None:
    assert ended_values(said) == ()


@pytest.mark.parametrize(
    ("said", "corrects"),
    [("Sorry, I meant Thursday.", True), ("Scratch that, it's at four.", True), ("I misspoke, it's Kotlin.", True), ("*Australia, sorry", True),
     ("Make that Thursday.", True), ("I moved to Rome.", False), ("I meant to call you.", False), ("It never rains.", False)],
)  # fmt: skip
def test_corrections_are_known_by_their_words(said: str, corrects: bool) -> None:
    assert is_correction(said) is corrects


def test_plain_statements_of_change() -> None:
    assert is_plain_statement("Bosch pays my salary these days.")
    assert speaks_of_change("Bosch pays my salary these days.")
    assert speaks_of_end("Intel showed me the door.")
    for said in (
        "I would move.",
        "Maybe I'm moving.",
        "I'm in Rome this week.",
        "My cousin moved.",
        "I don't smoke.",
    ):
        assert not is_plain_statement(said)


def test_a_habit_is_what_somebody_does_with_what() -> None:
    habit = habit_of("I sing in the choir at St Brannock's on Wednesdays.")
    assert habit is not None
    assert (habit.verb, habit.object) == ("sing in", "choir")
    assert habit_of("I love this community.") is None
    assert habit_of("I sang in the choir.") is None
