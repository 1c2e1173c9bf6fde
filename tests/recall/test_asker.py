"""Questions in the first person, over a store."""

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


def meant(memory: Perdure, **options: Any) -> str | None:
    return memory.recall("b", "Where do I live?", **options).query.asker


def test_i_means_the_only_name_that_spoke_as_the_user(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim", "user"), said("Bo is here.", "Bo")])
    assert meant(memory) == "Kim"
    assert "Lisbon" in memory.recall("b", "Where do I live?").recollections[0].text


def test_i_means_the_only_person_who_spoke(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim"), said("Nice place.", "assistant", "assistant")])
    assert meant(memory) == "Kim"


def test_what_a_user_without_a_name_said_is_found(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", role="user"), said("Bo is here.", "Bo")])
    assert "Lisbon" in memory.recall("b", "Where do I live?").recollections[0].text


def test_where_anybody_may_ask_the_asker_decides(memory: Perdure) -> None:
    memory.retain("b", [said("I live in Lisbon.", "Kim"), said("I live in Rome.", "Bo")])
    assert meant(memory) is None
    assert meant(memory, asker="Bo") == "Bo"
    assert "Rome" in memory.recall("b", "Where do I live?", asker="Bo").recollections[0].text


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
