"""Port of a language model: one request, one reply. `perdure.llm.Caller` adds retries and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant", "tool"]
JsonSchema = Mapping[str, object]


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    """The answer was cut at its token limit."""
    TOOLS = "tools"
    FILTERED = "filtered"
    """The provider withheld the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that a model may call."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's request to call a tool."""

    id: str
    name: str
    arguments: Mapping[str, object]
    """Empty if the model sent no JSON object; `invalid` has what it sent."""
    invalid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message of the conversation with a model."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""
    tool: str = ""
    """Of a tool's message: the tool's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """One request. With a schema the reply is one JSON value; with tools it may call them."""

    messages: Sequence[ChatMessage]
    max_tokens: int
    schema: JsonSchema | None = None
    tools: Sequence[Tool] = ()
    must_call_tool: bool = False
    timeout: float = 60.0
    """Seconds."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or more requests."""

    input: int = 0
    output: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(self.input + other.input, self.output + other.output)

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmReply:
    """A model's reply."""

    text: str
    usage: TokenUsage
    """As the provider counted; our own count if it reported none."""
    finish: Finish = Finish.STOP
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    """The model that answered, as the provider names it."""


@runtime_checkable
class Llm(Protocol):
    """A language model. Any thread may call it, several at once.

    `complete` sends one request, without retries. It raises `LlmRefused` for permanent failures (400, 401,
    402, 403, 404, 422) and `LlmBusy` for transient ones (429, 5xx, time-outs, broken connections), with
    `retry_after` if the provider gives it.
    """

    @property
    def name(self) -> str:
        """Return provider and model, such as "openai:gpt-5-mini", without a key."""

    @property
    def window(self) -> int:
        """Return the maximum tokens of a request and its reply together."""

    def complete(self, request: LlmRequest) -> LlmReply:
        """Return the model's reply."""
