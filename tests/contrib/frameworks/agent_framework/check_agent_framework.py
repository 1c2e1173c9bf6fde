"""The Agent Framework adapter: the checklist with the framework's agent, streams, tools and banks by session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
    tool,
)

from perdure import Perdure
from perdure.contrib.frameworks.agent_framework import PerdureProvider
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


class ScriptedClient(FunctionInvocationLayer, BaseChatClient):
    """Replies in order; each is a text, or None for a call of the tool. Notes the messages of all requests."""

    def __init__(self) -> None:
        super().__init__()
        self.replies: list[str | None] = []
        self.requests: list[list[Said]] = []
        self.tools: list[str] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        instructions = [Said("system", options["instructions"])] if options.get("instructions") else []
        self.requests.append([*instructions, *map(said, messages)])
        self.tools = [one.name for one in options.get("tools") or ()]
        reply = self.replies.pop(0)
        call = Content.from_function_call("call_1", LOOKUP, arguments="{}")
        contents: list[Any] = [call] if reply is None else [Content.from_text(reply)]
        if stream:

            async def pieces() -> Any:
                yield ChatResponseUpdate(role="assistant", contents=contents)

            return ResponseStream(pieces(), finalizer=ChatResponse.from_updates)

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", contents)])

        return whole()


def said(message: Message) -> Said:
    results = [str(one.result) for one in message.contents if one.type == "function_result"]
    return Said(str(message.role), message.text or "".join(results))


class AgentConversation(Conversation):
    def __init__(self, provider: PerdureProvider, conversation: str, streamed: bool = False) -> None:
        self._output = ""
        self._streamed = streamed
        self.client = ScriptedClient()

        @tool(name=LOOKUP)
        def lookup() -> str:
            """Look something up."""
            return self._output

        self.agent = Agent(
            self.client, INSTRUCTIONS, tools=[lookup],
            context_providers=[InMemoryHistoryProvider(), provider],
        )  # fmt: skip
        self.session = self.agent.create_session(session_id=conversation)

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self.client.requests)
        self._output = tool_output or ""
        self.client.replies = [reply] if tool_output is None else [None, reply]
        told = asyncio.run(self._run(text))
        return Exchange(self.client.requests[begun:], told)

    async def _run(self, text: str) -> str:
        if self._streamed:
            stream = self.agent.run(text, session=self.session, stream=True)
            async for _ in stream:
                pass
            return (await stream.get_final_response()).text
        return (await self.agent.run(text, session=self.session)).text

    def history(self) -> list[Said]:
        stored = self.session.state[InMemoryHistoryProvider().source_id]["messages"]
        return [said(message) for message in stored]


class TestAgentFramework(SettledChecklist):
    modes = ("async",)
    streamed = False

    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        provider = PerdureProvider(memory, bank=bank, deadline=deadline)
        return AgentConversation(provider, conversation, self.streamed)


class TestAgentFrameworkStreamed(TestAgentFramework):
    streamed = True


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def test_the_bank_can_come_from_the_session(memory: Perdure) -> None:
    provider = PerdureProvider(memory, bank=lambda session: f"shop.{session.state['user']}")
    conversation = AgentConversation(provider, "one")
    conversation.session.state["user"] = "ann"
    conversation.say(FACT)
    settle(memory)
    assert FACT in stored_text(memory, "shop.ann")


def test_a_session_without_a_user_costs_the_memory_and_not_the_turn(memory: Perdure) -> None:
    provider = PerdureProvider(memory, bank=lambda session: f"shop.{session.state['user']}")
    assert AgentConversation(provider, "one").say(FACT).reply == REPLY


def test_a_provider_that_only_reads_retains_nothing(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    exchange = AgentConversation(PerdureProvider(memory, bank=BANK, retain=False), "one").say(QUESTION)
    assert OPENING in str(exchange.requests)
    assert memory.operations.list(BANK) == []


def test_the_model_gets_the_tools_where_they_are_asked_for(memory: Perdure) -> None:
    conversation = AgentConversation(PerdureProvider(memory, bank=BANK, tools=True), "one")
    conversation.say(FACT)
    assert conversation.client.tools == [LOOKUP, "retain", "recall", "reflect", "forget"]


def test_a_session_is_still_serialised(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    conversation = AgentConversation(PerdureProvider(memory, bank=BANK), "one")
    conversation.say(QUESTION)
    assert OPENING not in str(conversation.session.to_dict())


def test_a_service_that_holds_the_conversation_gets_recalled_text_as_instructions(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    conversation = AgentConversation(PerdureProvider(memory, bank=BANK), "one")
    conversation.client.STORES_BY_DEFAULT = True  # type: ignore[misc]
    [request] = conversation.say(QUESTION).requests
    assert request[0].text.startswith(INSTRUCTIONS)
    assert OPENING in request[0].text
    assert [message.text for message in request[1:]] == [QUESTION]
