"""`wrap_openai`: an OpenAI client that remembers, for chat completions and the Responses API, blocking or asynchronous.

The original client stays as it is. Recalled text stands behind the user's last words, with their authority and in this one
request; what user and assistant said is retained after the reply.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, BankSource
from perdure.contrib.frameworks.client_calls import (
    CallMemory,
    CallShape,
    Request,
    beside_prompt,
    has_reply,
    remembered,
    remembered_async,
    replace_methods,
)
from perdure.contrib.frameworks.turns import USER
from perdure.contrib.frameworks.versions import require

require("openai", "2.0", "openai")

from openai import AsyncOpenAI, AsyncStream, OpenAI, Stream  # noqa: E402
from openai.types.chat import ChatCompletion, ChatCompletionChunk  # noqa: E402
from openai.types.responses import Response, ResponseCompletedEvent, ResponseIncompleteEvent  # noqa: E402

Client = TypeVar("Client", bound=OpenAI | AsyncOpenAI)


def wrap_openai(
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
    remember: Any = remembered if isinstance(wrapped, OpenAI) else remembered_async
    shapes: tuple[tuple[Any, CallShape], ...] = (
        (wrapped.chat.completions, CHAT),
        (wrapped.responses, RESPONSES),
    )
    for owner, shape in shapes:
        replace_methods(
            owner, create=remember(owner.create, shape, memory), parse=remember(owner.parse, shape, memory)
        )

    def copy(**options: Any) -> Client:
        return _wrap(cast(Client, client.copy(**options)), memory)

    replace_methods(wrapped, copy=copy, with_options=copy)
    return wrapped


def _listed(value: object) -> list[object]:
    """Messages as a list; a plain text is the user's, and what was left out is nothing."""
    if isinstance(value, str):
        return [{"role": USER, "content": value}]
    return list(value) if isinstance(value, Iterable) else []


def _chat_messages(request: Request) -> list[object]:
    return _listed(request.get("messages"))


def _chat_with_context(request: Request, messages: list[object], text: str) -> Request:
    return {**request, "messages": beside_prompt(messages, text, "text")} if messages else request


def _chat_reply(reply: object) -> str:
    if isinstance(reply, ChatCompletion) and reply.choices:
        return reply.choices[0].message.content or ""
    return ""


def _chat_piece(item: object) -> str:
    if isinstance(item, ChatCompletionChunk):
        return "".join(choice.delta.content or "" for choice in item.choices if choice.index == 0)
    return ""


def _response_messages(request: Request) -> list[object]:
    return _listed(request.get("input"))


def _response_with_context(request: Request, messages: list[object], text: str) -> Request:
    """Behind the prompt where the caller holds the conversation, else at the end of the instructions.

    What is sent as input becomes part of a conversation that the server holds, and would come back in each of its turns;
    instructions are those of one request.
    """
    if not text:
        return {**request, "input": messages} if not isinstance(request.get("input"), str) else request
    if _caller_holds(request, messages):
        return {**request, "input": beside_prompt(messages, text, "input_text")}
    instructions = request.get("instructions")
    told = f"{instructions}\n\n{text}" if isinstance(instructions, str) and instructions else text
    return {**request, "instructions": told}


def _caller_holds(request: Request, messages: list[object]) -> bool:
    chained = isinstance(request.get("previous_response_id"), str) or isinstance(
        request.get("conversation"), str | dict
    )
    return not chained and (request.get("store") is False or has_reply(messages))


def _response_reply(reply: object) -> str:
    return reply.output_text if isinstance(reply, Response) else ""


def _response_piece(item: object) -> str:
    if isinstance(item, ResponseCompletedEvent | ResponseIncompleteEvent):
        return item.response.output_text
    return ""


STREAMS = (Stream, AsyncStream)
CHAT = CallShape(_chat_messages, _chat_with_context, _chat_reply, _chat_piece, STREAMS)
RESPONSES = CallShape(_response_messages, _response_with_context, _response_reply, _response_piece, STREAMS)
