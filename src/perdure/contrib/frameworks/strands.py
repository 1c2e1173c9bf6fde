"""Strands Agents: a `MemoryStore`, and the memory manager that puts it into an agent's loop.

`PerdureStore` serves the framework's own `MemoryManager`: its tools search and add, its extraction hands over the turns.
`PerdureMemory` is such a manager, with recall within a budget of tokens that is silent where nothing probably helps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import (
    DEADLINE,
    MAX_TOKENS,
    AgentMemory,
    BankSource,
    resolve_bank,
)
from perdure.contrib.frameworks.turns import last_user_prompt, said_turns
from perdure.contrib.frameworks.versions import require
from perdure.domain.recall import Recollection
from perdure.domain.rendering import iso_day, quoted
from perdure.errors import InvalidInput, Unavailable

require("strands-agents", "1.60", "strands")

from strands import Agent, tool  # noqa: E402
from strands.injection import InjectionContext  # noqa: E402
from strands.memory import (  # noqa: E402
    AddMessagesContext,
    ExtractionConfig,
    MemoryEntry,
    MemoryManager,
    MemoryStore,
    SearchOptions,
)
from strands.memory.extraction.triggers import InvocationTrigger  # noqa: E402
from strands.types.content import Message  # noqa: E402
from strands.types.tools import AgentTool  # noqa: E402
from strands.vended_plugins.context_injector import ContextInjector  # noqa: E402

SEARCH_RESULTS = 10
SEARCH_DEADLINE = 5.0
"""Seconds that a search of the framework waits, by its tool or its own injection."""


class PerdureStore(MemoryStore):
    """A bank as a store of Strands; turns are retained after each invocation, in the document of the conversation."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: BankSource,
        document_id: str | None = None,
        name: str = "perdure",
        description: str | None = "What is known of the user from all earlier conversations, with dates.",
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = True,
        extra_tools: bool = False,
        tags: Sequence[str] | None = None,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
    ) -> None:
        if not name.strip():
            raise InvalidInput("name", "a name that is not empty", name)
        _check_limit(max_search_results)
        self.agent = AgentMemory(
            memory, max_tokens=max_tokens, deadline=deadline, tool_deadline=max(deadline, SEARCH_DEADLINE)
        )
        self.bank = bank
        self.document_id = document_id or f"conversation-{uuid4()}"
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        if extraction is True:
            extraction = ExtractionConfig(trigger=InvocationTrigger())
        self.extraction = extraction if writable else None
        self._extra_tools = extra_tools
        self._tags = tags
        self._run = str(uuid4())

    async def initialize(self) -> None:
        """Begin the life of an agent, in which the framework numbers messages anew."""
        self._run = str(uuid4())

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the facts nearest to a question, best first, with their ids and dates."""
        limit = (options or {}).get("max_search_results")
        _check_limit(limit)
        if not any(map(str.isalnum, query)):
            return []
        limit = limit or self.max_search_results or SEARCH_RESULTS
        result = await self.agent.run_async(
            lambda: self.agent.memory.recall(
                resolve_bank(self.bank), query, limit=limit, max_tokens=self.agent.max_tokens, tags=self._tags
            ),
            self.agent.tool_deadline,
        )
        return [_entry(recollection) for recollection in result]

    async def add(self, content: str, metadata: Mapping[str, object] | None = None) -> list[str]:
        """Retain a text at once; the ids of the facts that it adds or repeats."""
        if not self.writable:
            raise InvalidInput("writable", f"a store that can be written to, which {self.name} is not", False)
        fields: dict[str, Any] = {"tags": self._tags}
        if metadata:
            fields["metadata"] = {str(key): str(value) for key, value in metadata.items()}
        result = await self.agent.run_async(
            lambda: self.agent.memory.retain(resolve_bank(self.bank), content, **fields),
            self.agent.tool_deadline,
        )
        return [*result.fact_ids, *result.merged.values()]

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Retain the turns of a batch in the background; one that fails is handed over again by the framework."""
        numbers = (context.sequence_numbers if context is not None else None) or ()
        operation = await self.agent.aretain_turns(
            self.bank,
            messages,
            document_id=self.document_id,
            turn=f"{self._run}/{numbers[0]}" if numbers else None,
            tags=self._tags,
        )
        if operation is None and said_turns(messages):
            raise Unavailable("memory did not take the turns")

    def get_tools(self) -> list[AgentTool]:
        """With `extra_tools`: to answer from memory with sources, and to erase a fact."""
        if not self._extra_tools:
            return []
        tools = self.agent.tools(self.bank, tags=self._tags)
        _, _, reflect, forget = tools.async_functions()
        return [tool(reflect, name="reflect_on_memory"), tool(forget, name="forget_memory")]

    async def render(self, context: InjectionContext) -> str:
        """Recalled text for a request; the same one in all requests of a turn."""
        prompt = last_user_prompt(context.messages)
        turn = None if prompt is None else f"{self._run}/{self.document_id}/{prompt.index}"
        return await self.agent.acontext(self.bank, context.messages, turn=turn, tags=self._tags)


class PerdureMemory(MemoryManager):
    """`Agent(memory_manager=PerdureMemory(store))`: recall before each request, retain after each invocation, and tools."""

    def __init__(self, store: PerdureStore, *, tools: bool = True) -> None:
        super().__init__(
            stores=[store],
            search_tool_config=tools,
            add_tool_config=tools and store.writable,
            injection=False,
        )
        self._injector = ContextInjector(store.render, name=f"perdure:{store.name}", trigger="everyTurn")

    async def init_agent(self, agent: Agent) -> None:
        """Take part in an agent's loop."""
        await super().init_agent(agent)
        self._injector.init_agent(agent)


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InvalidInput("max_search_results", "at least 1", limit)


def _entry(recollection: Recollection) -> MemoryEntry:
    fact = recollection.fact
    dates = {"said": fact.mentioned_at, "happened": fact.occurred_start, "until": fact.valid_to}
    metadata = {name: iso_day(moment) for name, moment in dates.items() if moment is not None}
    return MemoryEntry(content=quoted(fact, recollection.text), metadata={"id": fact.id, **metadata})
