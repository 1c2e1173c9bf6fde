"""The LiteLLM adapter: the checklist with a provider of its own, so that what a provider receives is seen."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
from litellm import CustomLLM
from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
from litellm.types.utils import GenericStreamingChunk, ModelResponse

from perdure import InvalidInput, Perdure
from perdure.contrib.frameworks.litellm import PerdureLogger, bank_by_user, wrap_completion
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


class Provider(CustomLLM):
    """Replies in order; each is a text, or None for a call of the tool. Notes the messages of all requests."""

    def __init__(self) -> None:
        super().__init__()
        self.replies: list[str | None] = []
        self.requests: list[list[Said]] = []

    def completion(self, *args: Any, **options: Any) -> ModelResponse:
        self.requests.append([said(message) for message in options["messages"]])
        reply = self.replies.pop(0)
        message: dict[str, Any] = {"role": "assistant", "content": reply}
        if reply is None:
            function = {"name": LOOKUP, "arguments": "{}"}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
        return ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": message}])

    async def acompletion(self, *args: Any, **options: Any) -> ModelResponse:
        return self.completion(*args, **options)

    def _pieces(self, options: Any) -> Iterator[GenericStreamingChunk]:
        self.requests.append([said(message) for message in options["messages"]])
        reply = self.replies.pop(0) or ""
        for position, letter in enumerate(reply):
            last = position == len(reply) - 1
            yield {
                "text": letter, "is_finished": last, "finish_reason": "stop" if last else "",
                "index": 0, "tool_use": None, "usage": None,
            }  # fmt: skip

    def streaming(self, *args: Any, **options: Any) -> Iterator[GenericStreamingChunk]:
        yield from self._pieces(options)

    async def astreaming(self, *args: Any, **options: Any) -> AsyncIterator[GenericStreamingChunk]:
        for piece in self._pieces(options):
            yield piece


def said(message: Any) -> Said:
    content = message.get("content") or ""
    return Said(message["role"], content if isinstance(content, str) else str(content))


def use(provider: Provider, *callbacks: Any) -> None:
    litellm.logging_callback_manager._reset_all_callbacks()
    litellm.custom_provider_map = [{"provider": "fake", "custom_handler": provider}]
    litellm.callbacks = list(callbacks)


class CompletionConversation(Conversation):
    """A loop around `acompletion` with the callback, or around `completion`, wrapped."""

    def __init__(self, memory: Any, bank: str, document_id: str, deadline: float, asynchronous: bool) -> None:
        self._provider = Provider()
        self._asynchronous = asynchronous
        self._session = document_id
        logger = PerdureLogger(memory, bank=bank, deadline=deadline)
        self._callbacks = [logger] if asynchronous else []
        self._completion = wrap_completion(
            litellm.completion, memory, bank=bank, document_id=document_id, deadline=deadline
        )
        self._messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}]

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        use(self._provider, *self._callbacks)
        begun = len(self._provider.requests)
        self._messages.append({"role": "user", "content": text})
        if tool_output is not None:
            self._ask(None)
            self._messages.append({"role": "tool", "tool_call_id": "call_1", "content": tool_output})
        told = self._ask(reply)
        return Exchange(self._provider.requests[begun:], told)

    def _ask(self, reply: str | None) -> str:
        self._provider.replies.append(reply)
        call = {"model": "fake/m", "messages": self._messages}
        answer = asyncio.run(self._acompletion(call)) if self._asynchronous else self._completion(**call)
        self._messages.append(answer.choices[0].message.model_dump())
        return answer.choices[0].message.content or ""

    async def _acompletion(self, call: Any) -> Any:
        answer = await litellm.acompletion(**call, metadata={"session_id": self._session})
        await asyncio.sleep(0.05)
        await GLOBAL_LOGGING_WORKER.flush()
        return answer

    def history(self) -> list[Said]:
        return [said(message) for message in self._messages[1:]]


class TestCompletion(SettledChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return CompletionConversation(memory, bank, conversation, deadline, asynchronous)


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


PROMPT = [{"role": "user", "content": QUESTION}]


async def ask(reply: str = REPLY, **options: Any) -> Any:
    answer = await litellm.acompletion(model="fake/m", messages=PROMPT, **options)
    told = answer if not options.get("stream") else [chunk async for chunk in answer]
    await asyncio.sleep(0.1)
    await GLOBAL_LOGGING_WORKER.flush()
    return told


def test_the_bank_comes_from_the_user_whom_the_request_names(memory: Perdure) -> None:
    provider = Provider()
    provider.replies = [REPLY, REPLY]
    use(provider, PerdureLogger(memory, bank=bank_by_user("shop")))
    asyncio.run(ask(metadata={"user_id": "ann"}))
    asyncio.run(ask(user="bob"))
    settle(memory)
    assert QUESTION in stored_text(memory, "shop.ann")
    settle(memory, "shop.bob")
    assert QUESTION in stored_text(memory, "shop.bob")


def test_a_request_without_a_user_goes_on_without_memory(
    memory: Perdure, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider()
    provider.replies = [REPLY]
    use(provider, PerdureLogger(memory, bank=bank_by_user("shop")))
    asyncio.run(ask())
    assert "metadata: expected a user_id" in caplog.text
    assert memory.banks.list() == []
    with pytest.raises(InvalidInput):
        bank_by_user("shop")({"user_id": "default"})


def test_memory_can_be_switched_off_for_a_request(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    provider = Provider()
    provider.replies = [REPLY]
    use(provider, PerdureLogger(memory, bank=BANK))
    asyncio.run(ask(metadata={"perdure": False}))
    assert OPENING not in str(provider.requests)
    assert memory.operations.list(BANK) == []


def test_an_asynchronous_stream_is_retained_whole(memory: Perdure) -> None:
    memory.retain(BANK, FACT, document_id="before")
    provider = Provider()
    provider.replies = ["You told me about walnuts."]
    use(provider, PerdureLogger(memory, bank=BANK))
    asyncio.run(ask(stream=True))
    settle(memory)
    assert OPENING in str(provider.requests)
    assert [stored_text(memory).count(text) for text in (QUESTION, "walnuts", OPENING)] == [1, 1, 0]


def test_a_blocking_stream_is_retained_whole(memory: Perdure) -> None:
    memory.retain(BANK, FACT, document_id="before")
    provider = Provider()
    provider.replies = ["You told me about walnuts."]
    use(provider)
    stream = wrap_completion(litellm.completion, memory, bank=BANK)(
        model="fake/m", messages=PROMPT, stream=True
    )
    told = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    settle(memory)
    assert told == "You told me about walnuts."
    assert OPENING in str(provider.requests)
    assert [stored_text(memory).count(text) for text in (QUESTION, "walnuts")] == [1, 1]


def test_the_proxys_hook_changes_the_request_once(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    logger = PerdureLogger(memory, bank=BANK)
    data: dict[str, Any] = {"model": "m", "messages": PROMPT}
    once = asyncio.run(logger.async_pre_call_hook(None, None, data, "completion"))
    twice = asyncio.run(logger.async_pre_call_deployment_hook(once, None))
    assert str(once).count(OPENING) == 1
    assert twice == once
    assert data["messages"] == [{"role": "user", "content": QUESTION}]


def test_a_blocking_completion_under_the_callback_is_retained(memory: Perdure) -> None:
    provider = Provider()
    provider.replies = [REPLY]
    logger = PerdureLogger(memory, bank=BANK)
    use(provider, logger)
    litellm.completion(model="fake/m", messages=[{"role": "user", "content": FACT}])
    for _ in range(100):
        if memory.operations.list(BANK):
            break
        asyncio.run(asyncio.sleep(0.05))
    settle(memory)
    assert stored_text(memory).count(FACT) == 1
