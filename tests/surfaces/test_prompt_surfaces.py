"""What each surface renders for a model keeps within max_tokens, and claims no more than the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from perdure import Perdure
from perdure.domain.recall import Precision
from perdure.manage.facts import FactListOptions
from perdure.recall.options import PromptOptions
from perdure.surfaces.mcp.tools import Tools
from perdure.surfaces.rest.app import create_app

BUDGETS = [0, 10, 60, 150, 400]


def searching(max_tokens: int) -> PromptOptions:
    return PromptOptions(max_tokens=max_tokens, precision=Precision.SEARCH)


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


@pytest.mark.parametrize("budget", BUDGETS)
def test_every_text_for_a_model_keeps_within_max_tokens(memory: Perdure, budget: int) -> None:
    tools = Tools(memory)
    question = "Which museum did Ann visit?"
    texts = [
        memory.prompt("default", question, max_tokens=budget, precision="search"),
        tools.recall(question, searching(budget)).text,
        tools.recall(question, searching(budget), with_ids=True).text,
        tools.recall("Who is the president of Mars?", PromptOptions(max_tokens=budget)).text,
        tools.recent(FactListOptions(limit=40), max_tokens=budget).text,
        tools.recent(FactListOptions(limit=40), max_tokens=budget, with_ids=True).text,
    ]
    assert all(memory.count_tokens(text) <= budget for text in texts)
    assert bool(texts[0]) == (budget >= 60)


def test_the_tool_returns_as_data_the_facts_that_its_text_tells(memory: Perdure) -> None:
    answer = Tools(memory).recall("Which museum did Ann visit?", searching(300))
    told = [line for line in answer.text.splitlines() if line.startswith("[")]
    assert 1 < len(told) == len(answer.data.memories) < 40
    assert answer.data.tokens == memory.count_tokens(answer.text) <= 300
    recent = Tools(memory).recent(FactListOptions(limit=40), max_tokens=300)
    told = [line for line in recent.text.splitlines() if line.startswith("[")]
    assert 1 < len(told) == len(recent.data.memories) < recent.data.total == 40


def test_a_tool_says_why_it_has_nothing_to_tell(memory: Perdure) -> None:
    assert Tools(memory).recall("Ann?", bank="empty").text == "Nothing: memory holds nothing on this."
    assert Tools(memory).recall("Ann?", searching(30)).text == "Nothing on this fits max_tokens."
    assert Tools(memory).recent(bank="empty").text == "Memory holds nothing on this."


def test_the_context_over_rest_keeps_within_max_tokens(memory: Perdure) -> None:
    with TestClient(create_app(memory), base_url="http://localhost") as client:
        asked = {"query": "Which museum did Ann visit?", "max_tokens": 200, "context_string": True}
        answer = client.post("/v1/default/banks/default/memories/recall", json=asked).json()
    assert answer["context"].startswith("<recalled_memory>")
    assert memory.count_tokens(answer["context"]) <= 200
