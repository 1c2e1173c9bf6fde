"""Asking a language model: the one way in which the engine does it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from perdure.errors import LlmCut, LlmInvalid
from perdure.llm.expected import Expected
from perdure.ports.llm import ChatMessage, Finish, Llm, LlmReply, LlmRequest, TokenUsage, Tool

T = TypeVar("T")
REPLY_TOKENS = 4096


class LlmOperation(StrEnum):
    """What a call is for; models, limits and costs are told apart by it."""

    RETAIN = "retain"
    REFINE = "refine"
    CONSOLIDATE = "consolidate"
    REFLECT = "reflect"
    MENTAL_MODEL = "mental_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a call is for."""

    bank: str
    operation: LlmOperation
    prompt: str = ""
    """Name and hash of the prompt, as `Prompt.version` gives them: "extract@3f9c2a1b"."""
    deadline: float | None = None
    """On the clock of `time.monotonic`; DeadlineExceeded is raised instead of a call that would begin after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredReply(Generic[T]):
    """A structured answer that was read."""

    value: T
    usage: TokenUsage
    """Of all requests that it took, failed ones included."""
    model: str
    cut: bool = False
    """Whether the answer was cut and only its complete items are here; what they do not cover must be asked for again, in smaller parts."""


class Caller:
    """Calls the model that is set for an operation.

    Every call: tokens counted before and after, logged also when it fails; limits a minute are waited for, caps a day end in
    LlmCapReached; transient failures are tried again with back-off and jitter, then by the next model of the chain; a request that was
    refused or gave an invalid answer is never sent again as it was; an invalid answer is repaired once by a short request.
    """

    def __init__(self, models: Mapping[LlmOperation, Sequence[Llm]]) -> None:
        self._models = models

    def serves(self, operation: LlmOperation) -> bool:
        """Whether a model is set for the operation."""
        return bool(self._models.get(operation))

    def window(self, operation: LlmOperation) -> int:
        """Tokens that a request and its reply may have together: the least of the chain."""
        return min(model.window for model in self._models[operation])

    def structured(
        self,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        expected: Expected[T],
        *,
        max_tokens: int = REPLY_TOKENS,
    ) -> StructuredReply[T]:
        """A structured answer; LlmCut where it was cut and nothing complete is left, LlmInvalid where repair did not help."""
        reply = self.chat(purpose, messages, schema=expected.schema, max_tokens=max_tokens)
        if reply.finish is Finish.LENGTH:
            raise LlmCut(f"{reply.model}: the answer was cut after {max_tokens} tokens")
        try:
            return StructuredReply(
                value=expected.read(json.loads(reply.text)), usage=reply.usage, model=reply.model
            )
        except ValueError as error:
            raise LlmInvalid(f"{reply.model}: {error}") from error

    def chat(
        self,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[Tool] = (),
        must_call_tool: bool = False,
        schema: Mapping[str, object] | None = None,
        max_tokens: int = REPLY_TOKENS,
    ) -> LlmReply:
        """One reply, which may ask for tools; the usage is of all requests that it took."""
        model = self._models[purpose.operation][0]
        request = LlmRequest(
            messages=tuple(messages), max_tokens=max_tokens, schema=schema, tools=tuple(tools),
            must_call_tool=must_call_tool,
        )  # fmt: skip
        reply = model.complete(request)
        return replace(reply, model=reply.model or model.name)
