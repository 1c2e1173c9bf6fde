"""Pydantic AI: the capability by the checklist, and the toolset, with its own function model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext, models
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from perdure import InvalidInput, Perdure
from perdure.contrib.frameworks.agent_memory import bank_of
from perdure.contrib.frameworks.pydantic_ai import PerdureMemory, perdure_toolset
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    INSTRUCTIONS,
    LOOKUP,
    QUESTION,
    REPLY,
    AdapterChecklist,
    Conversation,
    Exchange,
    Said,
    settle,
    stored_text,
)

models.ALLOW_MODEL_REQUESTS = False


def said(messages: list[ModelMessage]) -> list[Said]:
    told = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                told.append(Said("user", str(part.content)))
            elif isinstance(part, TextPart):
                told.append(Said("assistant", part.content))
            elif isinstance(part, ToolReturnPart):
                told.append(Said("tool", str(part.content)))
    return told


class AgentRun(Conversation):
    def __init__(
        self, memory: Any, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> None:
        self._conversation, self._asynchronous = conversation, asynchronous
        self._script: list[Any] = []
        self._seen: list[list[Said]] = []
        self._history: list[ModelMessage] = []
        self._output = ""
        self._agent = Agent(
            FunctionModel(self._answer),
            instructions=INSTRUCTIONS,
            capabilities=[PerdureMemory(memory, bank, deadline=deadline)],
        )

        @self._agent.tool_plain
        def lookup() -> str:
            """Look something up."""
            return self._output

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self._seen.append([Said("system", str(info.instructions)), *said(messages)])
        return ModelResponse(parts=[self._script.pop(0)])

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        self._output = tool_output or ""
        self._script = [*([] if tool_output is None else [ToolCallPart(LOOKUP, {})]), TextPart(reply)]
        self._seen = []
        options: Any = {"message_history": self._history, "conversation_id": self._conversation}
        if self._asynchronous:
            result = asyncio.run(self._agent.run(text, **options))
        else:
            result = self._agent.run_sync(text, **options)
        self._history = result.all_messages()
        return Exchange(self._seen, result.output)

    def history(self) -> list[Said]:
        return said(self._history)


class TestCapability(AdapterChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return AgentRun(memory, bank, conversation, deadline, asynchronous)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


@dataclass
class Deps:
    user_id: str


def bank(ctx: RunContext[Deps]) -> str:
    return bank_of("shop", ctx.deps.user_id)


def test_the_bank_is_found_from_the_dependencies_of_the_run(memory: Perdure) -> None:
    agent = Agent(
        TestModel(custom_output_text=REPLY),
        deps_type=Deps,
        capabilities=[PerdureMemory(memory, bank, deadline=10)],
    )
    for user in ("ann", "anon"):
        agent.run_sync(FACT, deps=Deps(user))
    settle(memory)
    assert [one.id for one in memory.banks.list()] == [BANK]
    assert "peanuts" in stored_text(memory)


def test_what_an_agent_asks_another_is_not_retained_as_the_users_words(memory: Perdure) -> None:
    inner = Agent(
        TestModel(custom_output_text="24 degrees."), capabilities=[PerdureMemory(memory, BANK, deadline=10)]
    )
    outer = Agent(
        TestModel(custom_output_text=REPLY), capabilities=[PerdureMemory(memory, BANK, deadline=10)]
    )

    @outer.tool_plain
    async def weather() -> str:
        """Ask the other agent."""
        return (await inner.run("I need the weather of Zanzibar.")).output

    outer.run_sync(FACT)
    settle(memory)
    assert "peanuts" in stored_text(memory)
    assert "Zanzibar" not in stored_text(memory)


def test_a_prompt_of_several_parts_is_asked_and_retained_without_pictures(memory: Perdure) -> None:
    from pydantic_ai import ImageUrl

    agent = Agent(
        TestModel(custom_output_text=REPLY), capabilities=[PerdureMemory(memory, BANK, deadline=10)]
    )
    agent.run_sync([FACT, ImageUrl(url="https://example.com/picture.png"), "I live in Lisbon."])
    settle(memory)
    kept = stored_text(memory)
    assert "peanuts" in kept
    assert "Lisbon" in kept
    assert "picture" not in kept


def test_the_capability_brings_tools_where_it_is_asked_to(memory: Perdure) -> None:
    model = TestModel(call_tools=["retain"], custom_output_text=REPLY)
    agent = Agent(model, deps_type=Deps, capabilities=[PerdureMemory(memory, bank, retain=False, tools=True)])
    agent.run_sync("Note it.", deps=Deps("ann"))
    assert len(memory.documents.list(BANK)) == 1
    parameters = model.last_model_request_parameters
    assert parameters is not None
    assert [tool.name for tool in parameters.function_tools] == ["retain", "recall", "reflect", "forget"]
    assert list(parameters.function_tools[0].parameters_json_schema["properties"]) == ["content"]


def test_the_toolset_recalls_reflects_and_forgets(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    [fact] = memory.facts.list(BANK).facts
    calls = [
        ToolCallPart("recall", {"query": QUESTION}),
        ToolCallPart("reflect", {"question": QUESTION}),
        ToolCallPart("forget", {"fact_id": fact.id}),
    ]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[calls.pop(0) if calls else TextPart(REPLY)])

    agent = Agent(FunctionModel(answer), toolsets=[perdure_toolset(memory, BANK)])
    result = agent.run_sync("Go on.")
    answers = [one.text for one in said(result.all_messages()) if one.role == "tool"]
    assert fact.id in answers[0]
    assert "peanuts" in answers[1]
    assert answers[2] == "Forgotten."
    assert memory.banks.stats(BANK).facts == 0


def test_requests_that_the_capability_changes_stay_as_they_were_for_others(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    agent = Agent(
        TestModel(custom_output_text=REPLY), capabilities=[PerdureMemory(memory, BANK, deadline=10)]
    )
    first = agent.run_sync(QUESTION).all_messages()[0]
    assert isinstance(first, ModelRequest)
    assert [part.content for part in first.parts] == [QUESTION]


def test_a_bank_that_cannot_be_is_refused_at_once(memory: Perdure) -> None:
    with pytest.raises(InvalidInput, match="bank"):
        PerdureMemory(memory, "a/b")
