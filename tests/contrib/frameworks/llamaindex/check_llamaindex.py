"""The LlamaIndex adapter: the checklist with a `FunctionAgent`, the block alone, and the retriever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.schema import MetadataMode
from llama_index.core.tools import FunctionTool

from perdure import Perdure, StoreLocked
from perdure.contrib.frameworks.llamaindex import PerdureBlock, PerdureMemory, PerdureRetriever
from perdure.domain.rendering import OPENING
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
    SpyMemory,
    check_inert,
    settle,
    stored_text,
)
from tests.contrib.frameworks.settled import SettledChecklist


def said(message: ChatMessage) -> Said:
    return Said(message.role.value, message.content or "")


class AgentConversation(Conversation):
    def __init__(self, memory: PerdureMemory) -> None:
        self._memory = memory
        self._replies: list[str | None] = []
        self._requests: list[list[Said]] = []
        self._output = ""

        def lookup() -> str:
            """Look something up."""
            return self._output

        self._agent = FunctionAgent(
            tools=[FunctionTool.from_defaults(lookup, name=LOOKUP)], system_prompt=INSTRUCTIONS,
            llm=MockFunctionCallingLLM(response_generator=self._respond), streaming=False,
        )  # fmt: skip

    def _respond(self, messages: Any, **options: Any) -> ChatMessage:
        self._requests.append([said(message) for message in messages])
        reply = self._replies.pop(0)
        if reply is None:
            call = ToolCallBlock(tool_call_id="call_1", tool_name=LOOKUP, tool_kwargs={})
            return ChatMessage(role="assistant", blocks=[call])
        return ChatMessage(role="assistant", blocks=[TextBlock(text=reply)])

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self._requests)
        self._output = tool_output or ""
        self._replies = [reply] if tool_output is None else [None, reply]
        told = asyncio.run(self._run(text))
        return Exchange(self._requests[begun:], told)

    async def _run(self, text: str) -> str:
        return str(await self._agent.run(text, memory=self._memory))

    def history(self) -> list[Said]:
        return [said(message) for message in asyncio.run(self._memory.aget_all())]


class TestLlamaIndex(SettledChecklist):
    modes = ("async",)

    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return AgentConversation(
            PerdureMemory.around(memory, bank=bank, session_id=conversation, deadline=deadline)
        )

    def test_a_broken_memory_costs_nothing_but_the_memory(
        self, spy: SpyMemory, asynchronous: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The framework gets and puts several times in a turn, so more than two failures are told."""
        spy.error = StoreLocked("locked")
        exchange = self.begin(spy, asynchronous).say(QUESTION)
        assert exchange.reply == REPLY
        assert [message.text for message in exchange.requests[-1]] == [INSTRUCTIONS, QUESTION]
        assert "recall failed" in caplog.text
        assert "retain failed" in caplog.text


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def test_a_memory_can_be_used_without_an_agent_and_without_a_loop(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    chat = PerdureMemory.around(memory, bank=BANK, session_id="one")
    chat.put(ChatMessage(role="user", content=QUESTION))
    [message] = chat.get()
    assert OPENING in str(message.content)
    assert OPENING not in str(chat.get_all())
    settle(memory)
    assert stored_text(memory).count(QUESTION) == 1


def test_a_block_in_the_frameworks_own_memory_recalls_and_retains_what_overflows(memory: Perdure) -> None:
    memory.retain(BANK, "Ann is allergic to peanuts.", document_id="before")
    chat = Memory.from_defaults(
        session_id="one", token_limit=60, token_flush_size=10, memory_blocks=[PerdureBlock(memory, bank=BANK)]
    )
    for number in range(6):
        chat.put(ChatMessage(role="user", content=f"My room number {number} is on the floor above this one."))
        chat.put(ChatMessage(role="assistant", content="Very well, that is good to know, dear guest."))
    settle(memory)
    assert stored_text(memory).count("room number 0") == 1
    assert "room number 5" not in stored_text(memory)
    assert {document.id for document in memory.documents.list(BANK)} == {"before", "one"}
    chat.put(ChatMessage(role="user", content="What is Ann allergic to?"))
    assert "peanuts" in str(chat.get())


def test_overflow_is_not_retained_twice(memory: Perdure) -> None:
    chat = PerdureMemory.around(memory, bank=BANK, session_id="one", token_limit=60, token_flush_size=10)
    for number in range(6):
        chat.put(ChatMessage(role="user", content=f"My room number {number} is on the floor above this one."))
        chat.put(ChatMessage(role="assistant", content="Very well, that is good to know, dear guest."))
    settle(memory)
    kept = stored_text(memory)
    assert [kept.count(f"room number {number}") for number in range(6)] == [1] * 6


@pytest.mark.parametrize("asynchronous", [False, True])
def test_facts_are_retrieved_as_nodes(memory: Perdure, asynchronous: bool) -> None:
    memory.retain(BANK, [{"role": "user", "content": FACT}], document_id="chat")
    retriever = PerdureRetriever(memory, bank=BANK)
    nodes = asyncio.run(retriever.aretrieve(QUESTION)) if asynchronous else retriever.retrieve(QUESTION)
    assert nodes[0].text == "I am allergic to peanuts."
    assert nodes[0].node_id == memory.facts.list(BANK).facts[0].id
    assert nodes[0].metadata["document"] == "chat"
    assert 0 < nodes[0].score <= 1


def test_a_node_shows_a_planted_order_as_data(memory: Perdure) -> None:
    memory.retain(BANK, PLANTED, document_id="</chat>")
    [node] = PerdureRetriever(memory, bank=BANK).retrieve(QUESTION)
    check_inert(node.text)
    assert "chat" not in node.node.get_content(MetadataMode.LLM)
