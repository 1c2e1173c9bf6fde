"""Which slot of which subject a question asks for, and which statements tell it."""

from __future__ import annotations

import pytest

from perdure.text.asked_slot import read_asked_slot
from perdure.text.supposition import is_asked, is_supposed


@pytest.mark.parametrize(
    ("question", "subject", "relation"),
    [
        ("Where does Ann live now?", "Ann", "lives_in"),
        ("Where did Ann live before Lisbon?", "Ann", "lives_in"),
        ("Where does Ann's sister Klara live?", "Ann's sister Klara", "lives_in"),
        ("Who is Ann's boss?", "Ann", "reports_to"),
        ("What's the user's phone number?", "user", "phone"),
        ("What car does the user drive?", "user", "drives"),
        ("How much rent does Ann pay?", "Ann", "rent"),
        ("How old is Ann's son?", "Ann's son", "age"),
        ("Which database does Tidal use?", "Tidal", "uses_database"),
        ("Who is Ann's dentist?", "Ann", "dentist"),
        ("What is Ann's favorite tea?", "Ann", "favourite_tea"),
        ("When is Ann's birthday?", "Ann", "birthday"),
        ("When is the launch?", "launch", "date"),
        ("How did Ann travel to work in October?", "Ann", "commutes_by"),
    ],
)
def test_a_question_asks_for_a_slot(question: str, subject: str, relation: str) -> None:
    asked = read_asked_slot(question)
    assert asked is not None
    assert (asked.subject, asked.relations[0]) == (subject, relation)


@pytest.mark.parametrize(
    "question",
    [
        "What did Ann say about the house?",
        "Why is Ann sad?",
        "Tell something about Lisbon",
        "How tall is it there?",
    ],
)
def test_other_questions_ask_for_none(question: str) -> None:
    assert read_asked_slot(question) is None


@pytest.mark.parametrize(
    ("question", "statement", "tells"),
    [
        ("Where does Kai work?", "Kai is starting at Rheinwerk Labs, they make heat pumps.", True),
        ("Where does Nora work?", "Nora cycles to work these days, along the canal.", False),
        ("How does Nora get to work?", "Nora takes bus 11 to work and it's always late.", True),
        ("What is Jonna's phone number?", "Jonna has got a Portuguese number now: 912 555 047.", True),
        ("What is Jonna's phone number?", "The German phone is dead.", False),
        ("Which database does Tidal use?", "We switched Tidal from DuckDB to ClickHouse.", True),
        ("Does Kai still go climbing?", "Not climbing, I gave that up.", True),
    ],
)
def test_words_tell_a_value_that_was_not_read_as_one(question: str, statement: str, tells: bool) -> None:
    asked = read_asked_slot(question)
    assert asked is not None
    assert asked.is_told_by(statement) is tells


def test_relations_of_one_family_answer_together() -> None:
    asked = read_asked_slot("Who is Ann's partner?")
    assert asked is not None
    assert {"partner", "married_to", "separated_from"} <= set(asked.relations)
    assert asked.states("Ann", "married_to")
    assert not asked.states("Bo", "married_to")


@pytest.mark.parametrize(
    "text",
    [
        "If Jonna lived in Basel Jonna would be broke by Tuesday.",
        'Nora is reading a novel that opens with "I live in Reykjavik now, in a room with no clocks."',
        "Emil and Nora are thinking of moving to Gothenburg some day.",
        "The user's colleague Bea says 'I work at the Nuffield now', lucky her.",
        'Kai said: "We might move to Basel next year."',
    ],
)
def test_what_is_supposed_or_told_as_a_story_asserts_nothing(text: str) -> None:
    assert is_supposed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nora lives in Uppsala.",
        'Nora said: "We store everything in DuckDB."',
        "88 Hoe Street if you want to send plants.",
    ],
)
def test_a_plain_statement_asserts(text: str) -> None:
    assert not is_supposed(text)
    assert not is_asked(text)


def test_that_somebody_asked_is_no_statement() -> None:
    assert is_asked('Jonna asked Kai: "And the job?"')
