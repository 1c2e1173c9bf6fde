"""Microsoft Agent Framework: a context provider that recalls before a run and retains after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, BankSource
from perdure.contrib.frameworks.turns import USER
from perdure.contrib.frameworks.versions import require

require("agent-framework-core", "1.20", "agent-framework")

from agent_framework import (  # noqa: E402
    AgentSession,
    ContextProvider,
    Message,
    SessionContext,
    SupportsAgentRun,
)

SessionBank = str | Callable[[AgentSession], str]
"""A bank, or how to find it for a session, such as by a user's id in its state."""


class PerdureProvider(ContextProvider):
    """Memory for `Agent(context_providers=[InMemoryHistoryProvider(), PerdureProvider(...)])`; last in the list.

    A session is a document. With `tools` the model may retain, recall, reflect and forget by itself.
    """

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: SessionBank,
        source_id: str = "perdure",
        tools: bool = False,
        retain: bool = True,
        tags: Sequence[str] | None = None,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:
        super().__init__(source_id)
        self.agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        self.bank = bank
        self._tools = tools
        self._retain = retain
        self._tags = tags

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Put recalled text before the run's new messages, which history providers do not store.

        A service that holds the conversation itself would: there the text goes to the end of the instructions.
        """
        bank = self._bank_of(session)
        text = await self.agent.acontext(bank, _plain(context.input_messages), tags=self._tags)
        if text and _service_holds(agent, context):
            context.extend_instructions(self.source_id, text)
        elif text:
            context.extend_messages(self, [Message(USER, [text])])
        if self._tools:
            functions = self.agent.tools(bank, tags=self._tags).async_functions()
            context.extend_tools(self.source_id, functions)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Retain what user and agent said in the run."""
        if self._retain and context.response is not None:
            said = _plain([*context.input_messages, *context.response.messages])
            await self.agent.aretain_turns(
                self._bank_of(session), said, document_id=session.session_id, tags=self._tags
            )

    def _bank_of(self, session: AgentSession) -> BankSource:
        bank = self.bank
        return bank if isinstance(bank, str) else lambda: bank(session)


def _service_holds(agent: SupportsAgentRun, context: SessionContext) -> bool:
    """Whether the service keeps what is sent to it, and sends it to the model again in the next turn."""
    if context.service_session_id is not None:
        return True
    defaults: dict[str, Any] = getattr(agent, "default_options", None) or {}
    stored = context.options.get("store", defaults.get("store"))
    client = getattr(agent, "client", None)
    return bool(getattr(client, "STORES_BY_DEFAULT", False) if stored is None else stored)


def _plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return what messages say in words; names of authors are the agents' own."""
    return [{"role": str(message.role), "content": message.text} for message in messages if message.text]
