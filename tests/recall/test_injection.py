"""Recall for injection: what probably helps, or nothing, and the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import RECIPES, Perdure, Precision
from perdure.recall.evidence import read_calibrations

# The models of these tests are not those of the calibration: words alone are judged.
FLOOR = read_calibrations().by_name["words"].floor
FACTS = [
    "Bob adopted a grey cat called Miso.",
    "The bakery on Elm Street sells rye bread.",
    "Alice ran the Lisbon marathon.",
    "Dana plays the cello in an orchestra.",
]
CAT = "What is Bob's grey cat called?"
UNKNOWN = "Which lattice did quantum chromodynamics need?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("b", FACTS)
        yield engine


def test_injection_returns_only_what_reaches_the_floor(memory: Perdure) -> None:
    everything = memory.recall("b", CAT)
    injected = memory.recall("b", CAT, precision="inject", explain=True)
    assert 0 < len(injected) < len(everything)
    assert all(one.relevance >= FLOOR for one in injected)
    assert [one.fact.id for one in injected] == [one.fact.id for one in everything if one.relevance >= FLOOR]
    assert not injected.abstained
    dropped = {candidate.fact_id for candidate in injected.cut if "below the floor" in (candidate.cut or "")}
    assert dropped == {one.fact.id for one in everything if one.relevance < FLOOR}


def test_injection_abstains_and_says_why_where_nothing_probably_helps(memory: Perdure) -> None:
    result = memory.recall("b", UNKNOWN, precision=Precision.INJECT)
    assert (len(result), result.tokens, result.abstained) == (0, 0, True)
    assert "below the floor of" in (result.abstained_because or "")
    assert (result.to_prompt(), result.to_openai(), result.to_anthropic()) == ("", [], [])
    assert "abstained: " in str(result)


def test_an_empty_bank_has_nothing_to_inject(memory: Perdure) -> None:
    result = memory.recall("empty", CAT, precision="inject")
    assert (result.abstained, result.abstained_because) == (True, "memory holds nothing on this")


def test_a_search_never_abstains(memory: Perdure) -> None:
    for bank in ("b", "empty"):
        assert memory.recall(bank, UNKNOWN).abstained_because is None
    assert len(memory.recall("b", UNKNOWN)) == len(FACTS)


def test_a_prompt_is_for_injection_unless_told_otherwise(memory: Perdure) -> None:
    assert memory.prompt("b", UNKNOWN) == ""
    assert "Miso" in memory.prompt("b", CAT)
    assert "bakery" not in memory.prompt("b", CAT)
    assert "bakery" in memory.prompt("b", UNKNOWN, precision="search")


def test_the_first_relevance_is_the_confidence_and_all_are_probabilities(memory: Perdure) -> None:
    result = memory.recall("b", CAT)
    assert result.recollections[0].relevance == result.confidence
    assert result.recollections[0].evidence is result.evidence
    assert all(0.0 <= one.relevance <= 1.0 for one in result)


def test_the_limit_does_not_change_the_evidence(memory: Perdure) -> None:
    assert memory.recall("b", CAT, limit=1).confidence == memory.recall("b", CAT).confidence


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_recipe_injects_the_answer_and_is_silent_without_one(memory: Perdure, recipe: str) -> None:
    injected = memory.recall("b", CAT, recipe=recipe, precision="inject")
    assert "Miso" in injected.recollections[0].text
    assert memory.recall("b", UNKNOWN, recipe=recipe, precision="inject").abstained
