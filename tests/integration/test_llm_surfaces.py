"""Where the surfaces tell that a language model failed, and that a bank's instructions act."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from perdure import LlmBusy, Perdure
from perdure.surfaces.cli import session
from perdure.surfaces.cli.main import app
from perdure.surfaces.mcp.results import retained
from tests.integration.rest_server import running
from tests.support.memory_store import MemoryStore
from tests.support.scripted_llm import ScriptedLlm

BANK = "/v1/default/banks/b"
REFINE = "/v1/perdure/banks/b/documents.refine"


def failing() -> Perdure:
    model = ScriptedLlm(lambda _: LlmBusy("overloaded", status=503))
    return Perdure.open(
        store=MemoryStore(),
        llm=model,
        extractor="llm",
        embedder="hashing",
        reranker="none",
        tagger="rules",
        require_keys=False,
    )


def test_rest_names_the_turns_that_were_read_without_the_model() -> None:
    with failing() as memory, running(memory) as url, httpx.Client(base_url=url) as client:
        items = [{"content": "Ann plays the cello.", "document_id": "d"}]
        answer = client.post(f"{BANK}/memories", json={"items": items}).json()
        (fell_back,) = answer["fell_back"]
        assert (fell_back["document_id"], fell_back["turns"], fell_back["code"]) == ("d", 1, "llm_busy")
        assert "overloaded" in fell_back["reason"]
        assert len(answer["fact_ids"]) == 1


def test_instructions_of_a_bank_are_active_where_a_model_words_the_facts() -> None:
    with failing() as memory, running(memory) as url, httpx.Client(base_url=url) as client:
        updates = {"retain_mission": "people", "store_document_text": True}
        changed = client.patch(f"{BANK}/config", json={"updates": updates}).json()
        assert changed["inactive"] == ["store_document_text"]


def test_mcp_names_them_too() -> None:
    with failing() as memory:
        output = retained(memory.retain("b", "Ann plays the cello.", document_id="d"), [])
        assert output.fell_back == ["d, 1 turns: overloaded"]


def test_the_command_line_names_them_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "memory", lambda _: failing())
    runner = CliRunner()
    shown = runner.invoke(app, ["retain", "Ann plays the cello.", "--bank", "b"])
    assert "1 turn read without the language model: overloaded" in shown.output
    told = json.loads(runner.invoke(app, ["retain", "Ann plays the cello.", "--bank", "b", "--json"]).output)
    assert told["fell_back"][0]["code"] == "llm_busy"


def rewording() -> Perdure:
    model = ScriptedLlm(lambda _: {"facts": [{"turn": 1, "text": "The cello is what Ann plays."}]})
    memory = Perdure.open(
        store=MemoryStore(), llm=model, extractor="refine", refine_after=None, embedder="hashing", reranker="none",
        tagger="rules", require_keys=False,
    )  # fmt: skip
    memory.retain("b", "Ann plays the cello.", document_id="d")
    return memory


def test_rest_rewords_in_an_operation() -> None:
    with rewording() as memory, running(memory) as url, httpx.Client(base_url=url) as client:
        operation = client.post(REFINE, json={}).json()["id"]
        assert memory.operations.get("b", operation, wait=30).status == "completed"
        assert [fact.text for fact in memory.facts.iterate("b")] == ["The cello is what Ann plays."]
        assert client.get(f"{BANK}/operations/{operation}").json()["status"] == "completed"


def test_rest_says_that_no_model_is_set() -> None:
    with Perdure.open(
        store=MemoryStore(), embedder="hashing", reranker="none", tagger="rules", require_keys=False
    ) as memory:
        memory.retain("b", "Ann plays the cello.")
        with running(memory) as url, httpx.Client(base_url=url) as client:
            refused = client.post(REFINE, json={})
            assert refused.status_code == 422
            assert "llm" in refused.text


def test_the_command_line_rewords_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "reading", lambda *_: rewording())
    shown = CliRunner().invoke(app, ["refine", "--bank", "b"])
    assert shown.exit_code == 0, shown.output
    assert "retired: 1" in shown.output
