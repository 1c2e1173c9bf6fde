"""LlamaIndex: a memory block, a `Memory` that retains each turn at once, and a retriever.

The framework hands messages to blocks only when they overflow its token limit, so a block alone never hears of short chats:
`PerdureMemory` retains when messages are put.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import (
    DEADLINE,
    MAX_TOKENS,
    AgentMemory,
    BankSource,
    resolve_bank,
)
from perdure.contrib.frameworks.versions import require
from perdure.domain.recall import RecallResult
from perdure.domain.rendering import iso_day, quoted

require("llama-index-core", "0.14", "llamaindex")

from llama_index.core.base.base_retriever import BaseRetriever  # noqa: E402
from llama_index.core.base.llms.types import ChatMessage  # noqa: E402
from llama_index.core.bridge.pydantic import PrivateAttr  # noqa: E402
from llama_index.core.memory import BaseMemoryBlock, InsertMethod  # noqa: E402
from llama_index.core.memory import Memory as ChatMemory  # noqa: E402
from llama_index.core.prompts import RichPromptTemplate  # noqa: E402
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode  # noqa: E402

ALONE = RichPromptTemplate(
    "{% for (name, content) in memory_blocks %}{% for block in content %}{{ block.text }}{% endfor %}{% endfor %}"
)
"""Template for recalled text alone, which has a fence of its own."""


class PerdureBlock(BaseMemoryBlock[str]):
    """A memory block: what the bank knows on the last user message. It retains what overflows the short-term memory."""

    name: str = "perdure"
    description: str | None = "Facts recalled from long-term memory."
    priority: int = 0
    _agent: AgentMemory = PrivateAttr()
    _bank: BankSource = PrivateAttr()

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: BankSource,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        self._bank = bank

    async def _aget(self, messages: list[ChatMessage] | None = None, **options: Any) -> str:
        plain = _plain(messages or [])
        answered = sum(message["role"] == "assistant" for message in plain)
        session = options.get("session_id")
        turn = None if session is None else f"{session}/{answered}"
        return await self._agent.acontext(self._bank, plain, turn=turn)

    async def aput(
        self,
        messages: list[ChatMessage] | None = None,
        from_short_term_memory: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Retain messages that left the short-term memory, unless they were retained when they were put."""
        if messages and not (from_short_term_memory and not self.accept_short_term_memory):
            await self.retain(messages, session_id or self.name)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self.retain(messages, self.name)

    async def retain(self, messages: Sequence[ChatMessage], document_id: str) -> None:
        """Retain what user and assistant said, in the background."""
        await self._agent.aretain_turns(self._bank, _plain(messages), document_id=document_id)


class PerdureMemory(ChatMemory):
    """`agent.run(..., memory=PerdureMemory.around(memory, bank="shop.ann", session_id="chat-7"))`."""

    @classmethod
    def around(
        cls,
        memory: Perdure | AsyncPerdure,
        *,
        bank: BankSource,
        session_id: str,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
        **options: Any,
    ) -> Self:
        """Return a memory of one session; other options are those of `Memory.from_defaults`."""
        block = PerdureBlock(
            memory, bank=bank, max_tokens=max_tokens, deadline=deadline, accept_short_term_memory=False
        )
        blocks = [*options.pop("memory_blocks", ()), block]
        if len(blocks) == 1:
            options.setdefault("memory_blocks_template", ALONE)
        options.setdefault("insert_method", InsertMethod.USER)
        session: Self = cls.from_defaults(session_id=session_id, memory_blocks=blocks, **options)
        return session

    async def aput(self, message: ChatMessage) -> None:
        """Store a message, and retain it."""
        await super().aput(message)
        await self._retain([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages, and retain them."""
        await super().aput_messages(messages)
        await self._retain(messages)

    async def _retain(self, messages: list[ChatMessage]) -> None:
        for block in self.memory_blocks:
            if isinstance(block, PerdureBlock):
                await block.retain(messages, self.session_id)


class PerdureRetriever(BaseRetriever):
    """Facts of a bank as nodes, best first, for query engines and pipelines; errors of memory are the caller's."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: BankSource,
        limit: int = 10,
        tags: Sequence[str] | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        super().__init__()
        self._memory = AgentMemory(memory, max_tokens=max_tokens)
        self._bank = bank
        self._limit = limit
        self._tags = tags

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(self._recall(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        work = self._memory.run_async(
            lambda: self._recall(query_bundle.query_str), self._memory.tool_deadline
        )
        return self._nodes(await work)

    def _recall(self, query: str) -> RecallResult:
        bank, budget = resolve_bank(self._bank), self._memory.max_tokens
        return self._memory.memory.recall(bank, query, limit=self._limit, max_tokens=budget, tags=self._tags)

    def _nodes(self, result: RecallResult) -> list[NodeWithScore]:
        nodes = []
        for recollection in result:
            fact = recollection.fact
            dates = {"said": fact.mentioned_at, "happened": fact.occurred_start, "until": fact.valid_to}
            metadata = {name: iso_day(moment) for name, moment in dates.items() if moment is not None}
            node = TextNode(
                id_=fact.id,
                text=quoted(fact, fact.text),
                metadata={**metadata, "document": fact.document_id},
                excluded_llm_metadata_keys=["document"],
            )
            nodes.append(NodeWithScore(node=node, score=recollection.relevance))
        return nodes


def _plain(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """Return what messages say in words."""
    return [
        {"role": str(message.role.value), "content": message.content}
        for message in messages
        if message.content
    ]
