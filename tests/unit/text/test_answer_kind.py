"""What an answer must hold, and how questions that ask for a value are read."""

from __future__ import annotations

import pytest

from perdure.domain.recall import Stance
from perdure.text.answer_kind import AnswerKind, asked_kind, may_hold
from perdure.text.asked_slot import read_asked_slot
from perdure.text.asking import as_question
from perdure.text.stance import is_past_tense, read_stance
from perdure.text.supposition import is_asked, is_supposed


@pytest.mark.parametrize(
    ("question", "relation", "kind"),
    [
        ("Who is my boss?", "reports_to", AnswerKind.NAME),
        ("How much rent do I pay?", "rent", AnswerKind.NUMBER),
        ("When is the launch?", "date", AnswerKind.TIME),
        ("What is my phone number?", "phone", AnswerKind.NUMBER),
        ("Where do I live?", "lives_in", AnswerKind.ANY),
        ("Is my boss Mia?", "reports_to", AnswerKind.ANY),
    ],
)
def test_the_first_words_or_the_slot_tell_the_kind(question: str, relation: str, kind: AnswerKind) -> None:
    assert asked_kind(question, relation) is kind


def test_a_statement_without_a_value_of_the_kind_cannot_answer() -> None:
    assert may_hold(AnswerKind.NUMBER, "The rent is 900 now.", (), ())
    assert may_hold(AnswerKind.NUMBER, "She is four.", (), ())
    assert not may_hold(AnswerKind.NUMBER, "The rent hurts.", (), ())
    assert may_hold(AnswerKind.TIME, "It was moved to Friday.", (), ())
    assert not may_hold(AnswerKind.TIME, "It was fun.", (), ())


def test_a_name_is_one_besides_those_of_the_question() -> None:
    assert may_hold(AnswerKind.NAME, "Mia is my boss.", ("Mia",), ("Ann",))
    assert not may_hold(AnswerKind.NAME, "Ann likes her boss.", ("Ann",), ("Ann",))
    assert may_hold(AnswerKind.NAME, "my boss is mia", (), ("Ann",))


@pytest.mark.parametrize(
    ("question", "is_one"),
    [("Which instrument does Ann play?", True), ("Which instruments does Ann play?", False)],
)
def test_the_number_of_the_noun_tells_whether_one_value_is_asked_for(question: str, is_one: bool) -> None:
    slot = read_asked_slot(question)
    assert slot is not None
    assert slot.one is is_one


def test_a_kind_of_thing_is_the_thing() -> None:
    assert read_asked_slot("What type of car does Ann drive?") == read_asked_slot("What car does Ann drive?")


@pytest.mark.parametrize(
    ("request_", "question"),
    [
        ("Remind me of my address", "What is my address"),
        ("Can you please tell me Kim's phone number?", "What is Kim's phone number?"),
        ("Tell me a story", "Tell me a story"),
    ],
)
def test_a_request_for_a_value_is_a_question(request_: str, question: str) -> None:
    assert as_question(request_) == question


def test_a_plain_past_tense_is_told_from_other_signs_of_the_past() -> None:
    assert read_stance("Who was Ann married to?").plainly_past
    assert not read_stance("Has Ann ever been married?").plainly_past
    assert read_stance("Which school was Ann at before?").stance is Stance.PAST
    assert is_past_tense("What did Ann do in the summer?")
    assert not is_past_tense("What will Ann do?")


def test_a_question_beside_a_statement_takes_nothing_from_it() -> None:
    assert not is_supposed('Asked "Do you still play?", Ann said: "There is a jazz trio at uni."')
    assert not is_asked('Ann\'s laptop is dying. Ann asked: "What would you do?"')
    assert is_asked('Ann asked Bo: "Would you go?"')
    assert not is_supposed("They want Tomas in the office.")
    assert is_supposed("Ann wants to move to Rome.")
