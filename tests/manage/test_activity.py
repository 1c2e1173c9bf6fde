"""Activity: what was recalled, put into prompts and retained, bounded, switched off by a setting, deleted by a forget."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import InvalidInput, Perdure
from perdure.domain.activity import Activity
from perdure.recall import track

BANK = "b"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        yield engine


def recorded(memory: Perdure, number: int) -> list[Activity]:
    """Wait until so many entries are recorded, newest first."""
    while len(entries := memory.activity.list(BANK)) < number:
        time.sleep(0.02)
    return entries


def test_a_recall_a_prompt_and_a_retain_are_recorded_with_their_facts(memory: Perdure) -> None:
    retained = memory.retain(BANK, "I live in Lisbon.", speaker="Ann")
    memory.recall(BANK, "Where does Ann live?")
    memory.prompt(BANK, "What is the capital of Mongolia?")
    prompt, recall, retain = recorded(memory, 3)
    assert (retain.kind, retain.fact_ids) == ("retain", retained.fact_ids)
    assert (recall.kind, recall.query, recall.fact_ids) == (
        "recall",
        "Where does Ann live?",
        retained.fact_ids,
    )
    assert (prompt.kind, prompt.fact_ids, prompt.below_ids) == ("prompt", (), retained.fact_ids)
    assert prompt.abstained
    assert [one.kind for one in memory.activity.list(BANK, kind="prompt")] == ["prompt"]
    assert [one.query for one in memory.activity.list(BANK, text="mongolia")] == [prompt.query]
    with pytest.raises(InvalidInput):
        memory.activity.list(BANK, kind="reflect")


def test_a_recall_that_is_not_tracked_and_a_bank_that_wants_no_activity_leave_none(memory: Perdure) -> None:
    memory.banks.configure("quiet", settings={"activity_log": False})
    memory.retain("quiet", "I live in Lisbon.", speaker="Ann")
    memory.retain(BANK, "I live in Lisbon.", speaker="Ann")
    memory.recall(BANK, "Where does Ann live?", track=False)
    memory.recall(BANK, "Who lives in Lisbon?")
    assert [one.query for one in recorded(memory, 2)] == ["Who lives in Lisbon?", ""]
    assert memory.activity.list("quiet") == []


def test_a_forget_deletes_what_was_recorded_before_it_even_if_it_was_not_written_yet(memory: Perdure) -> None:
    (fact_id,) = memory.retain(BANK, "I live in Lisbon.", speaker="Ann").fact_ids
    recorded(memory, 1)
    memory.recall(BANK, "Does Ann live in Lisbon?")
    memory.forget(BANK, fact_id=fact_id)
    memory.recall(BANK, "Who is there?")
    assert [one.query for one in recorded(memory, 1)] == ["Who is there?"]


def test_only_the_newest_entries_are_kept(memory: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(track, "MAX_ENTRIES", 2)
    for number in range(4):
        memory.retain(BANK, f"Ann lives in house {number}.", document_id=str(number))
        while not any(one.document_ids == (str(number),) for one in memory.activity.list(BANK)):
            time.sleep(0.02)
    assert [one.document_ids for one in memory.activity.list(BANK)] == [("3",), ("2",)]
