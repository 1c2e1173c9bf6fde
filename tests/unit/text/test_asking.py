"""Questions without the words that only ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.text.asking import without_asking


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("Can you recommend some podcasts for my commute?", "podcasts for my commute?"),
        ("My cookies need something extra. Any advice?", "My cookies need something extra."),
        ("I am off to Denver soon; do you have any suggestions?", "I am off to Denver soon;"),
        ("Could you please remind me of the hotel you liked?", "the hotel you liked?"),
        ("Where does Ann live?", "Where does Ann live?"),
        ("What do you think of rye bread?", "rye bread?"),
    ],
)
def test_content(question: str, content: str) -> None:
    assert without_asking(question) == content


@pytest.mark.parametrize("question", ["Any tips?", "Can you help me?", "Any advice, please?", "", "?"])
def test_a_question_that_only_asks_stays_as_it_is(question: str) -> None:
    assert without_asking(question) == question


@given(st.text())
def test_never_fails_and_adds_nothing(question: str) -> None:
    assert set(without_asking(question).split()) <= set(question.split())
