"""How statements are told apart by their words."""

from __future__ import annotations

import pytest

from perdure.retain.statement_words import kin_subject, names_and_numbers, other_of_kind


@pytest.mark.parametrize(
    ("text", "kin"),
    [
        ("Gran's got a new number", "gran"),
        ("My friend Tara moved to Basel", "friend"),
        ("Mein bester Freund ist nach Köln gezogen", "freund"),
        ("I live in Antwerp with my sister", ""),
        ("I stay at my mum's place", ""),
    ],
)
def test_somebody_else_is_the_subject_only_at_the_beginning_of_a_clause(text: str, kin: str) -> None:
    assert kin_subject(text) == kin


def test_a_noun_with_another_word_before_it_is_another_thing() -> None:
    assert other_of_kind("thesis deadline's 14 June", "Conference deadline got moved to 30 June")
    assert not other_of_kind("my phone is 1234", "the new phone is 5678")
    assert not other_of_kind("my thesis deadline is 14 June", "the deadline moved to 30 June")


def test_the_same_first_name_with_another_surname_is_somebody_else() -> None:
    assert other_of_kind("Jonathan Reed is a pilot", "Jonathan Reeves is a baker")
    assert not other_of_kind("Jonathan Reed is a pilot", "Jonathan Reed is a baker now")


def test_names_and_numbers_leave_out_the_speaker_and_who_is_addressed() -> None:
    assert names_and_numbers("Thanks, Mel! I pay Ann 700 in Bath", "Ann") == {"700", "bath"}
