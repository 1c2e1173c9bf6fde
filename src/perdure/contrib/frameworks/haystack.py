"""Haystack: hooks that give an `Agent` memory, and components that recall and retain in pipelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import (
    DEADLINE,
    MAX_TOKENS,
    AgentMemory,
    BankSource,
    resolve_bank,
)
from perdure.contrib.frameworks.client_calls import new_messages
from perdure.contrib.frameworks.turns import last_user_prompt
from perdure.contrib.frameworks.versions import require
from perdure.domain.fact import Fact
from perdure.domain.rendering import iso_day, quoted
from perdure.errors import InvalidInput

require("haystack-ai", "3.2", "haystack")

from haystack import Document, component, default_from_dict, default_to_dict  # noqa: E402
from haystack.components.agents.state import State  # noqa: E402
from haystack.dataclasses import ChatMessage  # noqa: E402

RunBank = str | Callable[[Mapping[str, object]], str]
"""A bank, or how to find it for a run by the `hook_context` that the run was given."""
MemorySource = Perdure | AsyncPerdure | str | Path
"""A memory, or the file of one, which can be serialised and is opened when it is first used."""
RECALLED = "perdure_recalled"
"""Key in the metadata of the message that holds recalled text."""


class _Source:
    """A memory that may still have to be opened."""

    def __init__(self, memory: MemorySource, max_tokens: int, deadline: float) -> None:
        self.file = str(memory) if isinstance(memory, str | Path) else None
        self._memory = memory
        self._options = {"max_tokens": max_tokens, "deadline": deadline}
        self._agent: AgentMemory | None = None

    @property
    def agent(self) -> AgentMemory:
        if self._agent is None:
            memory = self._memory
            opened = Perdure.open(memory) if isinstance(memory, str | Path) else memory
            self._agent = AgentMemory(
                opened, max_tokens=int(self._options["max_tokens"]), deadline=self._options["deadline"]
            )
        return self._agent

    def serialised(self, owner: object, bank: object, **fields: object) -> dict[str, Any]:
        if self.file is None or not isinstance(bank, str):
            raise InvalidInput("memory", "the path of a file and the name of a bank, to be serialised", None)
        return dict(default_to_dict(owner, memory=self.file, bank=bank, **self._options, **fields))


class _Hook:
    """What both hooks know: the memory, and whose it is in a run."""

    def __init__(
        self,
        memory: MemorySource,
        *,
        bank: RunBank,
        document_id: str = "haystack",
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:
        self._source = _Source(memory, max_tokens, deadline)
        self.bank = bank
        self.document_id = document_id

    def to_dict(self) -> dict[str, Any]:
        """Return the hook as data; needs a memory given by its file."""
        return self._source.serialised(self, self.bank, document_id=self.document_id)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a hook from data."""
        restored: Self = default_from_dict(cls, data)
        return restored

    def _bank_of(self, state: State) -> BankSource:
        bank, context = self.bank, state.data.get("hook_context") or {}
        return bank if isinstance(bank, str) else lambda: bank(context)

    def _document_of(self, state: State) -> str:
        context = state.data.get("hook_context") or {}
        return str(context.get("conversation_id") or self.document_id)


class RecallHook(_Hook):
    """For `before_run`: puts recalled text before the user's last message, for `RetainHook` to take out again."""

    def run(self, state: State) -> None:
        """Recall."""
        messages = _plain(state.data["messages"])
        self._put(state, self._source.agent.context(self._bank_of(state), messages))

    async def run_async(self, state: State) -> None:
        """Recall, without blocking the event loop."""
        messages = _plain(state.data["messages"])
        self._put(state, await self._source.agent.acontext(self._bank_of(state), messages))

    def _put(self, state: State, text: str) -> None:
        messages = list(state.data["messages"])
        prompt = last_user_prompt(_plain(messages))
        if text and prompt is not None:
            recalled = ChatMessage.from_user(text, meta={RECALLED: True})
            state.data["messages"] = [*messages[: prompt.index], recalled, *messages[prompt.index :]]


class RetainHook(_Hook):
    """For `after_run`: takes recalled text out of the messages and retains what user and agent said in the run."""

    def run(self, state: State) -> None:
        """Retain."""
        if turn := self._take(state):
            self._source.agent.retain_turns(self._bank_of(state), turn, document_id=self._document_of(state))

    async def run_async(self, state: State) -> None:
        """Retain, without blocking the event loop."""
        if turn := self._take(state):
            await self._source.agent.aretain_turns(
                self._bank_of(state), turn, document_id=self._document_of(state)
            )

    def _take(self, state: State) -> list[dict[str, str]]:
        messages = [one for one in state.data["messages"] if not one.meta.get(RECALLED)]
        state.data["messages"] = messages
        plain = _plain(messages)
        prompt = last_user_prompt(plain)
        if prompt is None:
            return []
        asked = new_messages(plain[: prompt.index + 1])
        return [*asked, *plain[prompt.index + 1 :]]  # type: ignore[list-item]


def memory_hooks(
    memory: MemorySource,
    *,
    bank: RunBank,
    document_id: str = "haystack",
    max_tokens: int = MAX_TOKENS,
    deadline: float = DEADLINE,
) -> dict[str, list[_Hook]]:
    """`Agent(..., hooks=memory_hooks(memory, bank="shop.ann"))`; the conversation is `hook_context["conversation_id"]`."""
    options: dict[str, Any] = {
        "bank": bank, "document_id": document_id, "max_tokens": max_tokens, "deadline": deadline,
    }  # fmt: skip
    return {"before_run": [RecallHook(memory, **options)], "after_run": [RetainHook(memory, **options)]}


@component
class PerdureRetriever:
    """Facts of a bank as documents, best first; errors of memory are the pipeline's."""

    def __init__(
        self, memory: MemorySource, *, bank: BankSource, top_k: int = 10, max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:  # fmt: skip
        self._source = _Source(memory, max_tokens, deadline)
        self.bank = bank
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the facts nearest to a question."""
        agent = self._source.agent
        result = agent.memory.recall(
            resolve_bank(self.bank), query, limit=top_k or self.top_k, max_tokens=agent.max_tokens
        )
        return {"documents": [_document(one.fact, one.relevance) for one in result]}

    def to_dict(self) -> dict[str, Any]:
        """Return the component as data; needs a memory given by its file."""
        return self._source.serialised(self, self.bank, top_k=self.top_k)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a component from data."""
        restored: Self = default_from_dict(cls, data)
        return restored


@component
class PerdureWriter:
    """Retains messages of a conversation in the background; errors of memory are the pipeline's."""

    def __init__(
        self,
        memory: MemorySource,
        *,
        bank: BankSource,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:
        self._source = _Source(memory, max_tokens, deadline)
        self.bank = bank

    @component.output_types(messages_written=int)
    def run(self, messages: list[ChatMessage], document_id: str) -> dict[str, int]:
        """Append what was said to a document."""
        said = _plain(messages)
        if said:
            self._source.agent.memory.retain_later(
                resolve_bank(self.bank), said, document_id=document_id, update_mode="append"
            )
        return {"messages_written": len(said)}

    def to_dict(self) -> dict[str, Any]:
        """Return the component as data; needs a memory given by its file."""
        return self._source.serialised(self, self.bank)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a component from data."""
        restored: Self = default_from_dict(cls, data)
        return restored


def _plain(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """Return what messages say in words, one for one; tools' results say nothing."""
    return [{"role": str(message.role.value), "content": message.text or ""} for message in messages]


def _document(fact: Fact, score: float) -> Document:
    dates = {"said": fact.mentioned_at, "happened": fact.occurred_start, "until": fact.valid_to}
    meta = {name: iso_day(moment) for name, moment in dates.items() if moment is not None}
    text = quoted(fact, fact.text)
    return Document(id=fact.id, content=text, meta={**meta, "document": fact.document_id}, score=score)
