"""LiteLLM: a callback for `acompletion`, routers and the proxy, and `wrap_completion` for calls that block.

The callback recalls in the hooks before a request and retains in the event after it. LiteLLM has no hook that may change a
blocking `completion`, so that is wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, BankSource, bank_of
from perdure.contrib.frameworks.client_calls import (
    CallMemory,
    CallShape,
    Request,
    beside_prompt,
    new_messages,
    remembered,
)
from perdure.contrib.frameworks.turns import ASSISTANT, last_user_prompt
from perdure.contrib.frameworks.versions import require
from perdure.domain.rendering import OPENING
from perdure.errors import InvalidInput

require("litellm", "1.100", "litellm")

from litellm import CustomStreamWrapper  # noqa: E402
from litellm.integrations.custom_logger import CustomLogger  # noqa: E402

RequestBank = str | Callable[[Mapping[str, object]], str]
"""A bank, or how to find it for a request by its metadata (see `bank_by_user`)."""
OFF = "perdure"
"""Key of a request's metadata that switches memory off for it: `metadata={"perdure": False}`."""
_USER_KEYS = ("user_id", "user", "user_api_key_end_user_id", "user_api_key_user_id")
_SESSION_KEYS = ("session_id", "conversation_id", "thread_id", "litellm_session_id")


def bank_by_user(app: str) -> Callable[[Mapping[str, object]], str]:
    """Return the bank of the user whom a request names: in its metadata, as `user`, or by the proxy's key."""

    def find(metadata: Mapping[str, object]) -> str:
        user = next((metadata[key] for key in _USER_KEYS if metadata.get(key)), None)
        if not isinstance(user, str):
            raise InvalidInput("metadata", "a user_id, which tells whose memory it is", None)
        return bank_of(app, user)

    return find


class PerdureLogger(CustomLogger):
    """`litellm.callbacks = [PerdureLogger(memory, bank="shop.ann")]`; in the proxy, an instance named in its settings."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: RequestBank,
        document_id: str = "litellm",
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:
        super().__init__()
        self.agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        self.bank = bank
        self.document_id = document_id

    async def async_pre_call_hook(
        self, user_api_key_dict: object, cache: object, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """In the proxy: the request with recalled text."""
        return await self._with_context(data)

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: object
    ) -> dict[str, Any]:
        """In `acompletion` and routers: the request with recalled text, unless it has some already."""
        return await self._with_context(kwargs)

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: object, start_time: datetime, end_time: datetime
    ) -> None:
        """Retain what the request adds to its conversation, and the whole reply."""
        if (said := self._said(kwargs, response_obj)) is not None:
            metadata = _metadata(kwargs)
            await self.agent.aretain_turns(
                self._bank_of(metadata), said, document_id=self._document(metadata), turn=_call_id(kwargs)
            )

    def log_success_event(
        self, kwargs: dict[str, Any], response_obj: object, start_time: datetime, end_time: datetime
    ) -> None:
        """Do the same after a call that blocked."""
        if (said := self._said(kwargs, response_obj)) is not None:
            metadata = _metadata(kwargs)
            self.agent.retain_turns(
                self._bank_of(metadata), said, document_id=self._document(metadata), turn=_call_id(kwargs)
            )

    async def _with_context(self, request: dict[str, Any]) -> dict[str, Any]:
        messages, metadata = request.get("messages"), _metadata(request)
        if not isinstance(messages, list) or metadata.get(OFF) is False or OPENING in str(messages[-1:]):
            return request
        prompt = last_user_prompt(messages)
        turn = None if prompt is None else f"{self._document(metadata)}/{prompt.index}"
        text = await self.agent.acontext(self._bank_of(metadata), messages, turn=turn)
        return {**request, "messages": beside_prompt(messages, text, "text")} if text else request

    def _said(self, request: Mapping[str, Any], response: object) -> list[object] | None:
        messages = request.get("messages")
        if not isinstance(messages, list) or _metadata(request).get(OFF) is False:
            return None
        return [*new_messages(messages), {"role": ASSISTANT, "content": _reply(response)}]

    def _bank_of(self, metadata: Mapping[str, object]) -> BankSource:
        bank = self.bank
        return bank if isinstance(bank, str) else lambda: bank(metadata)

    def _document(self, metadata: Mapping[str, object]) -> str:
        return next((str(metadata[key]) for key in _SESSION_KEYS if metadata.get(key)), self.document_id)


def wrap_completion(
    completion: Callable[..., object],
    memory: Perdure,
    *,
    bank: BankSource,
    document_id: str | None = None,
    max_tokens: int = MAX_TOKENS,
    deadline: float = DEADLINE,
) -> Callable[..., Any]:
    """`litellm.completion`, or that of a router, with memory; whole and streamed."""
    calls = CallMemory.around(memory, bank, document_id, max_tokens, deadline)
    return remembered(completion, COMPLETION, calls)


def _metadata(request: Mapping[str, Any]) -> dict[str, object]:
    """Return what a request says of itself, wherever LiteLLM has it at that point."""
    inner = request.get("litellm_params") or {}
    optional = request.get("optional_params") or {}
    places = (
        inner.get("metadata"),
        inner.get("litellm_metadata"),
        request.get("litellm_metadata"),
        request.get("metadata"),
    )
    gathered: dict[str, object] = {}
    for place in places:
        gathered.update(place if isinstance(place, Mapping) else {})
    for source, key in (
        (optional, "user"),
        (request, "user"),
        (inner, "litellm_session_id"),
        (request, "litellm_session_id"),
    ):
        if isinstance(source.get(key), str):
            gathered.setdefault(key, source[key])
    return gathered


def _call_id(request: Mapping[str, Any]) -> str | None:
    call_id = request.get("litellm_call_id")
    return call_id if isinstance(call_id, str) else None


def _reply(response: object) -> str:
    choices = getattr(response, "choices", None) or [None]
    message = getattr(choices[0], "message", None)
    content = getattr(message, "content", None)
    return content if isinstance(content, str) else ""


def _piece(item: object) -> str:
    choices = getattr(item, "choices", None) or [None]
    content = getattr(getattr(choices[0], "delta", None), "content", None)
    return content if isinstance(content, str) else ""


def _messages(request: Request) -> list[object]:
    messages = request.get("messages")
    return list(messages) if isinstance(messages, Iterable) else []


def _with_recalled(request: Request, messages: list[object], text: str) -> Request:
    return {**request, "messages": beside_prompt(messages, text, "text")} if messages else request


COMPLETION = CallShape(_messages, _with_recalled, _reply, _piece, (CustomStreamWrapper,))
