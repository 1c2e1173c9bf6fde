"""Statements that nobody has mentioned for a long time are marked, and listed to be asked again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure import InvalidInput, Perdure, Recollection
from tests.support.memory_store import MemoryStore

BANK = "b"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def opened() -> Perdure:
    return Perdure.open(
        store=MemoryStore(lambda: NOW), clock=lambda: NOW, embedder="hashing", reranker="none", tagger="rules"
    )


@pytest.fixture
def memory() -> Perdure:
    engine = opened()
    engine.retain(BANK, "I live in Oslo.", speaker="Ann", timestamp="2025-01-05")
    engine.retain(BANK, "I play chess.", speaker="Ann", timestamp="2025-12-01")
    return engine


def about(memory: Perdure, word: str, **options: object) -> Recollection:
    recalled = memory.recall(BANK, word, **options)  # type: ignore[arg-type]
    return next(one for one in recalled if word in one.text)


def stale_texts(memory: Perdure, **options: int) -> list[str]:
    return [one.fact.text for one in memory.questions.stale(BANK, **options)]


def test_what_nobody_mentioned_for_long_is_marked_in_results_and_prompts(memory: Perdure) -> None:
    one = about(memory, "Oslo")
    assert one.stale_months == 14
    assert one.notes == ("last mentioned 14 months ago",)
    assert "⚠ last mentioned 14 months ago" in memory.prompt(BANK, "Oslo", precision="search")
    assert about(memory, "chess").stale_months is None


def test_years_are_told_as_years(memory: Perdure) -> None:
    assert about(memory, "Oslo", asked_at="2028-02-01").notes == ("last mentioned 3 years ago",)


def test_who_repeats_a_statement_confirms_it(memory: Perdure) -> None:
    memory.retain(BANK, "I live in Oslo.", speaker="Ann", timestamp="2026-02-01")
    one = about(memory, "Oslo")
    assert one.fact.proof_count == 2
    assert one.stale_months is None
    assert stale_texts(memory) == []
    assert about(memory, "Oslo", asked_at="2026-01-20").stale_months == 12  # before it was repeated


def test_what_happened_is_planned_or_over_is_not_stale(memory: Perdure) -> None:
    memory.retain(BANK, "I flew to Rome on 3 January 2025.", speaker="Ann", timestamp="2025-01-05")
    memory.retain(BANK, "I will visit Turin on 9 September 2025.", speaker="Ann", timestamp="2025-01-05")
    (oslo,) = (fact for fact in memory.facts.list(BANK).facts if "Oslo" in fact.text)
    memory.facts.update(BANK, oslo.id, text="I live in Bergen.")
    assert about(memory, "Rome").stale_months is None
    assert about(memory, "Turin").stale_months is None
    assert not any("Rome" in text or "Turin" in text or "Oslo" in text for text in stale_texts(memory))


def test_a_bank_sets_its_months_and_turns_the_mark_off(memory: Perdure) -> None:
    memory.banks.configure(BANK, settings={"stale_after_months": 3})
    assert about(memory, "chess").stale_months == 3
    assert stale_texts(memory) == ["I live in Oslo.", "I play chess."]
    memory.banks.configure(BANK, settings={"stale_after_months": 0})
    assert about(memory, "Oslo").stale_months is None
    assert stale_texts(memory) == []
    assert stale_texts(memory, months=14) == ["I live in Oslo."]


@pytest.mark.parametrize("months", [-1, 1.5, "6", True, None])
def test_a_setting_that_is_no_number_of_months_is_refused(memory: Perdure, months: object) -> None:
    with pytest.raises(InvalidInput, match="stale_after_months"):
        memory.banks.configure(BANK, settings={"stale_after_months": months})


def test_the_list_goes_from_the_longest_unmentioned_on_and_ends_at_its_limit(memory: Perdure) -> None:
    memory.retain(BANK, "I own a boat.", speaker="Ann", timestamp="2024-06-01")
    listed = memory.questions.stale(BANK, months=2)
    assert [one.fact.text for one in listed] == ["I own a boat.", "I live in Oslo.", "I play chess."]
    assert [one.months for one in listed] == [21, 14, 3]
    assert [one.last_mentioned_at for one in listed] == [one.fact.mentioned_at for one in listed]
    assert stale_texts(memory, months=2, limit=1) == ["I own a boat."]
    with pytest.raises(InvalidInput, match="limit"):
        memory.questions.stale(BANK, limit=-1)
    with pytest.raises(InvalidInput, match="months"):
        memory.questions.stale(BANK, months=-1)
