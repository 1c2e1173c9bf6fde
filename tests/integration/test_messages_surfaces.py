"""Messages of SDKs over REST and MCP: what is said is remembered, the rest is named, and nothing refuses the call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.mcp.tools import Tools
from perdure.surfaces.rest.app import create_app

CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "user", "content": "I live in Oslo."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": ""},
    ],
    "responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "I live in Oslo."}]},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "I live in Oslo."}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
    ],
    "langchain": [
        {"type": "human", "data": {"content": "I live in Oslo.", "type": "human"}},
        {"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": [{"name": "look", "args": {}, "id": "c"}]}},
        {"type": "tool", "data": {"content": "", "type": "tool", "tool_call_id": "c"}},
    ],
    "mcp": [
        {"role": "user", "content": {"type": "text", "text": "I live in Oslo."}},
        {"role": "assistant", "content": {"type": "tool_use", "id": "t", "name": "look", "input": {}}},
        {"role": "user", "content": {"type": "tool_result", "toolUseId": "t", "content": []}},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "I live in Oslo."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]},
    ],
    "ai sdk": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "I live in Oslo."}]},
        {"id": "2", "role": "assistant", "parts": [{"type": "tool-look", "toolCallId": "c", "state": "input-available", "input": {}}]},
        {"id": "3", "role": "assistant", "parts": [{"type": "text", "text": ""}]},
    ],
}  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    options = {
        "embedder": "hashing",
        "reranker": "none",
        "tagger": "rules",
        "tokens": "approximate",
        "require_keys": False,
    }
    with Perdure.open(tmp_path / "m.db", **options) as opened:  # type: ignore[arg-type]
        yield opened


def remembered(memory: Perdure, bank: str) -> list[str]:
    return [fact.text for fact in memory.facts.iterate(bank)]


@pytest.mark.parametrize("sdk", CONVERSATIONS)
def test_messages_over_rest(memory: Perdure, sdk: str) -> None:
    with TestClient(create_app(memory), base_url="http://localhost") as client:
        answer = client.post("/v1/default/banks/b/memories", json={"items": CONVERSATIONS[sdk]})
    assert answer.status_code == 200, answer.text
    assert remembered(memory, "b") == ["The user lives in Oslo."]
    called, empty = answer.json()["warnings"]
    assert called.startswith("items[1]")
    assert called.endswith("a tool call (look)")
    assert empty.startswith("items[2]")


@pytest.mark.parametrize("sdk", CONVERSATIONS)
def test_messages_over_mcp(memory: Perdure, sdk: str) -> None:
    answer = Tools(memory).retain(CONVERSATIONS[sdk], bank="b")
    assert remembered(memory, "b") == answer.data.facts == ["The user lives in Oslo."]
    assert len(answer.data.passed_over) == 2
    assert "Passed over: content[1]" in answer.text


def test_what_is_passed_over_later_is_named_at_once_by_its_place_in_the_request(memory: Perdure) -> None:
    items = [
        {"content": "Ann plays the cello.", "document_id": "d", "update_mode": "append"},
        {
            "role": "assistant",
            "content": None,
            "document_id": "e",
            "tool_calls": [{"function": {"name": "look"}}],
        },
        {"role": "user", "content": "I live in Oslo.", "document_id": "e"},
    ]
    with TestClient(create_app(memory), base_url="http://localhost") as client:
        answer = client.post("/v1/default/banks/b/memories", json={"items": items, "async": True}).json()
    assert answer["warnings"] == ["items[1]: a tool call (look)"]


def test_a_call_with_nothing_to_remember_is_refused_by_name(memory: Perdure) -> None:
    with TestClient(create_app(memory), base_url="http://localhost") as client:
        answer = client.post(
            "/v1/default/banks/b/memories", json={"items": [{"role": "user", "content": None}]}
        )
    assert answer.status_code == 422
    assert "text to retain" in answer.text
