"""The Agno adapter: the checklist with the framework's agent and our hooks, and the toolkit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

os.environ["AGNO_TELEMETRY"] = "false"

import pytest
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse

from perdure import Perdure
from perdure.contrib.frameworks.agent_memory import bank_of
from perdure.contrib.frameworks.agno import PerdureMemory, PerdureTools
from perdure.domain.rendering import OPENING
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    INSTRUCTIONS,
    LOOKUP,
    QUESTION,
    REPLY,
    Conversation,
    Exchange,
    Said,
    settle,
    stored_text,
)
from tests.contrib.frameworks.settled import SettledChecklist


class ScriptedModel(Model):
    """Replies in order; each is a text, or None for a call of the tool. Notes the messages of all requests."""

    def __init__(self) -> None:
        super().__init__(id="scripted")
        self.replies: list[str | None] = []
        self.requests: list[list[Said]] = []

    def invoke(self, *args: Any, **options: Any) -> ModelResponse:
        messages = options.get("messages") or args[0]
        self.requests.append([said(message) for message in messages])
        reply = self.replies.pop(0)
        if reply is None:
            function = {"name": LOOKUP, "arguments": "{}"}
            calls = [{"id": "call_1", "type": "function", "function": function}]
            return ModelResponse(role="assistant", tool_calls=calls)
        return ModelResponse(role="assistant", content=reply)

    async def ainvoke(self, *args: Any, **options: Any) -> ModelResponse:
        return self.invoke(*args, **options)

    def invoke_stream(self, *args: Any, **options: Any) -> Iterator[ModelResponse]:
        yield self.invoke(*args, **options)

    async def ainvoke_stream(self, *args: Any, **options: Any) -> AsyncIterator[ModelResponse]:
        yield self.invoke(*args, **options)

    def _parse_provider_response(self, response: Any, **options: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return response


def said(message: Any) -> Said:
    return Said(message.role, message.content or "")


class AgentConversation(Conversation):
    def __init__(self, memory: PerdureMemory, conversation: str, asynchronous: bool) -> None:
        self._asynchronous = asynchronous
        self._session = conversation
        self._output = ""
        self.model = ScriptedModel()

        def lookup() -> str:
            """Look something up."""
            return self._output

        hooks = memory.async_hooks() if asynchronous else memory.hooks()
        self.agent = Agent(
            model=self.model, system_message=INSTRUCTIONS, tools=[lookup], db=InMemoryDb(),
            add_history_to_context=True, num_history_runs=20, telemetry=False, **hooks,
        )  # fmt: skip

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self.model.requests)
        self._output = tool_output or ""
        self.model.replies = [reply] if tool_output is None else [None, reply]
        options: dict[str, Any] = {"session_id": self._session, "user_id": "ann"}
        if self._asynchronous:
            output = asyncio.run(self.agent.arun(text, **options))
        else:
            output = self.agent.run(text, **options)
        return Exchange(self.model.requests[begun:], output.content)

    def history(self) -> list[Said]:
        session = self.agent.get_session(session_id=self._session)
        return [said(message) for message in session.get_messages() if message.role != "system"]


class TestAgno(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return AgentConversation(
            PerdureMemory(memory, bank=bank, deadline=deadline), conversation, asynchronous
        )


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def test_the_bank_can_come_from_the_user_of_a_run(memory: Perdure) -> None:
    hooks = PerdureMemory(memory, bank=lambda user_id: bank_of("shop", user_id or ""))
    AgentConversation(hooks, "one", False).say(FACT)
    settle(memory)
    assert FACT in stored_text(memory, "shop.ann")


def test_a_stream_is_retained_too(memory: Perdure) -> None:
    memory.retain(BANK, FACT, document_id="before")
    conversation = AgentConversation(PerdureMemory(memory, bank=BANK), "one", False)
    conversation.model.replies = [REPLY]
    for _ in conversation.agent.run(QUESTION, session_id="one", user_id="ann", stream=True):
        pass
    settle(memory)
    assert OPENING in str(conversation.model.requests)
    assert [stored_text(memory).count(text) for text in (QUESTION, REPLY, OPENING)] == [1, 1, 0]


def test_what_a_session_stores_of_a_run_is_what_the_user_said(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    conversation = AgentConversation(PerdureMemory(memory, bank=BANK), "one", False)
    conversation.say(QUESTION)
    session = conversation.agent.get_session(session_id="one")
    assert OPENING not in str(session.to_dict())
    assert session.runs[0].input.input_content == QUESTION


def test_the_toolkit_has_every_tool(memory: Perdure) -> None:
    toolkit = PerdureTools(memory, bank=BANK)
    assert list(toolkit.functions) == ["retain", "recall", "reflect", "forget"]
    assert list(toolkit.async_functions) == ["retain", "recall", "reflect", "forget"]
    model = ScriptedModel()
    model.replies = [REPLY]
    Agent(model=model, tools=[toolkit], telemetry=False).run("Hello")
    assert "Remembered 1 new fact." in toolkit.functions["retain"].entrypoint(content=FACT)
