"""Questions in the first person, and what a question asks for, over a store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import InvalidInput, Item, Perdure

OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", **OPTIONS) as opened:
        yield opened


def said(text: str, speaker: str = "", role: str = "", day: int = 1) -> Item:
    return Item(
        content=text,
        speaker=speaker,
        role=role,
        timestamp=datetime(2025, 3, day, tzinfo=UTC),
        document_id=f"{day}",
    )


def asked(memory: Perdure, question: str, **options: Any) -> str:
    return memory.recall("b", question, **options).query.content


def test_i_means_the_only_name_that_spoke_as_the_user(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim", "user"), said("Bo is here.", "Bo")])
    assert asked(memory, "Where do I live?") == "Where does Kim live?"
    result = memory.recall("b", "Where do I live?")
    assert (result.query.text, result.query.asker) == ("Where do I live?", "Kim")
    assert result.recollections[0].text == "Kim lives in Lisbon."


def test_i_means_the_only_person_who_spoke(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim"), said("Nice place.", "assistant", "assistant")])
    assert asked(memory, "Where do I live?") == "Where does Kim live?"


def test_a_user_without_a_name_is_the_user(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", role="user"), said("Bo is here.", "Bo")])
    result = memory.recall("b", "Where do I live?")
    assert (result.query.judged, result.query.asker) == ("Where does the user live?", "the user")
    assert result.recollections[0].text == "The user lives in Lisbon."


def test_where_anybody_may_ask_the_question_stays_as_it_is(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim"), said("I live in Rome.", "Bo")])
    assert asked(memory, "Where do I live?") == "Where do I live?"
    assert asked(memory, "Where do I live?", asker="Bo") == "Where does Bo live?"
    assert memory.recall("b", "Where do I live?", asker="Bo").recollections[0].text == "Bo lives in Rome."


@pytest.mark.parametrize("asker", ["", " ", 3])
def test_an_asker_is_a_name(memory: Perdure, asker: Any) -> None:
    with pytest.raises(InvalidInput, match="asker"):
        memory.recall("b", "Where do I live?", asker=asker)


def test_the_name_goes_with_the_last_fact_of_the_speaker(memory: Perdure, tmp_path: Path) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Zanzibarquux", "user")])
    memory.retain("b", [said("I drive a Fiat.", "Zanzibarquux", "user", day=2)])
    memory.forget("b", document_id="1")
    assert [record.id for record in memory.records.list("speaker", bank="b")] == ["Zanzibarquux"]
    memory.forget("b", document_id="2")
    assert memory.records.list("speaker", bank="b") == []
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"zanzibarquux" not in content.lower()


def test_the_statement_of_the_asked_slot_that_holds_goes_first(memory: Perdure) -> None:
    memory.retain("b", [said("I take bus 11 to work and it's always late.", "Kim", "user", day=1)])
    memory.retain("b", [said("I asked about work, work and work.", "Kim", "user", day=2)])
    memory.retain("b", [said("I take the tram to work, number 3.", "Kim", "user", day=3)])
    result = memory.recall("b", "How do I get to work?", recipe="fast", explain=True)
    assert "tram" in result.recollections[0].text
    assert not any("bus" in one.text for one in result.recollections)
    candidate = result.recollections[0].candidate
    assert candidate is not None
    assert candidate.states_slot or candidate.boosts["slot"] > 1.0
    assert result.query.slot == ("Kim", "commutes_by")


def test_the_statement_that_held_before_is_found_and_marked(memory: Perdure) -> None:
    memory.retain("b", [said("I take bus 11 to work and it's always late.", "Kim", "user", day=1)])
    memory.retain("b", [said("I take the tram to work, number 3.", "Kim", "user", day=3)])
    first = memory.recall("b", "How did I use to get to work?", recipe="fast").recollections[0]
    assert "bus" in first.text
    assert first.replaced_by is not None
    assert "tram" in first.replaced_by.text


def test_what_is_only_supposed_goes_behind_what_is_so(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim", "user", day=1)])
    memory.retain(
        "b", [said("If I lived in Basel I would live like a king, live and let live.", "Kim", "user", day=2)]
    )
    result = memory.recall("b", "Where do I live?", explain=True)
    assert result.recollections[0].text == "Kim lives in Lisbon."
    supposed = result.recollections[1].candidate
    assert supposed is not None
    assert supposed.boosts["asserted"] < 1.0


def test_the_recipe_of_another_system_has_no_such_steps(memory: Perdure) -> None:
    memory.retain("b", [said("I take bus 11 to work and it's always late.", "Kim", "user")])
    candidate = (
        memory.recall("b", "How do I get to work?", recipe="tempr", explain=True).recollections[0].candidate
    )
    assert candidate is not None
    assert set(candidate.boosts) == {"recency", "temporal", "proof"}


def test_a_relative_gets_the_name_that_memory_has(memory: Perdure) -> None:
    memory.retain("b", [said("My brother Sami lives in Toronto.", "Kim", "user")])
    assert asked(memory, "Where does my brother live?") == "Where does Kim's brother Sami live?"
    assert asked(memory, "Who is my brother?") == "Who is Kim's brother?"


def test_of_a_past_time_what_began_later_steps_back(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim", "user", day=1)])
    memory.retain("b", [said("I live in Rome now.", "Kim", "user", day=20)])
    options: dict[str, Any] = {"asked_at": datetime(2025, 6, 1, tzinfo=UTC)}
    first = memory.recall("b", "Where did I live on 5 March 2025?", **options).recollections[0]
    assert "Lisbon" in first.text
    assert "Rome" in memory.recall("b", "Where do I live?", **options).recollections[0].text


def test_a_plain_past_tense_asks_for_the_former_value(memory: Perdure) -> None:
    memory.retain("b", [said("I work at Fathom.", "Kim", "user", day=1)])
    memory.retain("b", [said("I work at Kestrel now.", "Kim", "user", day=20)])
    first = memory.recall("b", "Where did I work?", asked_at=datetime(2025, 6, 1, tzinfo=UTC)).recollections[
        0
    ]
    assert "Fathom" in first.text
