"""Agno: hooks before and after a run of an agent, and a toolkit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, BankSource
from perdure.contrib.frameworks.turns import ASSISTANT, USER
from perdure.contrib.frameworks.versions import require

require("agno", "3.1", "agno")

from agno.models.message import Message  # noqa: E402
from agno.run import RunContext  # noqa: E402
from agno.run.agent import RunInput, RunOutput  # noqa: E402
from agno.session import AgentSession  # noqa: E402
from agno.tools import Toolkit  # noqa: E402

UserBank = str | Callable[[str | None], str]
"""A bank, or how to find it by the `user_id` of a run."""
PENDING_RUNS = 256
"""Runs whose input is remembered until they end; those that failed are pushed out."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run was asked, and what was put before it."""

    content: str
    recalled: str


class PerdureMemory:
    """`Agent(..., **PerdureMemory(memory, bank="shop.ann").hooks())`; `async_hooks()` for agents that are run by `arun`."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: UserBank,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:
        self.agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        self.bank = bank
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._lock = Lock()

    def hooks(self) -> dict[str, list[Callable[..., Any]]]:
        """`pre_hooks` and `post_hooks` for `run`."""
        return {"pre_hooks": [self.recall], "post_hooks": [self.retain]}

    def async_hooks(self) -> dict[str, list[Callable[..., Any]]]:
        """`pre_hooks` and `post_hooks` for `arun`."""
        return {"pre_hooks": [self.arecall], "post_hooks": [self.aretain]}

    def recall(self, run_input: RunInput, run_context: RunContext, user_id: str | None = None) -> None:
        """Put recalled text before the input; nothing but plain text is changed."""
        content = run_input.input_content
        if isinstance(content, str):
            text = self.agent.context(self._bank_of(user_id), content)
            self._begin(run_input, run_context.run_id, content, text)

    async def arecall(self, run_input: RunInput, run_context: RunContext, user_id: str | None = None) -> None:
        """As `recall`, without blocking the event loop."""
        content = run_input.input_content
        if isinstance(content, str):
            text = await self.agent.acontext(self._bank_of(user_id), content)
            self._begin(run_input, run_context.run_id, content, text)

    def retain(self, run_output: RunOutput, session: AgentSession, user_id: str | None = None) -> None:
        """Take recalled text out of what the session stores, and retain what user and agent said."""
        if (said := self._end(run_output)) is not None:
            self.agent.retain_turns(
                self._bank_of(user_id), said, document_id=session.session_id, turn=run_output.run_id
            )

    async def aretain(self, run_output: RunOutput, session: AgentSession, user_id: str | None = None) -> None:
        """As `retain`, without blocking the event loop."""
        if (said := self._end(run_output)) is not None:
            await self.agent.aretain_turns(
                self._bank_of(user_id), said, document_id=session.session_id, turn=run_output.run_id
            )

    def _begin(self, run_input: RunInput, run_id: str, content: str, text: str) -> None:
        with self._lock:
            self._runs[run_id] = _Run(content, text)
            while len(self._runs) > PENDING_RUNS:
                self._runs.popitem(last=False)
        if text:
            asked = Message(
                role=USER, content=content, images=run_input.images, audio=run_input.audios,
                videos=run_input.videos, files=run_input.files,
            )  # fmt: skip
            run_input.input_content = [Message(role=USER, content=text), asked]

    def _end(self, run_output: RunOutput) -> Sequence[dict[str, str]] | None:
        with self._lock:
            run = self._runs.pop(run_output.run_id or "", None)
        if run is None:
            return None
        if run.recalled:
            if run_output.input is not None:
                run_output.input.input_content = run.content
            if run_output.messages is not None:
                run_output.messages[:] = [one for one in run_output.messages if one.content != run.recalled]
        reply = run_output.content if isinstance(run_output.content, str) else ""
        return [{"role": USER, "content": run.content}, {"role": ASSISTANT, "content": reply}]

    def _bank_of(self, user_id: str | None) -> BankSource:
        bank = self.bank
        return bank if isinstance(bank, str) else lambda: bank(user_id)


class PerdureTools(Toolkit):
    """Tools with which the model retains, recalls, reflects and forgets by itself."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: BankSource,
        tags: Sequence[str] | None = None,
        max_tokens: int = MAX_TOKENS,
        **options: Any,
    ) -> None:
        tools = AgentMemory(memory, max_tokens=max_tokens).tools(bank, tags=tags)
        asynchronous = [(function, str(function.__name__)) for function in tools.async_functions()]
        super().__init__(name="perdure", tools=tools.functions(), async_tools=asynchronous, **options)
