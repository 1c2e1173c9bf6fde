"""Each reader gives a few words and the fact they come from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from perdure.domain.fact import PLANNED, UNSURE_DATE
from perdure.domain.recall import Evidence
from perdure.reflect.pipeline import reflect
from perdure.reflect.reflection import NO_ANSWER
from tests.unit.reflect.reflect_kit import TAGGER, answered, day, fact, recalled

needs_parser = pytest.mark.skipif(not TAGGER.has_parser, reason="without a parser no phrases are read")


def happened(text: str, window: object, number: int = 1, **fields: object):  # type: ignore[no-untyped-def]
    return replace(
        fact(text, number, **fields),
        occurred_start=window.start,  # type: ignore[attr-defined]
        occurred_end=window.end,  # type: ignore[attr-defined]
    )


@needs_parser
@pytest.mark.parametrize(
    ("question", "statement", "answer"),
    [
        ("Who taught Priya to sail?", "Priya learned to sail because Marek taught Priya to sail last summer.", "Marek"),
        ("Who did Tomas travel with?", "Tomas travelled to Oslo with his cousin Ines in March.", "Ines"),
        ("Who repaired the boiler?", "Mr Okafor repaired the boiler on Monday.", "Okafor"),
        ("Where did Lena buy the lamp?", "Lena bought the lamp in Antwerp for her desk.", "Antwerp"),
        ("Where does the choir rehearse?", "The choir rehearses in the old town hall every Tuesday.", "old town hall"),
        ("Where is Wanda from?", "Wanda is from Gdansk and moved west as a child.", "Gdansk"),
    ],
)  # fmt: skip
def test_who_and_where_give_the_name_or_place(question: str, statement: str, answer: str) -> None:
    reflection = answered(question, statement)
    assert reflection.answer is not None
    assert answer in reflection.answer
    assert len(reflection.answer.split()) <= 6
    assert reflection.sentences[0].fact_ids == ("f1",)


@needs_parser
@pytest.mark.parametrize(
    ("question", "statement", "answer"),
    [
        ("What did Omar plant in the garden?", "Omar planted three apple trees in the garden.", "apple trees"),
        ("What book is Freya reading?", 'Freya is reading "The Salt Road" on the train.', "The Salt Road"),
        ("What is the name of Bruno's parrot?", "Bruno has a parrot called Kiko that talks a lot.", "Kiko"),
        ("What did Sofia give her brother?", "Sofia gave her brother a wooden chess set.", "wooden chess set"),
        ("Why did Nadia sell the car?", "Nadia sold the car because the repairs cost too much.", "repairs cost too much"),
        ("How did Piotr feel after the exam?", "Piotr felt relieved after the exam.", "relieved"),
    ],
)  # fmt: skip
def test_what_why_and_how_give_the_phrase_that_answers(question: str, statement: str, answer: str) -> None:
    reflection = answered(question, statement)
    assert reflection.answer is not None
    assert answer in reflection.answer


def test_when_gives_the_stored_day() -> None:
    statement = happened("Greta visited the dentist yesterday.", day(2026, 6, 9))
    reflection = answered("When did Greta visit the dentist?", statement)
    assert reflection.answer == "9 June 2026"
    assert "9 June 2026" in reflection.sentences[0].text


def test_when_names_the_week_and_what_it_is_counted_from() -> None:
    statement = replace(
        fact("Greta painted the fence last week."),
        occurred_start=datetime(2026, 6, 1, tzinfo=UTC),
        occurred_end=datetime(2026, 6, 8, tzinfo=UTC),
    )
    answer = answered("When did Greta paint the fence?", statement).answer
    assert answer == "1 to 7 June 2026, the week before 10 June 2026"


def test_when_never_tells_an_unsure_date() -> None:
    statement = happened("Greta visited the dentist on Friday.", day(2026, 6, 5), flags=(UNSURE_DATE,))
    reflection = answered("When did Greta visit the dentist?", statement)
    assert reflection.answer == "said on 10 June 2026"
    assert "5 June" not in reflection.text


def test_when_gives_the_year_or_the_month_that_is_asked_for() -> None:
    statement = happened("Greta visited Porto on 3 May.", day(2025, 5, 3))
    assert answered("What year did Greta visit Porto?", statement).answer == "2025"
    assert answered("Which month did Greta visit Porto?", statement).answer == "May 2025"


def test_how_long_ago_is_counted_from_the_question() -> None:
    statement = happened("Greta visited Porto on 27 May.", day(2026, 5, 27))
    assert answered("How many weeks ago did Greta visit Porto?", statement).answer == "2 weeks ago"


def test_a_plan_has_its_time_too() -> None:
    statement = happened("Greta flies to Porto on 3 July.", day(2026, 7, 3), flags=(PLANNED,))
    assert answered("When does Greta fly to Porto?", statement).answer == "3 July 2026"


@pytest.mark.parametrize(
    ("question", "statement", "answer"),
    [
        ("How long has Yusuf played the oboe?", "Yusuf has played the oboe for nine years.", "nine years"),
        ("How long was the hike?", "The hike took about 6 hours with breaks.", "about 6 hours"),
        ("How many sheep does Ailsa keep?", "Ailsa keeps 14 sheep behind the house.", "14"),
        ("How many cousins does Rafa have?", "Rafa has seven cousins in Lima.", "seven"),
        ("How much did the sofa cost?", "The sofa cost $420 in the sale.", "$420"),
        ("How old is Vera's grandson?", "Vera's grandson is 4 years old.", "4"),
        ("How often does Kai swim?", "Kai swims twice a week before work.", "twice a week"),
    ],
)
def test_durations_and_numbers_are_read_as_stated(question: str, statement: str, answer: str) -> None:
    assert answered(question, statement).answer == answer


@needs_parser
def test_a_count_over_facts_says_that_it_is_one() -> None:
    reflection = answered(
        "How many museums has Elif visited?",
        "Elif visited the maritime museum in Bergen.",
        "Elif visited the glass museum in Murano.",
        "Elif visited the toy museum in Basel.",
    )
    assert reflection.answer == "three"
    assert len(reflection.based_on) == 3
    assert "counted over 3 facts" in reflection.text


@needs_parser
def test_a_list_is_gathered_from_several_facts() -> None:
    reflection = answered(
        "Which instruments does Juno play?",
        "Juno plays the cello in an orchestra.",
        "Juno plays the harmonica at parties.",
        "Juno plays the drums on Sundays.",
    )
    assert {value.lower() for value in reflection.values} >= {"cello", "harmonica", "drums"}
    assert {fact_id for one in reflection.sentences for fact_id in one.fact_ids} == {"f1", "f2", "f3"}


@pytest.mark.parametrize(
    ("question", "statement", "answer"),
    [
        ("Does Mina eat fish?", "Mina eats fish on Fridays.", "Yes"),
        ("Does Mina eat fish?", "Mina does not eat fish.", "No"),
        ("Did Oskar finish the marathon?", "Oskar never finished the marathon.", "No"),
        ("Is the shop not open on Sundays?", "The shop is not open on Sundays.", "Yes"),
        ("Does Mina still play tennis?", "Mina stopped playing tennis.", "No"),
    ],
)
def test_yes_or_no_follows_the_polarity(question: str, statement: str, answer: str) -> None:
    assert answered(question, statement).answer == answer


@pytest.mark.parametrize(
    ("question", "statements", "answer"),
    [
        ("Would Mina enjoy a day of hiking?", ["Mina loves hiking.", "Mina works in Ghent."], "Likely yes"),
        ("Would Mina be interested in jazz concerts?", ["Mina can't stand jazz."], "Likely no"),
        ("Might Mina take up pottery?", ["Mina likes pottery (an opinion)."], "Likely yes"),
        ("Would Mina enjoy a day of hiking?", ["Mina loves hiking.", "Mina hates hiking in the rain."], None),
        ("Would Mina enjoy a day of hiking?", ["Mina sometimes likes hiking."], None),
        ("Would Mina enjoy a day of hiking?", ["Mina loves opera."], None),
    ],
)
def test_a_conclusion_follows_from_likings_that_bear_on_it(
    question: str, statements: list[str], answer: str | None
) -> None:
    facts = [
        fact(text, number, speaker="Mina", entities=("Mina",))
        for number, text in enumerate(statements, start=1)
    ]
    reflection = answered(question, *facts)
    assert reflection.answer == answer
    if answer is not None:
        assert reflection.trace.reader == "conclusion"
        assert reflection.sentences[0].fact_ids == ("f1",)
        assert "since Mina" in reflection.text


def test_a_conclusion_needs_likings_of_the_person_asked_about() -> None:
    own = fact("Mina works in Ghent.", 1, speaker="Mina", entities=("Mina",))
    other = fact("Mina said: Otto loves hiking.", 2, speaker="Mina", entities=("Otto", "Mina"))
    assert answered("Would Mina enjoy a day of hiking?", own, other).answer is None


def test_facts_beside_a_supported_one_are_said_too_and_alone_are_no_answer() -> None:
    question = "What did Mina buy?"
    facts = [
        fact("Mina bought a kettle.", 1, speaker="Mina"),
        fact("Mina found shoes on sale.", 2, speaker="Mina"),
    ]
    result = recalled(question, facts)
    first, second = result.recollections
    beside = replace(second, evidence=Evidence.NONE, score=0.01)
    told = reflect(replace(result, recollections=(first, beside)), tagger=TAGGER)
    assert [one.evidence for one in told.sentences] == [Evidence.STRONG, Evidence.NONE]
    assert reflect(replace(result, recollections=(beside,)), tagger=TAGGER).is_refusal


def test_as_many_sentences_are_said_as_fit_and_one_at_least() -> None:
    result = recalled("What does Mina own?", [f"Mina owns a lamp of colour {number}." for number in range(6)])
    short = reflect(result, tagger=TAGGER, fits=lambda text: len(text) <= 120)
    assert 1 <= len(short.sentences) < len(reflect(result, tagger=TAGGER).sentences)
    assert len(short.text) <= 120
    assert len(reflect(result, tagger=TAGGER, fits=lambda text: False).sentences) == 1


def test_yes_or_no_stays_open_where_the_facts_speak_of_something_else() -> None:
    assert answered("Does Mina own a boat?", "Mina eats fish on Fridays.").answer is None


@pytest.mark.parametrize(
    ("question", "statement", "answer"),
    [
        ("Does Hugo prefer tea or coffee?", "Hugo drinks tea with every meal.", "tea"),
        ("Does Hugo live in the city or the countryside?", "Hugo lives in the countryside near a lake.", "countryside"),
    ],
)  # fmt: skip
def test_a_choice_is_the_option_that_facts_speak_of(question: str, statement: str, answer: str) -> None:
    assert answered(question, statement).answer == answer


def test_which_came_first_is_decided_by_the_facts_times() -> None:
    reflection = answered(
        "What did Hugo fix first, the roof or the gate?",
        happened("Hugo fixed the roof in May.", day(2026, 5, 20), 1),
        happened("Hugo fixed the gate in April.", day(2026, 4, 2), 2),
    )
    assert reflection.answer == "gate"
    assert {one.fact.id for one in reflection.based_on} == {"f1", "f2"}


def test_the_latest_value_is_the_stored_object() -> None:
    statement = fact(
        "Hanna has moved, she now lives in Turku.", subject="Hanna", relation="lives_in", object="Turku"
    )
    assert answered("Where does Hanna live?", statement).answer == "Turku"


def test_without_facts_memory_holds_no_answer() -> None:
    reflection = answered("Where does Hanna live?")
    assert reflection.text == NO_ANSWER
    assert reflection.is_refusal
    assert reflection.answer is None


def test_a_question_that_somebody_asked_is_no_answer() -> None:
    reflection = answered("What did Hugo cook?", 'Ida asked Hugo: "What did you cook?"')
    assert reflection.is_refusal
