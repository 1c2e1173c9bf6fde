"""Questions in the first person, put into the third."""

from __future__ import annotations

import pytest

from perdure.text.third_person import in_third_person, speaks_of_asker


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Where do I live?", "Where does Kim live?"),
        ("What's my phone number?", "What's Kim's phone number?"),
        ("Am I still a vegetarian?", "Is Kim still a vegetarian?"),
        ("Which cats have I had?", "Which cats has Kim had?"),
        ("Don't I have a dog?", "Doesn't Kim have a dog?"),
        ("Tell me where I work now", "where Kim works now"),
        ("Remind me what I'm allergic to", "what Kim is allergic to"),
        ("Which car do we have?", "Which car does Kim have?"),
        ("What did I say I wanted?", "What did Kim say Kim wanted?"),
        ("what do i do for a living", "what does Kim do for a living"),
        ("Where was our wedding?", "Where was Kim's wedding?"),
        ("Is the red car mine?", "Is the red car Kim's?"),
        ("I usually take the bus; which one?", "Kim usually takes the bus; which one?"),
    ],
)
def test_the_name_stands_for_the_pronoun_and_the_verb_agrees(asked: str, told: str) -> None:
    assert in_third_person(asked, "Kim") == told


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ann live?",
        "What did you tell me about roses?",
        "Which companies of the US did Ann visit?",
        "Wo wohnt Ann?",
    ],
)
def test_a_question_about_others_stays_as_it_is(question: str) -> None:
    assert not speaks_of_asker(question)
    assert in_third_person(question, "Kim") == question


@pytest.mark.parametrize("question", ["Wo wohne ich?", "¿Quién es mi jefe?", "Quel est mon travail ?"])
def test_the_name_is_added_to_questions_in_other_languages(question: str) -> None:
    assert in_third_person(question, "Kim") == f"{question} (Kim)"


def test_a_user_without_a_name_is_named_as_facts_name_one() -> None:
    assert (
        in_third_person("Where do I park my car?", "the user") == "Where does the user park the user's car?"
    )
