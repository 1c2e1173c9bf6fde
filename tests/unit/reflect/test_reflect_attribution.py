"""What is told of one person is no answer to a question about another."""

from __future__ import annotations

import pytest

from perdure.reflect.asked import read_asked
from perdure.reflect.attribution import names_in
from perdure.reflect.passages import About, read_passages
from tests.unit.reflect.reflect_kit import TAGGER, answered, fact, recalled

needs_parser = pytest.mark.skipif(not TAGGER.has_parser, reason="subjects are read from a parse")


def test_a_question_about_the_other_person_is_refused() -> None:
    said = fact("Petra adopted a greyhound from the shelter.", 1, speaker="Petra", subject="Petra")
    other = fact("Colin paints boats.", 2, speaker="Colin", subject="Colin")
    reflection = answered("What did Colin adopt from the shelter?", said, other)
    assert reflection.is_refusal
    assert "told of Petra, not of Colin" in reflection.text
    own = answered("What did Petra adopt from the shelter?", said, other)
    assert "greyhound" in own.text


def test_what_one_says_of_the_other_is_about_the_other() -> None:
    said = fact("Colin said: Petra adopted a greyhound.", 1, speaker="Colin")
    unrelated = fact("Petra likes rain.", 2, speaker="Petra")
    assert not answered("What did Petra adopt?", said, unrelated).is_refusal


@needs_parser
@pytest.mark.parametrize(
    ("text", "speaker", "about"),
    [
        ('Petra said: "I keep bees on the roof."', "Petra", About.OWN),
        ("Petra keeps bees on the roof.", "Petra", About.OWN),
        ("Petra's bees live on the roof.", "Petra", About.OWN),
        ("Colin keeps bees on the roof.", "Colin", About.OTHER),
        ("Colin showed Petra the bees.", "Colin", About.MENTIONED),
    ],
)
def test_of_whom_a_passage_speaks(text: str, speaker: str, about: About) -> None:
    petra = fact("Petra sings.", 9, speaker="Petra")
    result = recalled("Where does Petra keep bees?", [fact(text, 1, speaker=speaker), petra])
    asked = read_asked(result.query, names_in(result), TAGGER)
    assert read_passages(result.recollections, asked, TAGGER)[0].about is about


def test_documents_without_speakers_are_about_whomever_they_name() -> None:
    reflection = answered("Where was Ada Finch born?", "Ada Finch was born in Leeds in 1911.")
    assert "Leeds" in reflection.text
