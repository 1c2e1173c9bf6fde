"""Google ADK: a memory service, `Runner(memory_service=PerdureMemoryService(memory))`.

The bank is `app_name.user_id`. A session is a document: given whole it takes the place of what was retained of it, given as
events it is added to. ADK's own tools do the rest: `PreloadMemoryTool` puts what `search_memory` returns into each request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from perdure import AsyncPerdure, Forgotten, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, bank_of
from perdure.contrib.frameworks.turns import is_prompt
from perdure.contrib.frameworks.versions import require
from perdure.domain.item import Item
from perdure.domain.recall import Precision, Recollection
from perdure.domain.rendering import quoted
from perdure.errors import InvalidInput

require("google-adk", "2.13", "adk")

from google.adk.events.event import Event  # noqa: E402
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse  # noqa: E402
from google.adk.memory.memory_entry import MemoryEntry  # noqa: E402
from google.adk.sessions.session import Session  # noqa: E402
from google.adk.tools.function_tool import FunctionTool  # noqa: E402
from google.adk.tools.tool_context import ToolContext  # noqa: E402
from google.genai import types  # noqa: E402

__all__ = ["PerdureMemoryService", "reflect_tool"]

USER_AUTHOR = "user"


class PerdureMemoryService(BaseMemoryService):
    """ADK's memory in Perdure. Adding and searching never fail a run; deleting tells when it could not."""

    def __init__(
        self, memory: Perdure | AsyncPerdure, *, max_tokens: int = MAX_TOKENS, deadline: float = DEADLINE
    ) -> None:
        self._agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)

    async def add_session_to_memory(self, session: Session) -> None:
        """Retain the session as it is now, in place of what was retained of it."""
        await self._agent.aretain_turns(
            _bank(session.app_name, session.user_id),
            _messages(session.events),
            document_id=session.id,
            replace=True,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Retain new events of a session, each once. Without a session they are a document of their own."""
        if events:
            await self._agent.aretain_turns(
                _bank(app_name, user_id),
                _messages(events),
                document_id=session_id or f"events-{events[0].id}",
                turn=" ".join(event.id for event in events),
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Retain ready memories; one with an id is the document of that id, and takes its place when it is added again."""
        items = [item for entry in memories if (item := _item(entry)) is not None]
        if items:
            bank = bank_of(app_name, user_id)
            await self._agent.run_async(
                lambda: self._agent.memory.retain(bank, items), self._agent.tool_deadline
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the facts that probably help with a question, best first; nothing when memory fails or is late."""
        nothing: list[MemoryEntry] = []
        entries = await self._agent.in_time_async(
            lambda: self._search(bank_of(app_name, user_id), query), nothing, "recall"
        )
        return SearchMemoryResponse(memories=entries)

    def _search(self, bank: str, query: str) -> list[MemoryEntry]:
        if not is_prompt(query):
            return []
        result = self._agent.memory.recall(
            bank, query, max_tokens=self._agent.max_tokens, precision=Precision.INJECT
        )
        return [_entry(one) for one in result]

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase the fact whose id `search_memory` returned; one that is not there is no error."""
        if not memory_id:
            raise InvalidInput("memory_id", "the id of a memory", memory_id)
        bank = bank_of(app_name, user_id)
        await self._agent.run_async(
            lambda: self._agent.memory.forget(bank, fact_id=memory_id), self._agent.tool_deadline
        )

    async def forget_session(self, *, app_name: str, user_id: str, session_id: str) -> Forgotten:
        """Erase all that was retained of a session; ADK itself leaves memory behind when a session is deleted."""
        bank = bank_of(app_name, user_id)
        return await self._agent.run_async(
            lambda: self._agent.forget_conversation(bank, session_id), self._agent.tool_deadline
        )

    async def forget_user(self, *, app_name: str, user_id: str) -> Forgotten:
        """Erase the whole memory of a user."""
        bank = bank_of(app_name, user_id)
        return await self._agent.run_async(lambda: self._agent.forget_user(bank), self._agent.tool_deadline)


def reflect_tool(memory: Perdure | AsyncPerdure, *, max_tokens: int = MAX_TOKENS) -> FunctionTool:
    """Return a tool that answers from the memory of the session's user, with the facts that the answer rests on."""
    agent = AgentMemory(memory, max_tokens=max_tokens)

    async def reflect(question: str, tool_context: ToolContext) -> str:
        session = tool_context.session
        return await agent.tools(_bank(session.app_name, session.user_id)).areflect(question)

    reflect.__doc__ = agent.tools("described").reflect.__doc__
    return FunctionTool(reflect)


def _bank(app_name: str, user_id: str) -> Callable[[], str]:
    return lambda: bank_of(app_name, user_id)


def _messages(events: Iterable[Event]) -> list[dict[str, object]]:
    """Return what was said in events: no calls, tool results, thoughts, or the parts of an answer that is still being streamed."""
    messages: list[dict[str, object]] = []
    for event in events:
        text = "" if event.partial or event.content is None else _text(event.content)
        if text:
            message: dict[str, object] = {
                "role": "user" if event.author == USER_AUTHOR else "assistant",
                "content": text,
                "timestamp": datetime.fromtimestamp(event.timestamp, UTC),
            }
            messages.append(message if event.author == USER_AUTHOR else {**message, "name": event.author})
    return messages


def _text(content: types.Content) -> str:
    return "\n".join(part.text for part in content.parts or [] if part.text and not part.thought).strip()


def _item(entry: MemoryEntry) -> Item | None:
    text = _text(entry.content)
    if not text:
        return None
    when = None if entry.timestamp is None else datetime.fromisoformat(entry.timestamp)
    author = entry.author or ""
    role = "user" if author == USER_AUTHOR else ("assistant" if entry.content.role == "model" else "")
    return Item(
        content=text,
        document_id=entry.id,
        timestamp=when,
        speaker=author,
        role=role,
        metadata={str(name): str(value) for name, value in entry.custom_metadata.items()},
    )


def _entry(one: Recollection) -> MemoryEntry:
    """Return a fact as ADK shows it to a model: inert, and marked where it reads like an order."""
    fact = one.fact
    when = fact.occurred_start or fact.mentioned_at
    return MemoryEntry(
        id=fact.id,
        author="memory",
        content=types.Content(role="user", parts=[types.Part(text=quoted(fact, fact.text))]),
        timestamp=None if when is None else when.isoformat(),
        custom_metadata={
            "score": one.score,
            "relevance": one.relevance,
            "evidence": one.evidence.value,
            "document_id": fact.document_id or "",
        },
    )
