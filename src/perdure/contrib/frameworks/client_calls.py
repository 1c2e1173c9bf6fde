"""Memory around the calls of a model's client: what goes into a request, and what is kept of its reply, streams included."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from types import TracebackType
from typing import Any, Self, cast
from uuid import uuid4

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, BankSource
from perdure.contrib.frameworks.turns import ASSISTANT, USER, last_user_prompt
from perdure.extending import as_mapping, as_message, role_of

Request = dict[str, Any]
"""The keyword arguments of a call of a client."""


@dataclass(frozen=True, slots=True)
class CallMemory:
    """The memory of one client: a bank, and the conversation that its calls belong to."""

    agent: AgentMemory
    bank: BankSource
    document_id: str

    @classmethod
    def around(
        cls,
        memory: Perdure | AsyncPerdure,
        bank: BankSource,
        document_id: str | None,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> Self:
        """One for a client; a conversation without an id gets a new one."""
        agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        return cls(agent, bank, document_id or f"conversation-{uuid4()}")

    def recall(self, messages: Sequence[object]) -> str:
        """Recalled text for the last prompt; the same one for all requests of its turn."""
        return self.agent.context(self.bank, messages, turn=self._turn(messages))

    async def arecall(self, messages: Sequence[object]) -> str:
        """As `recall`, without blocking the event loop."""
        return await self.agent.acontext(self.bank, messages, turn=self._turn(messages))

    def keep(self, messages: Sequence[object], reply: str) -> None:
        """Retain what the request adds to the conversation, and the reply."""
        self._retain([*new_messages(messages), *_as_reply(reply)])

    async def akeep(self, messages: Sequence[object], reply: str) -> None:
        """As `keep`, without blocking the event loop."""
        await self._aretain([*new_messages(messages), *_as_reply(reply)])

    def keep_reply(self, reply: str) -> None:
        """Retain a reply whose request was retained before."""
        self._retain(_as_reply(reply))

    async def akeep_reply(self, reply: str) -> None:
        """As `keep_reply`, without blocking the event loop."""
        await self._aretain(_as_reply(reply))

    def _retain(self, messages: Sequence[object]) -> None:
        self.agent.retain_turns(self.bank, messages, document_id=self.document_id)

    async def _aretain(self, messages: Sequence[object]) -> None:
        await self.agent.aretain_turns(self.bank, messages, document_id=self.document_id)

    def _turn(self, messages: Sequence[object]) -> str:
        """Return a name for the turn: its conversation and the place of its prompt, which stays when tools have answered."""
        prompt = last_user_prompt(messages)
        return f"{self.document_id}/{'' if prompt is None else prompt.index}"


def _as_reply(text: str) -> list[Mapping[str, str]]:
    return [{"role": ASSISTANT, "content": text}] if text.strip() else []


def new_messages(messages: Sequence[object]) -> Sequence[object]:
    """Return the messages after the model's last one: a new prompt, or results of tools. The start of a reply is none."""
    end = len(messages)
    while end and _by_model(messages[end - 1]):
        end -= 1
    start = end
    while start and not _by_model(messages[start - 1]):
        start -= 1
    return messages[start:end]


def _by_model(part: object) -> bool:
    message = as_message(part)
    if message is None:
        return False
    role = role_of(message)
    return role == ASSISTANT or (not role and not str(message.get("type")).endswith("_output"))


def has_reply(messages: Sequence[object]) -> bool:
    """Whether the model speaks among the messages, so that the caller holds the conversation itself."""
    return any(map(_by_model, messages))


def beside_prompt(messages: Sequence[object], text: str, kind: str) -> list[object]:
    """Return a copy of the messages with recalled text behind the user's last words; parts of text are of this kind.

    Behind them, so that everything up to them stays a prefix that a provider's cache keeps.
    """
    changed = list(messages)
    prompt = last_user_prompt(changed)
    if prompt is None or not text:
        return changed
    original = changed[prompt.index]
    if isinstance(original, str):
        changed[prompt.index] = f"{original}\n\n{text}"
        return changed
    message = dict(as_mapping(original) or {})
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = f"{content}\n\n{text}"
    else:
        message["content"] = [*(content or ()), {"type": kind, "text": text}]
    message.setdefault("role", USER)
    changed[prompt.index] = message
    return changed


@dataclass(frozen=True, slots=True)
class CallShape:
    """How the requests and replies of one method of a client look."""

    messages: Callable[[Request], list[object]]
    with_context: Callable[[Request, list[object], str], Request]
    """The request with its messages and recalled text, which may be empty."""
    reply: Callable[[object], str]
    """What a whole reply says; "" for one that cannot be read without changing it, such as a raw response."""
    piece: Callable[[object], str]
    """What an item of a stream adds."""
    streams: tuple[type, ...]


def remembered(method: Callable[..., object], shape: CallShape, memory: CallMemory) -> Callable[..., object]:
    """Return the method of a blocking client, with memory."""

    @wraps(method)
    def call(**request: Any) -> object:
        messages = shape.messages(request)
        reply = method(**shape.with_context(request, messages, memory.recall(messages)))
        if isinstance(reply, shape.streams):
            memory.keep(messages, "")
            return HeardStream(cast(Iterator[object], reply), shape.piece, memory.keep_reply)
        memory.keep(messages, shape.reply(reply))
        return reply

    return call


def remembered_async(
    method: Callable[..., Awaitable[object]], shape: CallShape, memory: CallMemory
) -> Callable[..., Awaitable[object]]:
    """Return the method of an asynchronous client, with memory."""

    @wraps(method)
    async def call(**request: Any) -> object:
        messages = shape.messages(request)
        reply = await method(**shape.with_context(request, messages, await memory.arecall(messages)))
        if isinstance(reply, shape.streams):
            await memory.akeep(messages, "")
            return AsyncHeardStream(cast(AsyncIterator[object], reply), shape.piece, memory.akeep_reply)
        await memory.akeep(messages, shape.reply(reply))
        return reply

    return call


def replace_methods(owner: object, **methods: object) -> None:
    """Put these in place of the methods of one object; its class stays as it is."""
    for name, method in methods.items():
        setattr(owner, name, method)


class HeardStream:
    """A stream of a reply: everything passes on, and the end tells what was said."""

    def __init__(
        self, stream: Iterator[object], read: Callable[[object], str], tell: Callable[[str], None]
    ) -> None:
        self._stream = stream
        self._read = read
        self._tell = tell
        self._said: list[str] = []

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> object:
        try:
            item = next(self._stream)
        except StopIteration:
            said, self._said = "".join(self._said), []
            if said:
                self._tell(said)
            raise
        self._said.append(self._read(item))
        return item

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the stream beneath."""
        self._stream.close()  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


class AsyncHeardStream:
    """As `HeardStream`, for event loops."""

    def __init__(
        self,
        stream: AsyncIterator[object],
        read: Callable[[object], str],
        tell: Callable[[str], Awaitable[None]],
    ) -> None:
        self._stream = stream
        self._read = read
        self._tell = tell
        self._said: list[str] = []

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> object:
        try:
            item = await anext(self._stream)
        except StopAsyncIteration:
            said, self._said = "".join(self._said), []
            if said:
                await self._tell(said)
            raise
        self._said.append(self._read(item))
        return item

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the stream beneath."""
        await self._stream.close()  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
