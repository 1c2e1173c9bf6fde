"""The Haystack adapter: the checklist with the framework's agent and our hooks, the components, and serialisation."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

from perdure import InvalidInput, Perdure
from perdure.contrib.frameworks.haystack import PerdureRetriever, PerdureWriter, RecallHook, memory_hooks
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    INSTRUCTIONS,
    LOOKUP,
    PLANTED,
    QUESTION,
    REPLY,
    Conversation,
    Exchange,
    Said,
    check_inert,
    settle,
    stored_text,
)
from tests.contrib.frameworks.settled import SettledChecklist


@component
class ScriptedGenerator:
    """Replies in order; each is a text, or None for a call of the tool. Notes the messages of all requests."""

    def __init__(self) -> None:
        self.replies: list[str | None] = []
        self.requests: list[list[Said]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **options: Any) -> dict[str, Any]:
        self.requests.append([said(message) for message in messages])
        reply = self.replies.pop(0)
        if reply is None:
            call = ToolCall(tool_name=LOOKUP, arguments={}, id="call_1")
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}
        return {"replies": [ChatMessage.from_assistant(reply)]}


def said(message: ChatMessage) -> Said:
    results = [str(result.result) for result in message.tool_call_results]
    return Said(message.role.value, message.text or "".join(results))


class AgentConversation(Conversation):
    def __init__(self, hooks: Any, conversation: str, asynchronous: bool) -> None:
        self._asynchronous = asynchronous
        self._context = {"conversation_id": conversation, "user": "ann"}
        self._output = ""
        self._generator = ScriptedGenerator()
        lookup = Tool(
            name=LOOKUP, description="Look something up.", parameters={"type": "object", "properties": {}},
            function=lambda: self._output,
        )  # fmt: skip
        self._agent = Agent(
            chat_generator=self._generator, tools=[lookup], system_prompt=INSTRUCTIONS, hooks=hooks
        )
        self._messages: list[ChatMessage] = []

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self._generator.requests)
        self._output = tool_output or ""
        self._generator.replies = [reply] if tool_output is None else [None, reply]
        messages = [*self._messages, ChatMessage.from_user(text)]
        if self._asynchronous:
            result = asyncio.run(self._agent.run_async(messages=messages, hook_context=self._context))
        else:
            result = self._agent.run(messages=messages, hook_context=self._context)
        self._messages = [one for one in result["messages"] if one.role.value != "system"]
        return Exchange(self._generator.requests[begun:], result["last_message"].text)

    def history(self) -> list[Said]:
        return [said(message) for message in self._messages]


class TestHaystack(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return AgentConversation(
            memory_hooks(memory, bank=bank, deadline=deadline), conversation, asynchronous
        )


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def test_the_bank_can_come_from_the_context_of_a_run(memory: Perdure) -> None:
    hooks = memory_hooks(memory, bank=lambda context: f"shop.{context['user']}")
    AgentConversation(hooks, "one", False).say(FACT)
    settle(memory)
    assert FACT in stored_text(memory, "shop.ann")


def test_components_write_and_retrieve_in_pipelines(memory: Perdure) -> None:
    writing = Pipeline()
    writing.add_component("writer", PerdureWriter(memory, bank=BANK))
    said_messages = [ChatMessage.from_user(FACT), ChatMessage.from_assistant(REPLY)]
    told = writing.run({"writer": {"messages": said_messages, "document_id": "chat"}})
    assert told["writer"]["messages_written"] == 2
    settle(memory)
    reading = Pipeline()
    reading.add_component("retriever", PerdureRetriever(memory, bank=BANK, top_k=3))
    [document, *_] = reading.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]
    assert document.content == "I am allergic to peanuts."
    assert document.id == memory.facts.list(BANK).facts[0].id
    assert document.meta["document"] == "chat"


def test_what_is_given_by_a_file_can_be_serialised(tmp_path: Path, memory: Perdure) -> None:
    hook = RecallHook(tmp_path / "other.db", bank=BANK, document_id="chat", max_tokens=300)
    restored = RecallHook.from_dict(hook.to_dict())
    assert (restored.bank, restored.document_id) == (BANK, "chat")
    retriever = PerdureRetriever(str(tmp_path / "other.db"), bank=BANK, top_k=4)
    assert PerdureRetriever.from_dict(retriever.to_dict()).top_k == 4
    with pytest.raises(InvalidInput, match="the path of a file"):
        RecallHook(memory, bank=BANK).to_dict()


def test_a_document_shows_a_planted_order_as_data(memory: Perdure) -> None:
    memory.retain(BANK, PLANTED)
    [document] = PerdureRetriever(memory, bank=BANK).run(QUESTION)["documents"]
    check_inert(document.content)
