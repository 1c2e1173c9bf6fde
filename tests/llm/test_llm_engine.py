"""Language models and the engine: nothing of them without one, what they cost, what erasure leaves of the log."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import (
    AsyncPerdure,
    InvalidInput,
    LlmBusy,
    LlmCall,
    LlmRefused,
    LlmReply,
    Perdure,
    Settings,
)
from perdure.adapters import make_caller
from perdure.domain.llm_call import LlmOperation
from perdure.llm.caller import Caller, Purpose
from perdure.ports.llm import ChatMessage
from tests.support.llm_server import Answer, LlmServer
from tests.support.scripted_llm import ScriptedLlm
from tests.surfaces.cli.conftest import Cli

LIGHT: Any = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASK = [ChatMessage(role="user", text="Where does Ann live? In Lisbon?")]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(tmp_path, capsys, monkeypatch)


def caller_of(memory: Perdure) -> Caller:
    caller = memory._components.reflect.llm
    assert caller is not None
    return caller


def ask(memory: Perdure, bank: str = "ann", operation: LlmOperation = LlmOperation.REFLECT) -> LlmReply:
    return caller_of(memory).chat(Purpose(bank=bank, operation=operation), ASK)


def open_with(path: Path, script: Any = lambda _: "Lisbon.", **options: Any) -> Perdure:
    return Perdure.open(path / "memory.db", llm=ScriptedLlm(script), clock=lambda: NOW, **LIGHT, **options)


def test_without_a_language_model_nothing_of_one_is_imported(tmp_path: Path) -> None:
    code = f"""
import sys
from perdure import Perdure
with Perdure.open({str(tmp_path / "m.db")!r}, embedder="hashing", reranker="none", tagger="rules", tokens="approximate") as memory:
    memory.retain("ann", "I live in Lisbon.", speaker="Ann")
    memory.recall("ann", "Where does Ann live?")
    memory.reflect("ann", "Where does Ann live?")
    memory.forget("ann", everything=True)
loaded = ("pydantic_ai", "openai", "anthropic", "genai_prices", "perdure.llm.caller", "perdure.models.pydantic_ai_llm")
print([name for name in loaded if name in sys.modules])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_costs_are_told_by_bank_and_day_here_and_in_async_programs(tmp_path: Path) -> None:
    with open_with(tmp_path) as memory:
        ask(memory)
        ask(memory, "bob", LlmOperation.CONSOLIDATE)
        ask(memory, "bob", LlmOperation.CONSOLIDATE)
        rows = memory.llm.costs()
        assert [(row.bank, row.operation, row.calls) for row in rows] == [
            ("ann", "reflect", 1),
            ("bob", "consolidate", 2),
        ]
        assert memory.llm.costs("bob") == rows[1:]
        assert memory.llm.costs(since=date(2026, 3, 2)) == []
        assert memory.llm.costs(since=NOW) == rows
        assert memory.banks.list() == []
        assert asyncio.run(AsyncPerdure(memory).llm.costs("ann")) == rows[:1]
        with pytest.raises(InvalidInput):
            memory.llm.costs("no/bank\x00")


def test_forgetting_a_fact_takes_all_texts_out_of_the_log(tmp_path: Path) -> None:
    with open_with(tmp_path, llm_log_texts=True) as memory:
        kept = memory.retain("ann", "I live in Lisbon.", speaker="Ann")
        ask(memory)
        [before] = memory.records.list("llm_call", bank="ann")
        assert "Lisbon" in (LlmCall.from_record(before).request or "")
        memory.forget("ann", fact_id=kept.fact_ids[0])
        [after] = memory.records.list("llm_call", bank="ann")
        assert "Lisbon" not in repr(after)
        assert LlmCall.from_record(after).input_tokens == LlmCall.from_record(before).input_tokens
        assert len(memory.llm.costs("ann")) == 1
    raw = (tmp_path / "memory.db").read_bytes()
    assert b"Where does Ann live?" not in raw


def test_the_name_of_an_erased_bank_goes_and_what_it_cost_stays(tmp_path: Path) -> None:
    for day in (1, 1, 5):
        with Perdure.open(
            tmp_path / "memory.db", llm=ScriptedLlm(lambda _: "x"), clock=lambda day=day: NOW.replace(day=day), **LIGHT
        ) as memory:  # fmt: skip
            memory.retain("ann-secret", "I live in Lisbon.", speaker="Ann")
            ask(memory, "ann-secret")
            ask(memory, "bob")
    with Perdure.open(tmp_path / "memory.db", **LIGHT) as memory:
        before = memory.llm.costs()
        memory.forget("ann-secret", everything=True)
        assert [(row.day.day, row.bank, row.calls) for row in memory.llm.costs()] == [
            (1, "", 2),
            (1, "bob", 2),
            (5, "", 1),
            (5, "bob", 1),
        ]
        assert sum(row.tokens for row in memory.llm.costs()) == sum(row.tokens for row in before)
        assert "ann-secret" not in [bank.id for bank in memory.banks.list()]
        memory.forget("bob", everything=True)
        assert [(row.day.day, row.bank, row.calls) for row in memory.llm.costs()] == [(1, "", 4), (5, "", 2)]


def test_the_key_that_is_set_goes_to_the_url_alone() -> None:
    with LlmServer(lambda _: Answer(text="yes")) as server:
        settings = Settings(llm="small", llm_url=server.url, llm_key="hush-hush-hush", tokens="approximate")  # type: ignore[arg-type]
        caller = make_caller(settings)
        assert caller is not None
        caller.chat(Purpose(bank="ann", operation=LlmOperation.RETAIN), ASK)
        assert server.requests[0].headers["authorization"] == "Bearer hush-hush-hush"
        assert "hush" not in repr(settings)
        caller.close()


def test_a_model_that_cannot_be_opened_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for wrong in ("openai:gpt-5-mini", "gpt-5-mini"):
        with pytest.raises(InvalidInput, match="llm"):
            Perdure.open(tmp_path / "m.db", llm=wrong, **LIGHT)


def test_the_doctor_shows_the_models_and_no_key(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_LLM", "small")
    monkeypatch.setenv("PERDURE_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PERDURE_LLM_KEY", "hush-hush-hush")
    monkeypatch.setenv("PERDURE_LLM_REFLECT", "anthropic:claude-haiku-5-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush-hush-anthropic")
    told = [
        one["detail"] for one in cli("doctor", "--json").json["checks"] if one["name"] == "language model"
    ]
    assert told[0].startswith("http:small at http://127.0.0.1:9/v1")
    assert "retain, refine, consolidate" in told[0]
    assert told[1].startswith("anthropic:claude-haiku-5-5")
    assert "hush" not in " ".join(told)


def test_a_model_that_does_not_answer_is_told_from_one_that_refuses_the_key(tmp_path: Path) -> None:
    refusing = ScriptedLlm(lambda _: LlmRefused("no", status=401))
    with Perdure.open(tmp_path / "m.db", llm=refusing, **LIGHT) as memory:
        assert {one.status.value for one in memory.llm.health("b")} == {"auth_failed"}
    away = ScriptedLlm(lambda _: LlmBusy("no route", retry_after=1_000.0))
    with Perdure.open(tmp_path / "m.db", llm=away, **LIGHT) as memory:
        assert {one.status.value for one in memory.llm.health("b")} == {"unreachable"}
