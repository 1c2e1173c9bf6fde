"""What each surface renders for a model keeps within max_tokens, and claims no more than the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from mcp.types import CallToolResult, TextContent

from perdure import Perdure
from perdure.surfaces.mcp.tools import Tools
from perdure.surfaces.rest.app import create_app

BUDGETS = [0, 10, 60, 150, 400]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    options = {
        "embedder": "hashing",
        "reranker": "none",
        "tagger": "rules",
        "tokens": "cl100k",
        "require_keys": False,
    }
    with Perdure.open(tmp_path / "m.db", **options) as opened:  # type: ignore[arg-type]
        for number in range(40):
            text = f"Ann visited the museum of room {number} and drew picture {number * 7}."
            opened.retain(
                "default", text, document_id=f"a long name of a diary, {number}", timestamp="2026-03-01"
            )
        yield opened


def text_of(answer: object) -> str:
    assert isinstance(answer, CallToolResult)
    (block,) = answer.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize("budget", BUDGETS)
def test_every_text_for_a_model_keeps_within_max_tokens(memory: Perdure, budget: int) -> None:
    tools = Tools(memory)
    question = "Which museum did Ann visit?"
    texts = [
        memory.prompt("default", question, max_tokens=budget, precision="search"),
        text_of(tools.recall(question, max_tokens=budget, precision="search")),
        text_of(tools.recall(question, max_tokens=budget, precision="search", with_ids=True)),
        text_of(tools.context(question, max_tokens=budget)),
        text_of(tools.recall("Who is the president of Mars?", max_tokens=budget)),
    ]
    assert all(memory.count_tokens(text) <= budget for text in texts)
    assert bool(texts[0]) == (budget >= 60)


def test_the_tool_returns_as_data_the_facts_that_its_text_tells(memory: Perdure) -> None:
    answer = Tools(memory).recall("Which museum did Ann visit?", max_tokens=300, precision="search")
    assert isinstance(answer, CallToolResult)
    assert answer.structuredContent is not None
    told = [line for line in text_of(answer).splitlines() if line.startswith("[")]
    assert 1 < len(told) == len(answer.structuredContent["memories"]) < 40
    assert answer.structuredContent["tokens"] == memory.count_tokens(text_of(answer)) <= 300


def test_a_tool_says_why_it_has_nothing_to_tell(memory: Perdure) -> None:
    assert text_of(Tools(memory).recall("Ann?", bank="empty")) == "Nothing: memory holds nothing on this."
    assert (
        text_of(Tools(memory).recall("Ann?", max_tokens=30, precision="search"))
        == "Nothing on this fits max_tokens."
    )
    assert text_of(Tools(memory).context("Ann?", bank="empty")) == ""


def test_the_context_over_rest_keeps_within_max_tokens(memory: Perdure) -> None:
    with TestClient(create_app(memory), base_url="http://localhost") as client:
        asked = {"query": "Which museum did Ann visit?", "max_tokens": 200, "context_string": True}
        answer = client.post("/v1/default/banks/default/memories/recall", json=asked).json()
    assert answer["context"].startswith("<recalled_memory>")
    assert memory.count_tokens(answer["context"]) <= 200
