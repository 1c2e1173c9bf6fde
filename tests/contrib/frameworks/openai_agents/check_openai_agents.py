"""OpenAI Agents: filter and session by the checklist, and the tools, with the SDK's scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from perdure import Perdure
from perdure.contrib.frameworks.agent_memory import bank_of
from perdure.contrib.frameworks.openai_agents import PerdureSession, perdure_input_filter, perdure_tools
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
    SpyMemory,
    settle,
    stored_text,
)


def said(items: Any) -> list[Said]:
    """What a request or a history says; a call has no words."""
    told = []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if item.get("type") == "function_call_output":
            told.append(Said("tool", str(item["output"])))
        elif item.get("type") != "function_call":
            content = item["content"]
            text = content if isinstance(content, str) else "".join(part["text"] for part in content)
            told.append(Said(item["role"], text))
    return told


class Run(Conversation):
    def __init__(
        self, memory: Any, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> None:
        self._asynchronous = asynchronous
        self._session = PerdureSession(SQLiteSession(conversation), memory, bank, deadline=deadline)
        filtering = perdure_input_filter(memory, bank, deadline=deadline)
        self._config = RunConfig(tracing_disabled=True, call_model_input_filter=filtering)

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        @function_tool
        def lookup() -> str:
            """Look something up."""
            return tool_output or ""

        calling = [] if tool_output is None else [[function_call(LOOKUP, {}, call_id="1")]]
        model = ScriptedModel([*calling, [assistant_message(reply)]])
        agent = Agent(name="clerk", instructions=INSTRUCTIONS, model=model, tools=[lookup])
        options: Any = {"session": self._session, "run_config": self._config}
        if self._asynchronous:
            result = asyncio.run(Runner.run(agent, text, **options))
        else:
            result = Runner.run_sync(agent, text, **options)
        model.assert_complete()
        requests = [[Said("system", call.system_instructions), *said(call.input)] for call in model.calls]
        return Exchange(requests, str(result.final_output))

    def history(self) -> list[Said]:
        return said(asyncio.run(self._session.get_items()))


class TestRun(AdapterChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return Run(memory, bank, conversation, deadline, asynchronous)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def session(memory: Any, **options: Any) -> PerdureSession:
    return PerdureSession(SQLiteSession("thread-1"), memory, BANK, **options)


USER, ANSWER = {"role": "user", "content": FACT}, {"role": "assistant", "content": "I will remember it."}


def test_what_is_popped_is_taken_out_of_memory(memory: Perdure) -> None:
    async def use() -> None:
        one = session(memory)
        await one.add_items([USER, ANSWER])
        await one.add_items([{"role": "user", "content": "I live in Lisbon."}])
        await one.add_items([{"role": "assistant", "content": "Lovely."}])
        settle(memory)
        assert "Lisbon" in stored_text(memory)
        assert await one.pop_item() == {"role": "assistant", "content": "Lovely."}
        assert await one.pop_item() == {"role": "user", "content": "I live in Lisbon."}
        settle(memory)
        assert "Lisbon" not in stored_text(memory)
        assert "peanuts" in stored_text(memory)
        await one.pop_item()
        await one.pop_item()
        assert memory.documents.list(BANK) == []

    asyncio.run(use())


def test_a_session_that_is_cleared_is_forgotten_unless_said_otherwise(memory: Perdure) -> None:
    async def use() -> list[bool]:
        kept = []
        for forget in (False, True):
            one = session(memory, forget_on_clear=forget)
            await one.add_items([USER, ANSWER])
            settle(memory)
            await one.clear_session()
            assert await one.get_items() == []
            kept.append("peanuts" in stored_text(memory))
        return kept

    assert asyncio.run(use()) == [True, False]


def test_a_turn_waits_for_its_answer_and_what_is_popped_before_is_not_retained(memory: Perdure) -> None:
    async def use() -> None:
        one = session(memory)
        await one.add_items([USER])
        await one.pop_item()
        await one.add_items([{"role": "user", "content": "I live in Lisbon."}])
        assert memory.operations.list(BANK) == []
        await one.add_items([ANSWER])

    asyncio.run(use())
    settle(memory)
    assert "Lisbon" in stored_text(memory)
    assert "peanuts" not in stored_text(memory)


def test_that_a_session_could_not_be_forgotten_is_told(memory: Perdure) -> None:
    with pytest.raises(OSError, match="disk"):
        asyncio.run(session(SpyMemory(memory, error=OSError("disk"))).clear_session())


def test_the_runner_takes_it_for_a_session(memory: Perdure) -> None:
    from agents.memory import Session

    assert isinstance(session(memory), Session)


@dataclass
class Context:
    user_id: str


def test_tools_and_filter_find_the_bank_from_the_context_of_the_run(memory: Perdure) -> None:
    def bank(context: Context) -> str:
        return bank_of("shop", context.user_id)

    tools = perdure_tools(memory, bank)
    assert [tool.name for tool in tools] == ["retain", "recall", "reflect", "forget"]
    assert list(tools[0].params_json_schema["properties"]) == ["content"]
    assert tools[0].params_json_schema["properties"]["content"]["description"] == "What to remember."
    model = ScriptedModel(
        [
            [function_call("retain", {"content": FACT}, call_id="1")],
            [function_call("recall", {"query": QUESTION}, call_id="2")],
            [function_call("reflect", {"question": QUESTION}, call_id="3")],
            [function_call("forget", {"fact_id": "unknown"}, call_id="4")],
            [assistant_message(REPLY)],
        ]
    )
    agent = Agent(name="clerk", model=model, tools=[*tools])
    config = RunConfig(
        tracing_disabled=True, call_model_input_filter=perdure_input_filter(memory, bank, deadline=10)
    )
    asyncio.run(Runner.run(agent, "Please note this.", context=Context("ann"), run_config=config))
    answers = [one.text for one in said(model.calls[-1].input) if one.role == "tool"]
    assert answers[0] == "Remembered 1 new fact."
    assert all("peanuts" in answer for answer in answers[1:3])
    assert answers[3] == "There is no fact with the id unknown."
    assert [one.id for one in memory.banks.list()] == [BANK]
