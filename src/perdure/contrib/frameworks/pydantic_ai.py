"""Pydantic AI: a capability that recalls before each model request and retains after each run, and a toolset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from typing import Any

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, MemoryTools
from perdure.contrib.frameworks.turns import last_user_prompt
from perdure.contrib.frameworks.versions import require
from perdure.domain.bank import check_bank_id

require("pydantic-ai-slim", "2.66", "pydantic-ai")

from pydantic_ai import RunContext  # noqa: E402
from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext  # noqa: E402
from pydantic_ai.run import AgentRunResult  # noqa: E402
from pydantic_ai.toolsets import FunctionToolset  # noqa: E402

__all__ = ["PerdureMemory", "perdure_toolset"]

BankOfRun = str | Callable[[RunContext[Any]], str]
"""A bank, or how to find it from a run: `lambda ctx: bank_of("shop", ctx.deps.user_id)`."""

_running: ContextVar[str | None] = ContextVar("perdure_pydantic_ai_run", default=None)
"""The run with memory that is under way here; one inside it is an agent's errand, not the user's words."""


@dataclass
class PerdureMemory(AbstractCapability[Any]):
    """Memory for `Agent(model, capabilities=[PerdureMemory(memory, bank)])`.

    Recalled text stands before the user's last prompt in the request alone. What user and agent said is retained when a run
    ends, as the document of its conversation (`conversation_id`). Runs inside other runs recall, but are not retained.
    """

    memory: Perdure | AsyncPerdure
    bank: BankOfRun
    max_tokens: int = MAX_TOKENS
    deadline: float = DEADLINE
    retain: bool = True
    """Whether runs are retained."""
    tools: bool = False
    """Whether the agent gets the tools of `perdure_toolset` too."""
    _agent: AgentMemory = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.bank, str):
            check_bank_id(self.bank)
        self._agent = AgentMemory(self.memory, max_tokens=self.max_tokens, deadline=self.deadline)

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools, where they are asked for."""
        return perdure_toolset(self.memory, self.bank, max_tokens=self.max_tokens) if self.tools else None

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Run, and retain what was said unless another run with memory is around this one."""
        nested = _running.get() is not None
        token: Token[str | None] = _running.set(ctx.run_id or "run")
        try:
            result = await handler()
        finally:
            _running.reset(token)
        if self.retain and not nested:
            await self._agent.aretain_turns(
                self._bank_of(ctx),
                _said(result.new_messages()),
                document_id=ctx.conversation_id or f"run-{ctx.run_id}",
                turn=ctx.run_id,
            )
        return result

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Recall for the user's last prompt, into this request alone."""
        messages = request_context.messages
        texts = [_prompt_text(message) for message in messages]
        prompt = last_user_prompt([{"role": "user", "content": text} if text else "" for text in texts])
        if prompt is None:
            return request_context
        text = await self._agent.acontext(self._bank_of(ctx), prompt.text, turn=ctx.run_id)
        if not text:
            return request_context
        recalled = _with_memory(messages[prompt.index], text)
        changed = [*messages[: prompt.index], recalled, *messages[prompt.index + 1 :]]
        return replace(request_context, messages=changed)

    def _bank_of(self, ctx: RunContext[Any]) -> str | Callable[[], str]:
        bank = self.bank
        return bank if isinstance(bank, str) else lambda: bank(ctx)


def perdure_toolset(
    memory: Perdure | AsyncPerdure, bank: BankOfRun, *, max_tokens: int = MAX_TOKENS
) -> FunctionToolset[Any]:
    """Return the tools retain, recall, reflect and forget for `Agent(toolsets=[...])`; the bank is the program's, never an argument."""
    agent = AgentMemory(memory, max_tokens=max_tokens)

    def tools_of(ctx: RunContext[Any]) -> MemoryTools:
        return agent.tools(bank if isinstance(bank, str) else lambda: bank(ctx))

    async def retain(ctx: RunContext[Any], content: str) -> str:
        return await tools_of(ctx).aretain(content)

    async def recall(ctx: RunContext[Any], query: str) -> str:
        return await tools_of(ctx).arecall(query)

    async def reflect(ctx: RunContext[Any], question: str) -> str:
        return await tools_of(ctx).areflect(question)

    async def forget(ctx: RunContext[Any], fact_id: str) -> str:
        return await tools_of(ctx).aforget(fact_id)

    functions: list[Callable[..., Any]] = [retain, recall, reflect, forget]
    for function, described in zip(functions, agent.tools("described").functions(), strict=True):
        function.__doc__ = described.__doc__
    return FunctionToolset(functions)


def _prompt_text(message: ModelMessage) -> str:
    """Return what the user says in a message; "" where it is the model's, or brings only instructions and tool results."""
    if not isinstance(message, ModelRequest):
        return ""
    return "\n".join(_user_text(part) for part in message.parts if isinstance(part, UserPromptPart)).strip()


def _user_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(text for one in part.content if (text := _content_text(one)))


def _content_text(content: object) -> str:
    """Return the text of a part of a prompt; "" of images and files."""
    text = content if isinstance(content, str) else getattr(content, "content", "")
    return text if isinstance(text, str) else ""


def _with_memory(message: ModelMessage, text: str) -> ModelMessage:
    """Return the request with recalled text before its first user prompt, as a part of its own."""
    assert isinstance(message, ModelRequest)
    place = next(i for i, part in enumerate(message.parts) if isinstance(part, UserPromptPart))
    parts = [*message.parts[:place], UserPromptPart(content=text), *message.parts[place:]]
    return replace(message, parts=parts)


def _said(messages: Sequence[ModelMessage]) -> list[dict[str, object]]:
    """User prompts and the model's texts; no instructions, calls, tool results or thoughts."""
    said: list[dict[str, object]] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            text = "\n".join(part.content for part in message.parts if isinstance(part, TextPart))
            said.append({"role": "assistant", "content": text})
        else:
            said.append({"role": "user", "content": _prompt_text(message)})
    return [one for one in said if one["content"]]
