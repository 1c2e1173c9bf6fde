"""`wrap_anthropic` by the checklist, and what is its own: streams, blocks, the beta resource."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic

from perdure import Perdure
from perdure.contrib.frameworks.anthropic_client import wrap_anthropic
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

CALL = {"model": "m", "max_tokens": 100}


@dataclass
class FakeAnthropic:
    """Replies in order; each is a text, or None for a call of the tool. Notes the bodies of all requests."""

    replies: list[str | None] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        reply = self.replies.pop(0)
        block = {"type": "text", "text": reply}
        if reply is None:
            block = {"type": "tool_use", "id": "t1", "name": LOOKUP, "input": {}}
        message = {
            "id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [block],
            "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        if not body.get("stream"):
            return httpx2.Response(200, json=message)
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            *(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
                for piece in (reply or "")
            ),
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 1},
            },
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=text.encode())


def clients(fake: FakeAnthropic) -> tuple[Anthropic, AsyncAnthropic]:
    transport = httpx2.MockTransport(fake)
    return (
        Anthropic(api_key="k", http_client=httpx2.Client(transport=transport)),
        AsyncAnthropic(api_key="k", http_client=httpx2.AsyncClient(transport=transport)),
    )


def said(message: dict[str, Any]) -> Said:
    content = message["content"]
    if isinstance(content, str):
        return Said(message["role"], content)
    texts = [str(block.get("text") or block.get("content") or "") for block in content]
    return Said(message["role"], "\n".join(texts))


class MessagesConversation(Conversation):
    """A loop around `messages.create` that keeps the messages itself."""

    def __init__(self, memory: Any, asynchronous: bool, **options: Any) -> None:
        self._fake = FakeAnthropic()
        client, client_async = clients(self._fake)
        self._client = wrap_anthropic(client, memory, **options)
        self._async_client = wrap_anthropic(client_async, memory, **options)
        self._asynchronous = asynchronous
        self._messages: list[Any] = []

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        begun = len(self._fake.bodies)
        self._messages.append({"role": "user", "content": text})
        if tool_output is not None:
            self._ask(None)
            result = {"type": "tool_result", "tool_use_id": "t1", "content": tool_output}
            self._messages.append({"role": "user", "content": [result]})
        told = self._ask(reply)
        return Exchange([self._sent(body) for body in self._fake.bodies[begun:]], told)

    def _ask(self, reply: str | None) -> str:
        self._fake.replies.append(reply)
        request: dict[str, Any] = {**CALL, "system": INSTRUCTIONS, "messages": self._messages}
        if self._asynchronous:
            answer = asyncio.run(self._async_client.messages.create(**request))
        else:
            answer = self._client.messages.create(**request)
        self._messages.append({"role": "assistant", "content": [one.model_dump() for one in answer.content]})
        return "".join(block.text for block in answer.content if block.type == "text")

    def _sent(self, body: dict[str, Any]) -> list[Said]:
        return [Said("system", body["system"]), *map(said, body["messages"])]

    def history(self) -> list[Said]:
        return [said(message) for message in self._messages]


class TestMessages(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return MessagesConversation(
            memory, asynchronous, bank=bank, document_id=conversation, deadline=deadline
        )


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


PROMPT: list[Any] = [{"role": "user", "content": QUESTION}]
LONG = "You are allergic to peanuts, and to walnuts."


def stream_raw(client: Anthropic) -> str:
    stream = client.messages.create(**CALL, messages=PROMPT, stream=True)
    return "".join(event.delta.text for event in stream if event.type == "content_block_delta")


def stream_helper(client: Anthropic) -> str:
    with client.messages.stream(**CALL, messages=PROMPT) as stream:
        return "".join(stream.text_stream)


def stream_beta(client: Anthropic) -> str:
    with client.beta.messages.stream(**CALL, messages=PROMPT) as stream:
        return stream.get_final_text()


def stream_async(client: Anthropic, fake: FakeAnthropic | None = None) -> str:
    async def read() -> str:
        async with client.messages.stream(**CALL, messages=PROMPT) as stream:
            return await stream.get_final_text()

    return asyncio.run(read())


@pytest.mark.parametrize("read", [stream_raw, stream_helper, stream_beta, stream_async])
def test_a_streamed_reply_arrives_whole_and_is_retained_once(memory: Perdure, read: Any) -> None:
    memory.retain(BANK, FACT, document_id="before")
    fake = FakeAnthropic([LONG])
    client: Any = clients(fake)[read is stream_async]
    assert read(wrap_anthropic(client, memory, bank=BANK, document_id="talk")) == LONG
    assert str(fake.bodies[0]).count(OPENING) == 1
    settle(memory)
    kept = stored_text(memory)
    assert (kept.count(QUESTION), kept.count("walnuts"), OPENING in kept) == (1, 1, False)


def test_of_a_stream_that_is_left_early_only_the_users_words_are_kept(memory: Perdure) -> None:
    client = wrap_anthropic(clients(FakeAnthropic([LONG]))[0], memory, bank=BANK)
    with client.messages.stream(**CALL, messages=PROMPT) as stream:
        for _ in zip(range(3), stream, strict=False):
            pass
    settle(memory)
    assert (QUESTION in stored_text(memory), "walnuts" in stored_text(memory)) == (True, False)


def test_recalled_text_stands_behind_the_users_blocks_so_that_a_cached_prefix_holds(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    fake = FakeAnthropic([REPLY])
    block = {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "tool_use_id": "t0", "content": "Rain."}
    messages: list[Any] = [{"role": "user", "content": [result, block]}]
    wrap_anthropic(clients(fake)[0], memory, bank=BANK).beta.messages.create(**CALL, messages=messages)
    [sent] = fake.bodies[0]["messages"]
    assert sent["content"][:2] == [result, block]
    assert sent["content"][2]["text"].startswith(OPENING)
    assert messages == [{"role": "user", "content": [result, block]}]


def test_the_start_of_a_reply_does_not_hide_what_the_user_said(memory: Perdure) -> None:
    fake = FakeAnthropic([" your name is Ann."])
    client = wrap_anthropic(clients(fake)[0], memory, bank=BANK).with_options(timeout=7)
    client.messages.create(
        **CALL, messages=[{"role": "user", "content": FACT}, {"role": "assistant", "content": "Well,"}]
    )
    settle(memory)
    assert stored_text(memory).count(FACT) == 1


def test_the_client_that_is_wrapped_stays_without_memory(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    fake = FakeAnthropic([REPLY])
    client, _ = clients(fake)
    wrap_anthropic(client, memory, bank=BANK)
    client.messages.create(**CALL, messages=PROMPT)
    assert OPENING not in str(fake.bodies[0])
