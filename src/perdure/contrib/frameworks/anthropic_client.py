"""`wrap_anthropic`: an Anthropic client that remembers, for `messages` and `beta.messages`, blocking or asynchronous.

The original client stays as it is. Recalled text is a block behind the user's last words, in this one request; what user and
assistant said is retained after the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Any, TypeVar, cast

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, BankSource
from perdure.contrib.frameworks.client_calls import (
    CallMemory,
    CallShape,
    Request,
    beside_prompt,
    remembered,
    remembered_async,
    replace_methods,
)
from perdure.contrib.frameworks.versions import require

require("anthropic", "2.8", "anthropic")

from anthropic import Anthropic, AsyncAnthropic, AsyncStream, Stream  # noqa: E402
from anthropic.types import Message  # noqa: E402
from anthropic.types.beta import BetaMessage  # noqa: E402

Client = TypeVar("Client", bound=Anthropic | AsyncAnthropic)


def wrap_anthropic(
    client: Client,
    memory: Perdure | AsyncPerdure,
    *,
    bank: BankSource,
    document_id: str | None = None,
    max_tokens: int = MAX_TOKENS,
    deadline: float = DEADLINE,
) -> Client:
    """Return a copy of the client, on the same connections, whose calls recall from and retain into a bank.

    `document_id` names the conversation, a new one unless given. A blocking client needs a `Perdure`, an asynchronous one
    takes either. Memory that fails or takes longer than `deadline` seconds is left out.
    """
    return _wrap(client, CallMemory.around(memory, bank, document_id, max_tokens, deadline))


def _wrap(client: Client, memory: CallMemory) -> Client:
    wrapped = cast(Client, client.copy())
    owners: tuple[Any, ...] = (wrapped.messages, wrapped.beta.messages)
    for owner in owners:
        if isinstance(wrapped, Anthropic):
            replace_methods(
                owner,
                create=remembered(owner.create, MESSAGES, memory),
                parse=remembered(owner.parse, MESSAGES, memory),
                stream=_remembered_stream(owner.stream, memory),
            )
        else:
            replace_methods(
                owner,
                create=remembered_async(owner.create, MESSAGES, memory),
                parse=remembered_async(owner.parse, MESSAGES, memory),
                stream=_remembered_stream_async(owner.stream, memory),
            )

    def copy(**options: Any) -> Client:
        return _wrap(cast(Client, client.copy(**options)), memory)

    replace_methods(wrapped, copy=copy, with_options=copy)
    return wrapped


def _messages(request: Request) -> list[object]:
    messages = request.get("messages")
    return list(messages) if isinstance(messages, Iterable) else []


def _with_context(request: Request, messages: list[object], text: str) -> Request:
    return {**request, "messages": beside_prompt(messages, text, "text")} if messages else request


def _reply(reply: object) -> str:
    if isinstance(reply, Message | BetaMessage):
        return "".join(block.text for block in reply.content if block.type == "text")
    return ""


def _piece(item: object) -> str:
    delta = getattr(item, "delta", None)
    return str(delta.text) if delta is not None and getattr(delta, "type", "") == "text_delta" else ""


MESSAGES = CallShape(_messages, _with_context, _reply, _piece, (Stream, AsyncStream))


def _final_text(stream: object) -> str:
    """Return what a stream of messages said, "" unless it was read to its end."""
    try:
        snapshot: object = stream.current_message_snapshot  # type: ignore[attr-defined]
    except AssertionError:
        return ""
    return _reply(snapshot) if getattr(snapshot, "stop_reason", None) else ""


class _Streaming(AbstractContextManager[object]):
    """`messages.stream(...)` with memory: recalls when it is entered and retains when it is left."""

    def __init__(self, stream: Callable[..., Any], request: Request, memory: CallMemory) -> None:
        self._begin = stream
        self._request = request
        self._memory = memory
        self._messages = _messages(request)
        self._manager: AbstractContextManager[object] | None = None
        self._stream: object = None

    def __enter__(self) -> object:
        text = self._memory.recall(self._messages)
        self._manager = self._begin(**_with_context(self._request, self._messages, text))
        self._stream = self._manager.__enter__()
        return self._stream

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._manager is not None
        self._memory.keep(self._messages, _final_text(self._stream))
        return self._manager.__exit__(kind, error, trace)


class _AsyncStreaming(AbstractAsyncContextManager[object]):
    """As `_Streaming`, for event loops."""

    def __init__(self, stream: Callable[..., Any], request: Request, memory: CallMemory) -> None:
        self._begin = stream
        self._request = request
        self._memory = memory
        self._messages = _messages(request)
        self._manager: AbstractAsyncContextManager[object] | None = None
        self._stream: object = None

    async def __aenter__(self) -> object:
        text = await self._memory.arecall(self._messages)
        self._manager = self._begin(**_with_context(self._request, self._messages, text))
        self._stream = await self._manager.__aenter__()
        return self._stream

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._manager is not None
        await self._memory.akeep(self._messages, _final_text(self._stream))
        return await self._manager.__aexit__(kind, error, trace)


def _remembered_stream(stream: Callable[..., Any], memory: CallMemory) -> Callable[..., _Streaming]:
    return lambda **request: _Streaming(stream, request, memory)


def _remembered_stream_async(
    stream: Callable[..., Any], memory: CallMemory
) -> Callable[..., _AsyncStreaming]:
    return lambda **request: _AsyncStreaming(stream, request, memory)
