"""Reflect with a language model over REST: what the answer shows, and a client that leaves."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest

from perdure import LlmRequest
from tests.reflect.loop_kit import call, done
from tests.support.rest_server import open_quick, running
from tests.support.scripted_llm import ScriptedLlm, Step

BANK = "/v1/default/banks/b"


def test_the_trace_shows_the_calls_and_their_tokens(tmp_path: Path) -> None:
    llm = ScriptedLlm([call("recall", query="home"), done(("Ann lives in Lisbon.", ["F1"]))])
    with open_quick(tmp_path, llm=llm) as engine, running(engine) as url:
        engine.retain("b", "I live in Lisbon.", speaker="Ann")
        body = {"query": "Where does Ann live?", "include": {"tool_calls": {}}}
        answer = httpx.post(f"{url}{BANK}/reflect", json=body).json()
    assert answer["text"] == "Ann lives in Lisbon. [1]"
    assert (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]) == (200, 20)
    assert [one["asked_for"] for one in answer["trace"]["llm_calls"]] == ["recall", "done"]
    assert [one["tool"] for one in answer["trace"]["tool_calls"]][-1] == "recall"
    assert answer["trace"]["degraded"] == []


def test_a_client_that_leaves_ends_the_calls(tmp_path: Path) -> None:
    def script(request: LlmRequest) -> Step:
        time.sleep(0.8)
        return call("recall", query=f"words {len(llm.requests)}")

    llm = ScriptedLlm(script)
    with open_quick(tmp_path, llm=llm) as engine, running(engine) as url:
        engine.retain("b", "I live in Lisbon.", speaker="Ann")
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}{BANK}/reflect", json={"query": "Where?", "budget": "high"}, timeout=1.0)
        time.sleep(2.5)
        asked = len(llm.requests)
        time.sleep(1.2)
        assert len(llm.requests) == asked < 6
