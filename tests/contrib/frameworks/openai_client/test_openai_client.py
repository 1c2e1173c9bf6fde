"""`wrap_openai` by the checklist, for chat completions and responses, and what is its own: streams, copies, chained turns."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI, OpenAI

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.openai_client import wrap_openai
from perdure.domain.rendering import OPENING
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    INSTRUCTIONS,
    QUESTION,
    REPLY,
    Conversation,
    Exchange,
    Said,
    settle,
    stored_text,
)
from tests.contrib.frameworks.openai_client.openai_fake import FakeOpenAI
from tests.contrib.frameworks.settled import SettledChecklist


def clients(fake: FakeOpenAI) -> tuple[OpenAI, AsyncOpenAI]:
    http, http_async = (
        httpx2.Client(transport=fake.transport()),
        httpx2.AsyncClient(transport=fake.transport()),
    )
    return OpenAI(api_key="k", http_client=http), AsyncOpenAI(api_key="k", http_client=http_async)


def said(message: dict[str, Any]) -> Said:
    content = message.get("content") or message.get("output") or ""
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content)
    return Said(message.get("role") or str(message.get("type")), content)


class ChatConversation(Conversation):
    """A loop around `chat.completions.create` that keeps the messages itself."""

    def __init__(self, memory: Any, asynchronous: bool, **options: Any) -> None:
        self._fake = FakeOpenAI()
        client, client_async = clients(self._fake)
        self._client = wrap_openai(client, memory, **options)
        self._async_client = wrap_openai(client_async, memory, **options)
        self._asynchronous = asynchronous
        self._messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}]

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self._fake.bodies)
        self._messages.append({"role": "user", "content": text})
        if tool_output is not None:
            self._ask(None)
            self._messages.append({"role": "tool", "tool_call_id": "call_1", "content": tool_output})
        told = self._ask(reply)
        return Exchange([self._sent(body) for body in self._fake.bodies[begun:]], told)

    def _ask(self, reply: str | None) -> str:
        self._fake.replies.append(reply)
        if self._asynchronous:
            answer = asyncio.run(
                self._async_client.chat.completions.create(model="m", messages=self._messages)
            )
        else:
            answer = self._client.chat.completions.create(model="m", messages=self._messages)
        message = answer.choices[0].message
        self._messages.append(message)
        return message.content or ""

    def _sent(self, body: dict[str, Any]) -> list[Said]:
        return [said(message) for message in body["messages"]]

    def history(self) -> list[Said]:
        plain = [one if isinstance(one, dict) else one.model_dump() for one in self._messages[1:]]
        return [said(message) for message in plain]


class ResponsesConversation(ChatConversation):
    """A loop around `responses.create` that keeps the items itself and has the server store nothing."""

    def _ask(self, reply: str | None) -> str:
        self._fake.replies.append(reply)
        if self._asynchronous:
            answer = asyncio.run(
                self._async_client.responses.create(model="m", input=self._messages, store=False)
            )
        else:
            answer = self._client.responses.create(model="m", input=self._messages, store=False)
        self._messages += [item.model_dump(exclude_none=True) for item in answer.output]
        return answer.output_text

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self._fake.bodies)
        self._messages.append({"role": "user", "content": text})
        if tool_output is not None:
            self._ask(None)
            result = {"type": "function_call_output", "call_id": "call_1", "output": tool_output}
            self._messages.append(result)
        told = self._ask(reply)
        return Exchange([self._sent(body) for body in self._fake.bodies[begun:]], told)

    def _sent(self, body: dict[str, Any]) -> list[Said]:
        return [said(message) for message in body["input"]]


class TestChatCompletions(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return ChatConversation(memory, asynchronous, bank=bank, document_id=conversation, deadline=deadline)


class TestResponses(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return ResponsesConversation(
            memory, asynchronous, bank=bank, document_id=conversation, deadline=deadline
        )


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


PROMPT: list[Any] = [{"role": "user", "content": QUESTION}]


def test_the_client_that_is_wrapped_stays_without_memory(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    fake = FakeOpenAI([REPLY, REPLY])
    client, _ = clients(fake)
    wrap_openai(client, memory, bank=BANK).chat.completions.create(model="m", messages=PROMPT)
    client.chat.completions.create(model="m", messages=PROMPT)
    assert [str(body).count(OPENING) for body in fake.bodies] == [1, 0]


def test_a_copy_with_other_options_remembers_too(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    fake = FakeOpenAI([REPLY])
    wrapped = wrap_openai(clients(fake)[0], memory, bank=BANK).with_options(timeout=7)
    wrapped.chat.completions.create(model="m", messages=PROMPT)
    assert wrapped.timeout == 7
    assert OPENING in str(fake.bodies[0])


def test_the_callers_messages_are_not_changed(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    fake = FakeOpenAI([REPLY])
    parts = [{"type": "text", "text": QUESTION}]
    messages: list[Any] = [{"role": "user", "content": parts}]
    wrap_openai(clients(fake)[0], memory, bank=BANK).chat.completions.create(model="m", messages=messages)
    assert messages == [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    [sent] = fake.bodies[0]["messages"]
    assert sent["content"][0] == parts[0]
    assert OPENING in sent["content"][1]["text"]


def stream_whole(client: OpenAI) -> str:
    stream = client.chat.completions.create(model="m", messages=PROMPT, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def stream_helper(client: OpenAI) -> str:
    with client.chat.completions.stream(model="m", messages=PROMPT) as stream:
        return stream.get_final_completion().choices[0].message.content or ""


def stream_responses(client: OpenAI) -> str:
    stream = client.responses.create(model="m", input=QUESTION, stream=True)
    return "".join(event.delta for event in stream if event.type == "response.output_text.delta")


@pytest.mark.parametrize("read", [stream_whole, stream_helper, stream_responses])
def test_a_streamed_reply_arrives_whole_and_is_retained_once(memory: Perdure, read: Any) -> None:
    memory.retain(BANK, FACT, document_id="before")
    fake = FakeOpenAI(["You are allergic to peanuts, and to walnuts."])
    reply = read(wrap_openai(clients(fake)[0], memory, bank=BANK, document_id="talk"))
    assert reply == "You are allergic to peanuts, and to walnuts."
    assert str(fake.bodies[0]).count(OPENING) == 1
    settle(memory)
    kept = stored_text(memory)
    assert (kept.count(QUESTION), kept.count("walnuts"), OPENING in kept) == (1, 1, False)


def test_an_asynchronous_stream_is_retained_too(memory: Perdure) -> None:
    fake = FakeOpenAI([REPLY, REPLY])
    client = wrap_openai(clients(fake)[1], AsyncPerdure(memory), bank=BANK, document_id="talk")

    async def read() -> list[str]:
        stream = await client.chat.completions.create(model="m", messages=PROMPT, stream=True)
        told = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
        async with client.responses.stream(model="m", input=FACT) as events:
            final = await events.get_final_response()
        return [told, final.output_text]

    assert asyncio.run(read()) == [REPLY, REPLY]
    settle(memory)
    kept = stored_text(memory)
    assert [kept.count(text) for text in (QUESTION, FACT, REPLY)] == [1, 1, 2]


def test_of_a_stream_that_is_left_early_only_the_users_words_are_kept(memory: Perdure) -> None:
    fake = FakeOpenAI(["A long reply that nobody reads to its end."])
    client = wrap_openai(clients(fake)[0], memory, bank=BANK)
    with client.chat.completions.create(model="m", messages=PROMPT, stream=True) as stream:
        next(iter(stream))
    settle(memory)
    assert (QUESTION in stored_text(memory), "long reply" in stored_text(memory)) == (True, False)


def test_a_raw_response_gets_memory_and_leaves_the_users_words(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    fake = FakeOpenAI([REPLY])
    client = wrap_openai(clients(fake)[0], memory, bank=BANK, document_id="talk")
    raw = client.chat.completions.with_raw_response.create(model="m", messages=PROMPT)
    assert raw.parse().choices[0].message.content == REPLY
    assert OPENING in str(fake.bodies[0])
    settle(memory)
    assert QUESTION in stored_text(memory)


@pytest.mark.parametrize("chain", [{"previous_response_id": "resp_0"}, {"conversation": "conv_1"}, {}])
def test_a_conversation_that_the_server_holds_gets_recalled_text_as_instructions(
    memory: Perdure, chain: dict[str, Any]
) -> None:
    memory.retain(BANK, FACT)
    fake = FakeOpenAI([REPLY])
    client = wrap_openai(clients(fake)[0], memory, bank=BANK)
    client.responses.create(model="m", input=QUESTION, instructions=INSTRUCTIONS, **chain)
    [body] = fake.bodies
    assert body["input"] == QUESTION
    assert body["instructions"].startswith(f"{INSTRUCTIONS}\n\n{OPENING}")


def test_a_call_that_fails_leaves_nothing_and_raises(memory: Perdure) -> None:
    http = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(400, json={})))
    client = wrap_openai(OpenAI(api_key="k", http_client=http, max_retries=0), memory, bank=BANK)
    with pytest.raises(Exception, match="400"):
        client.chat.completions.create(model="m", messages=PROMPT)
    assert memory.operations.list(BANK) == []
