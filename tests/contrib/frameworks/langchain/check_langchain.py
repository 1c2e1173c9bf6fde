"""LangChain: the middleware by the checklist, the retriever and the tools by LangChain's own suites."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from perdure import AsyncPerdure, InvalidInput, Perdure
from perdure.contrib.frameworks.agent_memory import bank_of
from perdure.contrib.frameworks.langchain import PerdureMiddleware, PerdureRetriever
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    INSTRUCTIONS,
    LOOKUP,
    PLANTED,
    QUESTION,
    REPLY,
    AdapterChecklist,
    Conversation,
    Exchange,
    Said,
    check_inert,
    settle,
    stored_text,
)


class ScriptedModel(FakeMessagesListChatModel):
    """Replies with the messages of its script and notes what it was sent."""

    seen: list[list[BaseMessage]] = []

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        self.seen.append(messages)
        return super()._generate(messages, *args, **options)


def said(messages: list[BaseMessage]) -> list[Said]:
    return [Said(message.type, str(message.content)) for message in messages]


def script(reply: str, tool_output: str | None) -> list[BaseMessage]:
    calls = [{"name": LOOKUP, "args": {}, "id": "call-1"}]
    calling = [] if tool_output is None else [AIMessage(content="", tool_calls=calls)]
    return [*calling, AIMessage(content=reply)]


class Agent(Conversation):
    def __init__(self, middleware: PerdureMiddleware, conversation: str, asynchronous: bool) -> None:
        self._output = ""
        self._asynchronous = asynchronous
        self._config: Any = {"configurable": {"thread_id": conversation}}
        self._model = ScriptedModel(responses=[], seen=[])

        @tool
        def lookup() -> str:
            """Look something up."""
            return self._output

        self._graph = create_agent(
            self._model,
            [lookup],
            system_prompt=INSTRUCTIONS,
            middleware=[middleware],
            checkpointer=InMemorySaver(),
        )

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        self._output = tool_output or ""
        self._model.responses = script(reply, tool_output)
        self._model.i = 0
        self._model.seen.clear()
        request = {"messages": [HumanMessage(content=text)]}
        if self._asynchronous:
            state = asyncio.run(self._graph.ainvoke(request, self._config))
        else:
            state = self._graph.invoke(request, self._config)
        return Exchange([said(messages) for messages in self._model.seen], str(state["messages"][-1].content))

    def history(self) -> list[Said]:
        return said(self._graph.get_state(self._config).values["messages"])


class TestMiddleware(AdapterChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return Agent(PerdureMiddleware(memory, bank, deadline=deadline), conversation, asynchronous)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


@dataclass
class Context:
    user_id: str


def test_the_bank_is_found_from_the_context_of_the_run(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    model = ScriptedModel(responses=[AIMessage(content=REPLY)], seen=[])
    middleware = PerdureMiddleware(memory, lambda run: bank_of("shop", run.context.user_id), deadline=10)
    agent = create_agent(model, [], middleware=[middleware], context_schema=Context)
    agent.invoke({"messages": [HumanMessage(content=QUESTION)]}, context=Context("ann"))
    agent.invoke({"messages": [HumanMessage(content=QUESTION)]}, context=Context("bob"))
    agent.invoke({"messages": [HumanMessage(content=QUESTION)]}, context=Context("anon"))
    assert [len(messages) for messages in model.seen] == [2, 1, 1]
    settle(memory)
    settle(memory, "shop.bob")
    assert QUESTION in stored_text(memory)
    assert [bank.id for bank in memory.banks.list()] == ["shop.ann", "shop.bob"]


def test_what_an_agent_asks_another_is_not_retained_as_the_users_words(memory: Perdure) -> None:
    inner = create_agent(
        ScriptedModel(responses=[AIMessage(content="It is 24 degrees.")], seen=[]),
        [],
        middleware=[PerdureMiddleware(memory, BANK, deadline=10)],
    )

    @tool
    def lookup() -> str:
        """Ask the other agent."""
        state = inner.invoke({"messages": [HumanMessage(content="I need the weather of Zanzibar.")]})
        return str(state["messages"][-1].content)

    model = ScriptedModel(responses=script(REPLY, ""), seen=[])
    outer = create_agent(model, [lookup], middleware=[PerdureMiddleware(memory, BANK, deadline=10)])
    outer.invoke({"messages": [HumanMessage(content=FACT)]})
    settle(memory)
    kept = stored_text(memory)
    assert "peanuts" in kept
    assert "Zanzibar" not in kept


def test_all_that_the_user_said_before_the_answer_is_retained(memory: Perdure) -> None:
    model = ScriptedModel(responses=[AIMessage(content=REPLY)], seen=[])
    agent = create_agent(model, [], middleware=[PerdureMiddleware(memory, BANK, deadline=10)])
    agent.invoke({"messages": [HumanMessage(content=FACT), HumanMessage(content="I live in Lisbon.")]})
    settle(memory)
    assert all(word in stored_text(memory) for word in ("peanuts", "Lisbon", REPLY))


def test_the_middleware_brings_tools_where_it_is_asked_to(memory: Perdure) -> None:
    call = {"name": "retain", "args": {"content": FACT}, "id": "1"}
    model = ScriptedModel(
        responses=[AIMessage(content="", tool_calls=[call]), AIMessage(content=REPLY)], seen=[]
    )
    middleware = PerdureMiddleware(memory, lambda run: bank_of("shop", run.context.user_id), tools=True)
    agent = create_agent(model, [], middleware=[middleware], context_schema=Context)
    state = agent.invoke({"messages": [HumanMessage(content="Note it.")]}, context=Context("ann"))
    [answer] = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert answer.content == "Remembered 1 new fact."
    assert "peanuts" in stored_text(memory)


def test_a_bank_that_cannot_be_is_refused_at_once(memory: Perdure) -> None:
    with pytest.raises(InvalidInput, match="bank"):
        PerdureMiddleware(memory, "a/b")


def test_documents_name_their_fact_and_its_evidence(memory: Perdure) -> None:
    for place in ("Lisbon", "Oslo", "Madrid"):
        memory.retain(BANK, f"Ann visited {place}.")
    [best, *_] = PerdureRetriever(memory=AsyncPerdure(memory), bank=BANK).invoke("Has Ann visited Oslo?")
    assert best.page_content == "Ann visited Oslo."
    assert memory.facts.get(BANK, best.id).text == best.page_content
    assert best.metadata["evidence"] in ("strong", "weak", "none")


def test_a_document_shows_a_planted_order_as_data(memory: Perdure) -> None:
    memory.retain(BANK, PLANTED)
    [document] = PerdureRetriever(memory=memory, bank=BANK).invoke(QUESTION)
    check_inert(document.page_content)
