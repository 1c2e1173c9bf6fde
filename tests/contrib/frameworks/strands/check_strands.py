"""The Strands adapter: the checklist with the framework's agent, and the store by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from strands import Agent, tool
from strands.memory import MemoryManager
from strands.models import Model

from perdure import InvalidInput, Perdure, StoreLocked
from perdure.contrib.frameworks.strands import PerdureMemory, PerdureStore
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


class ScriptedModel(Model):
    """Replies in order; each is a text, or None for a call of the tool. Notes the messages of all requests."""

    def __init__(self) -> None:
        self.replies: list[str | None] = []
        self.requests: list[list[Said]] = []

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {}

    async def structured_output(self, *args: Any, **options: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError
        yield

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: str | None = None, **options: Any
    ) -> AsyncGenerator[Any, None]:
        self.requests.append([Said("system", system_prompt or ""), *map(said, messages)])
        reply = self.replies.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if reply is None:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": LOOKUP, "toolUseId": "t1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": reply}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if reply is None else "end_turn"}}


def said(message: Any) -> Said:
    texts = [str(block.get("text") or block.get("toolResult") or "") for block in message["content"]]
    return Said(message["role"], "".join(texts))


class StrandsConversation(Conversation):
    def __init__(self, store: PerdureStore, asynchronous: bool) -> None:
        self._output = ""
        self._asynchronous = asynchronous
        self._model = ScriptedModel()

        @tool(name=LOOKUP)
        def lookup() -> str:
            """Look something up."""
            return self._output

        self._memory = PerdureMemory(store, tools=False)
        self._agent = Agent(
            model=self._model, system_prompt=INSTRUCTIONS, tools=[lookup], memory_manager=self._memory,
            callback_handler=None,
        )  # fmt: skip

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self._model.requests)
        self._output = tool_output or ""
        self._model.replies = [reply] if tool_output is None else [None, reply]
        result = asyncio.run(self._invoke(text)) if self._asynchronous else self._agent(text)
        return Exchange(self._model.requests[begun:], str(result).strip())

    async def _invoke(self, text: str) -> Any:
        result = await self._agent.invoke_async(text)
        await self._memory.flush()
        return result

    def history(self) -> list[Said]:
        return [said(message) for message in self._agent.messages]


class TestStrands(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        store = PerdureStore(memory, bank=bank, document_id=conversation, deadline=deadline)
        return StrandsConversation(store, asynchronous)

    def test_a_broken_memory_costs_nothing_but_the_memory(
        self, spy: SpyMemory, asynchronous: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The framework hands turns over again that were not taken, so more than one failure is told."""
        spy.error = StoreLocked("locked")
        conversation = self.begin(spy, asynchronous)
        exchange = conversation.say(QUESTION)
        assert exchange.reply == REPLY
        assert [message.text for message in exchange.requests[-1]] == [INSTRUCTIONS, QUESTION]
        assert "recall failed" in caplog.text
        spy.error = None
        conversation.say(FACT)
        settle(spy.memory)
        kept = stored_text(spy.memory)
        assert [kept.count(text) for text in (QUESTION, FACT)] == [1, 1]


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def test_the_frameworks_own_manager_searches_adds_and_injects(memory: Perdure) -> None:
    store = PerdureStore(memory, bank=BANK)
    manager = MemoryManager(stores=[store], add_tool_config=True)
    asyncio.run(manager.add(FACT))
    [entry] = asyncio.run(manager.search(QUESTION))
    assert (entry.content, entry.store_name) == (FACT, "perdure")
    assert entry.metadata["id"] == memory.facts.list(BANK).facts[0].id
    model = ScriptedModel()
    model.replies = [REPLY]
    agent = Agent(model=model, memory_manager=manager, callback_handler=None)
    agent(QUESTION)
    assert "peanuts" in model.requests[0][-1].text
    assert "peanuts" not in str(agent.messages)


def test_a_store_that_is_read_only_takes_nothing(memory: Perdure) -> None:
    store = PerdureStore(memory, bank=BANK, writable=False)
    with pytest.raises(InvalidInput, match="writable"):
        asyncio.run(store.add(FACT))
    model = ScriptedModel()
    model.replies = [REPLY]
    Agent(model=model, memory_manager=PerdureMemory(store), callback_handler=None)(FACT)
    assert memory.operations.list(BANK) == []


def test_tools_search_add_reflect_and_forget(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    store = PerdureStore(memory, bank=BANK, extra_tools=True)
    agent = Agent(model=ScriptedModel(), memory_manager=PerdureMemory(store), callback_handler=None)
    assert set(agent.tool_names) == {"search_memory", "add_memory", "reflect_on_memory", "forget_memory"}
    assert "peanuts" in str(agent.tool.reflect_on_memory(question=QUESTION))
    [fact] = memory.facts.list(BANK).facts
    assert "Forgotten" in str(agent.tool.forget_memory(fact_id=fact.id))
    assert memory.facts.list(BANK).facts == ()


def test_a_batch_that_is_handed_over_twice_is_retained_once(memory: Perdure) -> None:
    from strands.memory import AddMessagesContext

    store = PerdureStore(memory, bank=BANK)
    batch: Any = [{"role": "user", "content": [{"text": FACT}]}]
    for _ in range(2):
        asyncio.run(store.add_messages(batch, AddMessagesContext(sequence_numbers=[4])))
    settle(memory)
    assert stored_text(memory).count(FACT) == 1
    assert OPENING not in stored_text(memory)


def test_an_entry_of_a_search_shows_a_planted_order_as_data(memory: Perdure) -> None:
    memory.retain(BANK, PLANTED)
    [entry] = asyncio.run(PerdureStore(memory, bank=BANK).search(QUESTION))
    check_inert(entry.content)
