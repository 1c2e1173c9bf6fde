"""Secrets never reach a bank: neither its rows nor the files, queue and log around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import InvalidInput, Perdure
from tests.support.rest_server import QUICK

TOKEN = "ghp_" + "a8Kq" * 9
SAID = f"the deploy key is {TOKEN}, please remember where it goes"


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def memory(tmp_path: Path) -> Perdure:
    return Perdure.open(tmp_path / "memory.db", **QUICK)


def test_a_secret_is_masked_before_anything_is_stored(memory: Perdure, tmp_path: Path) -> None:
    with memory:
        result = memory.retain("b", SAID, title=f"key {TOKEN}", metadata={"raw": TOKEN})
        assert result.masked == {"github token": 3}
        assert "3 secrets masked" in str(result)
        assert "[secret: github token]" in memory.facts.list("b").facts[0].text
    assert TOKEN.encode() not in _bytes(tmp_path)


def test_a_secret_is_masked_in_every_field_around_the_text(memory: Perdure, tmp_path: Path) -> None:
    fields = {
        "speaker": TOKEN, "topic": TOKEN, "tags": [TOKEN], "entities": [TOKEN], "metadata": {TOKEN: "x"}, "context": TOKEN,
    }  # fmt: skip
    with memory:
        memory.retain("b", "Ann keeps bees.", **fields)  # type: ignore[arg-type]
    assert TOKEN.encode() not in _bytes(tmp_path)


@pytest.mark.parametrize("before", ["Which host has ", "x" * 470 + " "])
def test_a_secret_in_a_question_stays_out_of_the_activity(
    memory: Perdure, tmp_path: Path, before: str
) -> None:
    with memory:
        memory.retain("b", "Ann keeps bees.")
        memory.recall("b", f"{before}{TOKEN}?")
    assert TOKEN[:20].encode() not in _bytes(tmp_path)


def test_a_secret_is_masked_in_the_queue_of_background_work(memory: Perdure, tmp_path: Path) -> None:
    with memory:
        operation = memory.retain_later("b", SAID)
        memory.operations.get("b", operation.id, wait=30)
    assert TOKEN.encode() not in _bytes(tmp_path)


def test_a_secret_in_a_correction_is_masked(memory: Perdure, tmp_path: Path) -> None:
    with memory:
        fact_id = memory.retain("b", "The deploy key is in the vault of the team.").fact_ids[0]
        assert TOKEN not in memory.facts.update("b", fact_id, text=SAID).text
    assert TOKEN.encode() not in _bytes(tmp_path)


def test_a_bank_may_keep_secrets(memory: Perdure) -> None:
    with memory:
        memory.banks.configure("b", settings={"mask_secrets": False})
        assert not memory.retain("b", SAID).masked
        assert TOKEN in memory.facts.list("b").facts[0].text


def test_the_setting_is_true_or_false(memory: Perdure) -> None:
    with memory, pytest.raises(InvalidInput, match="mask_secrets"):
        memory.banks.configure("b", settings={"mask_secrets": "no"})
