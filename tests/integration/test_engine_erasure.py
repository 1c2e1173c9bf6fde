"""What is forgotten is nowhere in the file: not in what the facts around it are found by or read with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Filter, Perdure
from perdure.ports.store import Traces

WORD = "Zanzibarquux"
OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}


@pytest.fixture(params=["local", "verbatim"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", extractor=request.param, **OPTIONS) as opened:
        yield opened


def traces(folder: Path, word: str = WORD) -> int:
    return b"".join(path.read_bytes() for path in folder.iterdir()).lower().count(word.lower().encode())


def forget_facts_with(memory: Perdure, word: str) -> None:
    for fact in list(memory.facts.iterate("b", where=Filter(include_closed=True))):
        if word in fact.text + fact.source_text:
            assert memory.forget("b", fact_id=fact.id).traces is Traces.CLEARED


ROOMS = " and ".join(f"a room{number}" for number in range(40))


@pytest.mark.parametrize(
    "said",
    [
        f"I visited {WORD} yesterday.",
        f"I bought a small red house with {ROOMS} near {WORD}",
        f"I bought a house in {WORD} after years. " + "My cousin works in Oslo as a baker. " * 9,
    ],
)
def test_what_stood_around_a_forgotten_fact_does_not_hold_its_words(
    memory: Perdure, tmp_path: Path, said: str
) -> None:
    around = ["I would like to see it in summer, is it warm?", "The guest room is free in July."]
    turns = [{"content": said, "speaker": "Ann"}, *({"content": text, "speaker": "Bo"} for text in around)]
    memory.retain("b", turns, document_id="d", timestamp="2024-05-01")
    assert traces(tmp_path)
    forget_facts_with(memory, WORD)
    assert traces(tmp_path) == 0
    assert [found.fact for found in memory.recall("b", "Is the guest room free in July?")]


def test_a_fact_that_outlives_its_document_does_not_hold_its_words(memory: Perdure, tmp_path: Path) -> None:
    both = {"content": "Ann moved from Oslo to Lisbon because of the light.", "speaker": "Ann"}
    around = {"content": f"Hmm, {WORD}, okay, right?", "speaker": "Bo"}
    memory.retain("b", [around, both, around], document_id="first", timestamp="2024-05-01")
    memory.retain("b", [both], document_id="second", timestamp="2024-05-01")
    memory.forget("b", document_id="first")
    assert traces(tmp_path) == 0
    assert [fact.document_id for fact in memory.facts.list("b").facts] == ["second"]
    assert "Lisbon" in next(iter(memory.recall("b", "Why did Ann move to Lisbon?"))).text


def test_a_name_that_only_forgotten_facts_held_is_nowhere(memory: Perdure, tmp_path: Path) -> None:
    memory.retain(
        "b", f"Anna {WORD} moved to Oslo.", timestamp="2024-05-01", entities=[(f"Anna {WORD}", "person")]
    )
    memory.retain("b", "Anna plays the cello.", timestamp="2024-05-02", entities=[("Anna", "person")])
    assert WORD in str([(entity.name, entity.aliases) for entity in memory.entities.list("b")])
    forget_facts_with(memory, WORD)
    assert traces(tmp_path) == 0
    (anna,) = memory.entities.list("b", name="Anna")
    assert anna.mentions == 1


def test_a_forgotten_document_is_named_nowhere(memory: Perdure, tmp_path: Path) -> None:
    done = memory.retain_later("b", "Anna moved to Oslo.", document_id=f"letter-{WORD}")
    memory.operations.get("b", done.id, wait=30)
    assert traces(tmp_path)
    assert memory.forget("b", document_id=f"letter-{WORD}").existed
    assert traces(tmp_path) == 0
    again = memory.forget("b", document_id=f"letter-{WORD}")
    assert (again.existed, again.facts, again.traces) == (False, 0, Traces.CLEARED)


def test_forgetting_what_is_not_there_makes_no_bank_and_notes_no_erasure(memory: Perdure) -> None:
    memory.retain("b", "Ann lives in Oslo.", document_id="d")
    assert not memory.forget("b", document_id="other").existed
    assert memory.banks.erased_at("b") is None
    assert not memory.forget("nowhere", document_id="d").existed
    assert [bank.id for bank in memory.banks.list()] == ["b"]
    assert memory.forget("b", document_id="d").existed
    assert memory.banks.erased_at("b") is not None
