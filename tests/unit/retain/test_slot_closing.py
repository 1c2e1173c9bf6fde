"""Statements read into slots: who, which slot, which value, and what states none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perdure import Perdure
from perdure.extract.local.relations import find_triples
from perdure.extract.local.slots import slot_triples
from perdure.extract.local.units import Unit
from perdure.ports.extractor import Triple
from perdure.text.voice import Voice

ANN = Voice("Ann")


def read(text: str, *before: Triple) -> list[tuple[str, str, str]]:
    triples = slot_triples(Unit(text, 0, len(text)), ANN, Voice("Bob"), before)
    return [(triple.subject, triple.relation, triple.object) for triple in triples]


@pytest.mark.parametrize(
    ("said", "relation", "value"),
    [
        ("I moved to Porto last month.", "lives_in", "Porto"),
        ("Just moved to Malmö!", "lives_in", "Malmö"),
        ("We're in a tiny flat in Ghent at the moment.", "lives_in", "Ghent"),
        ("I started at Bosch on Monday.", "works_at", "Bosch"),
        ("I quit my job at Google.", "left", "Google"),
        ("I got laid off.", "left", ""),
        ("I'm not working at Google any more.", "left", "Google"),
        ("I was promoted to head nurse.", "works_as", "head nurse"),
        ("We broke up last month.", "separated_from", ""),
        ("I'm single again.", "marital_status", "single"),
        ("Karen is my new boss.", "reports_to", "Karen"),
        ("My dentist is Dr. Osei.", "dentist", "Dr Osei"),
        ("I've got a new number, it's 0467 330 215.", "phone", "0467 330 215"),
        ("My work phone is 030 441 20.", "work_phone", "030 441 20"),
        ("My rent went up to 950 euros.", "rent", "950 euros"),
        ("I traded in the Golf for a Skoda.", "drives", "Skoda"),
        ("I gave up meat.", "diet", "no meat"),
        ("I went vegan.", "diet", "vegan"),
        ("I stopped taking sertraline.", "no_longer_takes", "sertraline"),
        ("Teal is my favourite colour now.", "favourite_colour", "Teal"),
        ("Turned 35 yesterday.", "age", "35"),
        ("I'm 34, is it too late to start ballet?", "age", "34"),
        ("I moved to Linux.", "uses_operating_system", "Linux"),
        ("I also work at Bosch.", "also_works_at", "Bosch"),
    ],
)
def test_what_the_speaker_says_of_themself(said: str, relation: str, value: str) -> None:
    assert ("Ann", relation, value) in read(said)


@pytest.mark.parametrize(
    ("said", "triple"),
    [
        ("My brother works at Siemens.", ("Ann's brother", "works_at", "Siemens")),
        ("My brother Tom started at Bosch.", ("Tom", "works_at", "Bosch")),
        ("Ruth settled in nicely, she's been living in Malmö since August.", ("Ruth", "lives_in", "Malmö")),
        ("The deadline of Apollo is Friday.", ("Apollo", "deadline", "Friday")),
        ("They moved the deadline to Monday.", ("the deadline", "date", "Monday")),
        ("Standup is at 9:30.", ("the standup", "time", "9:30")),
        ("The launch got postponed to 9 November.", ("the launch", "date", "9 November")),
        ("The project uses Postgres.", ("the project", "uses_database", "Postgres")),
        ("Ana took over billing from Ben.", ("the billing", "owner", "Ana")),
    ],
)
def test_others_and_things(said: str, triple: tuple[str, str, str]) -> None:
    assert triple in read(said)


@pytest.mark.parametrize(
    "said",
    [
        "I'm moving to Rome in May.",
        "I'll start at Bosch in May.",
        "I would love to live in the Azores.",
        "If I lived in Rome, I'd be happy.",
        "I didn't move to Rome.",
        "I haven't left the post office.",
        "I moved to the sofa.",
        "The new website works at a snail's pace.",
        "I'm staying in Rome for the weekend.",
        "Do I live in Rome?",
        "In the novel, I live in Rome now.",
        'She said "I moved to Rome last year".',
        "Sure, and I live in Rome now.",
        "Bob thinks I live in Paris.",
    ],
)
def test_what_is_not_so_states_no_value(said: str) -> None:
    assert [relation for _, relation, _ in read(said) if relation in ("lives_in", "works_at", "left")] == []


def test_what_was_so_is_no_current_value() -> None:
    assert read("I used to work at Google.") == []
    assert read("Back in 2010 I lived in Madrid.") == []


def test_a_bare_value_takes_the_slot_of_what_was_said_before() -> None:
    haircut = Triple(subject="Ann", relation="haircut", object="Wednesday", single_valued=True)
    home = Triple(subject="Ann", relation="lives_in", object="Lisbon", single_valued=True)
    assert read("Sorry, I meant Thursday.", home, haircut) == [("Ann", "haircut", "Thursday")]
    assert read("Actually it's Porto.", home, haircut) == [("Ann", "lives_in", "Porto")]
    assert read("My back hurts.", home) == []


def test_he_is_whom_the_last_statement_was_about() -> None:
    husband = Triple(subject="Ann's husband", relation="age", object="61", single_valued=True)
    assert read("Wait no, he's 63.", husband) == [("Ann's husband", "age", "63")]


def test_single_values_come_first_and_keep_their_kind() -> None:
    text = "I live in Rome."
    first = find_triples(Unit(text, 0, len(text)), "Ann lives in Rome.", ANN, None)[0]
    assert first == Triple(subject="Ann", relation="lives_in", object="Rome", single_valued=True)


def test_a_product_of_a_known_kind_is_no_field_of_study() -> None:
    assert read("We switched from Redshift to Snowflake last month.") == [
        ("Ann", "uses_database", "Snowflake")
    ]


def test_a_bare_denial_is_no_value() -> None:
    eats_fish = Triple(subject="Ann", relation="diet", object="fish")
    assert read("Well, not shellfish obviously.", eats_fish) == []
    assert read("Sorry, I meant chicken.", eats_fish) == [("Ann", "diet", "chicken")]


def test_who_says_later_that_it_changed_before_means_the_change(tmp_path: Path) -> None:
    with Perdure.open(
        tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules", tokens="approximate"
    ) as memory:
        said = datetime(2026, 11, 18, 10, tzinfo=UTC)
        memory.retain("b", "I live in Oslo.", speaker="Ann", timestamp=said)
        memory.retain(
            "b", "I moved to Lisbon last week.", speaker="Ann", timestamp=said + timedelta(minutes=5)
        )
        assert [fact.object for fact in memory.facts.list("b").facts] == ["Lisbon"]


@pytest.mark.parametrize(
    ("turns", "value"),
    [
        (["I live in Oslo. I moved to Lisbon last week."], "Lisbon"),
        (["I live in Oslo.", "I moved to Lisbon last week."], "Lisbon"),
        (["I moved to Lisbon last week.", "I live in Oslo."], "Oslo"),
        (["I live in Oslo.", "I moved to Lisbon in 2010."], "Oslo"),
    ],
)
def test_of_two_values_said_together_news_is_the_later_one(
    tmp_path: Path, turns: list[str], value: str
) -> None:
    with Perdure.open(
        tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules", tokens="approximate"
    ) as memory:
        said = datetime(2026, 11, 18, 10, tzinfo=UTC)
        memory.retain("b", turns, speaker="Ann", timestamp=said)
        assert [fact.object for fact in memory.facts.list("b").facts] == [value]


def test_a_few_words_that_state_a_value_do_not_end_with_the_sentence_before_them(tmp_path: Path) -> None:
    with Perdure.open(
        tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules", tokens="approximate"
    ) as memory:
        memory.retain("b", "I am allergic to nuts. Also allergic to shellfish.", speaker="Ann")
        assert {fact.object for fact in memory.facts.list("b").facts} == {"nuts", "shellfish"}
