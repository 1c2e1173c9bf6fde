"""The local extractor with the installed English pipeline."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from perdure.extract.local import LocalExtractor
from perdure.models.spacy_tagger import SpacyTagger, find_pipeline
from perdure.ports.extractor import ExtractedFact, Turn

pytestmark = pytest.mark.skipif(find_pipeline() is None, reason="needs perdure[nlp]")
SAID = datetime(2024, 3, 14, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> LocalExtractor:
    return LocalExtractor(SpacyTagger())


def facts(extractor: LocalExtractor, *lines: tuple[str, str]) -> list[ExtractedFact]:
    return extractor.extract([Turn(text=text, speaker=who, said_at=SAID) for who, text in lines])


def texts(extractor: LocalExtractor, *lines: tuple[str, str]) -> list[str]:
    return [fact.text for fact in facts(extractor, *lines)]


def test_each_clause_has_its_own_verbs_entities_and_time(extractor: LocalExtractor) -> None:
    first, second = facts(
        extractor, ("Ann", "I visited Lisbon yesterday, I love the trams and want to go back.")
    )
    assert first.text == "Ann visited Lisbon yesterday."
    assert ("Lisbon", "place") in {(m.text, m.type) for m in first.mentions}
    assert first.occurred is not None
    assert second.text == "Ann loves the trams and wants to go back."
    assert second.occurred is None
    assert "Lisbon" not in {m.text for m in second.mentions}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I quit my job and my wife started her own studio in Porto.",
         ["Ann quit Ann's job.", "Ann's wife started her own studio in Porto."]),
        ("I used to live in Rome but now I live in Oslo with my two cats.",
         ["Ann used to live in Rome.", "Now Ann lives in Oslo with Ann's two cats."]),
        ("I was born in Ankara and grew up in Izmir.", ["Ann was born in Ankara.", "Ann grew up in Izmir."]),
        ("I bought a red bike and I love it.", ["Ann bought a red bike and Ann loves it."]),
        ("I think Porto is lovely and the people are kind.", ["Ann thinks Porto is lovely and the people are kind."]),
        ("If it rains I stay home and my kids play chess.", ["If it rains Ann stays home and Ann's kids play chess."]),
        ('My aunt said "I quit and I moved to Rome" and my uncle laughed about that.',
         ['Ann\'s aunt said "I quit and I moved to Rome" and Ann\'s uncle laughed about that.']),
        ("My son Emre plays the violin. He has a concert in the old church. His teacher is strict.",
         ["Ann's son Emre plays the violin.", "Ann said: Emre has a concert in the old church.",
          "Ann said: Emre's teacher is strict."]),
    ],
)  # fmt: skip
def test_statements_that_stand_alone_are_facts(extractor: LocalExtractor, said: str, told: list[str]) -> None:
    assert texts(extractor, ("Ann", said)) == told


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("Where do you live now?", "Lisbon.", "Ann lives in Lisbon now."),
        ("What's your new number?", "0171 555 333.", "Ann's new number is 0171 555 333."),
        ("Do you prefer tea or coffee?", "Coffee.", "Ann prefers coffee."),
        ("Is your mom still in Porto?", "No, not anymore.", "Ann's mom is no longer in Porto."),
        ("What kind of car do you drive?", "A Volvo.", "The kind of car Ann drives is a Volvo."),
        ("Who owns the pricing page?", "Me.", "Ann owns the pricing page."),
        ("How long have you lived in Ghent?", "Three years.", "Ann has lived in Ghent for three years."),
        ("When is your birthday?", "March 4th.", "Ann's birthday is on March 4th."),
        ("What about the job at Umicore?", "Quit in January.", "Ann quit the job at Umicore in January."),
        ("You still have the dog, right?", "Yeah, of course.", "Ann still has the dog."),
        ("What do you do for work?", "Nurse.", 'Asked by Bob "What do you do for work?", Ann said: "Nurse."'),
        ("You really did?", "Yes!", 'Asked by Bob "You really did?", Ann said: "Yes!"'),
    ],
)
def test_answers_become_statements(extractor: LocalExtractor, question: str, answer: str, told: str) -> None:
    lines = facts(extractor, ("Bob", question), ("Ann", answer))
    assert lines[-1].text == told
    assert lines[-1].source_text == answer


@pytest.mark.parametrize(
    "said",
    [
        "I met Tom and Jim in the park. He wore a hat.",
        "I left my desk at Barco. She was sad about that.",
        "My cousin Jo works at Barco. He got promoted, my boss I mean.",
    ],
)
def test_no_name_is_put_where_several_or_nobody_can_be_meant(extractor: LocalExtractor, said: str) -> None:
    joined = " ".join(texts(extractor, ("Ann", said)))
    assert re.search(r"\b(?:He|She) (?:wore|was|got)\b", joined)


def test_a_restated_answer_states_its_relation(extractor: LocalExtractor) -> None:
    fact = facts(extractor, ("Bob", "Where do you live now?"), ("Ann", "Lisbon."))[-1]
    assert fact.triple is not None
    assert (fact.triple.subject, fact.triple.relation, fact.triple.object) == ("Ann", "lives_in", "Lisbon")


@pytest.mark.parametrize(
    ("said", "triple"),
    [
        ("I work as a nurse at Mercy Hospital.", ("Ann", "works_at", "Mercy Hospital")),
        ("My brother lives in Berlin.", ("Ann's brother", "lives_in", "Berlin")),
        ("I am married to Robert Hill.", ("Ann", "married_to", "Robert Hill")),
        ("I don't like olives.", ("Ann", "dislikes", "olives")),
    ],
)
def test_relations(extractor: LocalExtractor, said: str, triple: tuple[str, str, str]) -> None:
    found = facts(extractor, ("Ann", said))[0].triple
    assert found is not None
    assert (found.subject, found.relation, found.object) == triple


@pytest.mark.parametrize(
    "said", ["I would love to live in Berlin one day.", "I used to work at Mercy Hospital."]
)
def test_what_is_not_so_is_no_current_value(extractor: LocalExtractor, said: str) -> None:
    assert not any(fact.triple and fact.triple.single_valued for fact in facts(extractor, ("Ann", said)))


def test_odd_text_passes(extractor: LocalExtractor) -> None:
    text = "I \ud800 went 😀😀 to <b>مرحبا</b> ```x\n- a\n" + "z" * 3000
    for fact in facts(extractor, ("Ann", text)):
        assert text[fact.start :].startswith(fact.source_text)
