"""How a question stands to time, by its words."""

from __future__ import annotations

import pytest

from perdure.domain.recall import Stance
from perdure.text.stance import read_stance

NOW = [
    "Where does Ann live?", "Where does Ann live now?", "What is my current address?", "Does Ann still work at Google?",
    "How old is Ann?", "What pets does Ann have?", "When is my flight?", "What should I do before the trip?",
    "What do I need to pack before Friday?", "Who will visit us next week?", "Is Ann still in her old job?",
    "Wo wohnt Ann jetzt?", "Was muss ich vor zwei Uhr erledigen?", "¿Dónde vive Ana?", "Où habite Anne ?",
]  # fmt: skip
PAST = [
    "Where did she use to live?", "What was my previous address?", "Who is my former boss?", "What's my old phone number?",
    "Who is Ann's ex-husband?", "Where did I work before Bosch?", "Where did Ann live prior to Lisbon?", "Who was my boss back then?",
    "Wo hat Ann früher gewohnt?", "Was war meine alte Nummer?", "Wie heißt ihr ehemaliger Chef?", "¿Dónde vivía Ana antes?",
    "¿Cuál era mi número anterior?", "Où habitait Anne autrefois ?", "Quel est mon ancien numéro ?",
]  # fmt: skip
ANY = [
    "Has she ever lived in Berlin?", "Which cities has she lived in?", "When did I move?", "How long did I live in Oslo?",
    "What was my phone number?", "Where have I lived?", "What did we decide about the database?", "Welche Autos hatte ich schon?",
    "Wo hat Ann gewohnt?", "¿Ha vivido alguna vez en Berlín?", "¿Dónde vivió Ana?", "Où Anne a-t-elle habité ?",
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "stance"),
    [(question, Stance.NOW) for question in NOW]
    + [(question, Stance.PAST) for question in PAST]
    + [(question, Stance.ANY) for question in ANY],
)
def test_a_question_asks_for_what_is_or_was(question: str, stance: Stance) -> None:
    assert read_stance(question).stance is stance


def test_a_stretch_of_time_that_is_over_asks_for_the_past_unless_the_words_say_otherwise() -> None:
    assert read_stance("Ann's address in 2024?", past_window=True).stance is Stance.PAST
    assert read_stance("Where did Ann live in 2024?", past_window=True).stance is Stance.PAST
    assert read_stance("Does Ann still live where she moved in 2024?", past_window=True).stance is Stance.NOW


def test_what_came_afterwards_and_the_very_first_are_told() -> None:
    assert read_stance("Where did I work before Bosch?").before == "Bosch"
    assert read_stance("Wo wohnte Ann vor Lissabon?").before == "Lissabon"
    assert read_stance("Where did Ann originally live?").earliest
    assert not read_stance("Where did Ann live before?").before
