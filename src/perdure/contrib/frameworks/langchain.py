"""LangChain: middleware that recalls before each model call and retains after each run, a retriever, and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import SkipValidation

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, MemoryTools
from perdure.contrib.frameworks.turns import last_user_prompt
from perdure.contrib.frameworks.versions import require
from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Fact
from perdure.domain.rendering import iso_day, quoted

require("langchain", "1.4", "langchain")

from langchain.agents import AgentState  # noqa: E402
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse  # noqa: E402
from langchain_core.callbacks import CallbackManagerForRetrieverRun  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langchain_core.messages import AnyMessage, HumanMessage  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402
from langchain_core.tools import BaseTool, StructuredTool  # noqa: E402
from langgraph.prebuilt import ToolRuntime  # noqa: E402
from langgraph.runtime import Runtime  # noqa: E402

__all__ = ["PerdureMiddleware", "PerdureRetriever", "perdure_tools"]

BankOfRun = str | Callable[[Runtime[Any]], str]
"""A bank, or how to find it from a run: `lambda runtime: bank_of("shop", runtime.context.user_id)`."""


class PerdureMiddleware(AgentMiddleware):
    """Memory for `create_agent(model, middleware=[PerdureMiddleware(memory, bank)])`.

    Recalled text stands before the user's last message in the request alone, never in the state. What user and agent said is
    retained when a run ends, as the document of its thread. Runs inside other runs recall, but are not retained: an agent
    speaks there, not the user.
    """

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        bank: BankOfRun,
        *,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
        retain: bool = True,
        tools: bool = False,
    ) -> None:
        super().__init__()
        self._agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        self._bank = check_bank_id(bank) if isinstance(bank, str) else bank
        self._retain = retain
        self.tools = perdure_tools(memory, bank, max_tokens=max_tokens) if tools else []

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Recall for the user's last message, then ask the model."""
        turn = _turn(request.messages)
        text = self._agent.context(self._bank_of(request.runtime), request.messages, turn=turn)
        return handler(_with_memory(request, text))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        turn = _turn(request.messages)
        text = await self._agent.acontext(self._bank_of(request.runtime), request.messages, turn=turn)
        return await handler(_with_memory(request, text))

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Retain what was said in this run."""
        new = self._new_turns(state["messages"], runtime)
        if new:
            self._agent.retain_turns(
                self._bank_of(runtime),
                new,
                document_id=_conversation(state["messages"], runtime),
                turn=new[0].id,
            )
        return None

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `after_agent`."""
        new = self._new_turns(state["messages"], runtime)
        if new:
            await self._agent.aretain_turns(
                self._bank_of(runtime),
                new,
                document_id=_conversation(state["messages"], runtime),
                turn=new[0].id,
            )
        return None

    def _bank_of(self, runtime: Runtime[Any]) -> str | Callable[[], str]:
        bank = self._bank
        return bank if isinstance(bank, str) else lambda: bank(runtime)

    def _new_turns(self, messages: Sequence[AnyMessage], runtime: Runtime[Any]) -> list[AnyMessage]:
        """From the first of the user's last messages on; nothing in a run inside another, or after a command."""
        prompt = last_user_prompt(messages)
        if not self._retain or prompt is None or _is_nested(runtime):
            return []
        start = prompt.index
        while start > 0 and _is_users(messages[start - 1]):
            start -= 1
        return list(messages[start:])


def _with_memory(request: ModelRequest[Any], text: str) -> ModelRequest[Any]:
    prompt = last_user_prompt(request.messages)
    if not text or prompt is None:
        return request
    before, after = request.messages[: prompt.index], request.messages[prompt.index :]
    return request.override(messages=[*before, HumanMessage(content=text), *after])


def _turn(messages: Sequence[AnyMessage]) -> str | None:
    """Return the id of the user's last message, which all model calls of a run share."""
    prompt = last_user_prompt(messages)
    return None if prompt is None else messages[prompt.index].id


def _is_users(message: AnyMessage) -> bool:
    """Whether the user said it: middleware that summarises writes messages in the user's role too, and marks them."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def _is_nested(runtime: Runtime[Any]) -> bool:
    info = runtime.execution_info
    return info is not None and "|" in (info.checkpoint_ns or "")


def _conversation(messages: Sequence[AnyMessage], runtime: Runtime[Any]) -> str:
    """Return the thread, or without a checkpointer the id of the first message."""
    info = runtime.execution_info
    thread = None if info is None else info.thread_id
    return thread or f"messages-{messages[0].id}"


class PerdureRetriever(BaseRetriever):
    """Facts as documents, best first: `PerdureRetriever(memory=memory, bank="shop.ann", k=5)`."""

    memory: SkipValidation[Perdure | AsyncPerdure]
    bank: str
    k: int = 10
    """At most so many facts."""
    max_tokens: int = 4096
    tags: list[str] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        memory: Perdure = self.memory.engine if isinstance(self.memory, AsyncPerdure) else self.memory
        limit = self.k if k is None else k
        result = memory.recall(
            check_bank_id(self.bank), query, max_tokens=self.max_tokens, limit=limit, tags=self.tags
        )
        return [
            Document(
                id=one.fact.id,
                page_content=quoted(one.fact, one.text),
                metadata={
                    "score": one.score,
                    "relevance": one.relevance,
                    "evidence": one.evidence.value,
                    **_source(one.fact),
                },
            )
            for one in result
        ]


def _source(fact: Fact) -> dict[str, str]:
    told = {"type": fact.type.value, "date": iso_day(fact.shown_date), "document_id": fact.document_id or ""}
    return {name: value for name, value in told.items() if value}


def perdure_tools(
    memory: Perdure | AsyncPerdure, bank: BankOfRun, *, max_tokens: int = MAX_TOKENS
) -> list[BaseTool]:
    """Return the tools retain, recall, reflect and forget for a model; the bank is the program's, never an argument."""
    agent = AgentMemory(memory, max_tokens=max_tokens)
    if isinstance(bank, str):
        return [_plain_tool(agent.tools(check_bank_id(bank)), name) for name in _ARGUMENTS]
    return [_run_tool(agent, bank, name) for name in _ARGUMENTS]


_ARGUMENTS = {"retain": "content", "recall": "query", "reflect": "question", "forget": "fact_id"}
"""Tool -> its one argument."""


def _plain_tool(tools: MemoryTools, name: str) -> BaseTool:
    return StructuredTool.from_function(
        func=getattr(tools, name), coroutine=getattr(tools, f"a{name}"), name=name, parse_docstring=True
    )


def _run_tool(agent: AgentMemory, bank: Callable[[Runtime[Any]], str], name: str) -> BaseTool:
    """Return a tool that finds the bank from the run in which it is called."""
    described = _plain_tool(agent.tools("described"), name)

    def tools_of(runtime: ToolRuntime) -> MemoryTools:
        return agent.tools(lambda: bank(runtime))

    def call(runtime: ToolRuntime, **arguments: str) -> str:
        answer: str = getattr(tools_of(runtime), name)(arguments[_ARGUMENTS[name]])
        return answer

    async def acall(runtime: ToolRuntime, **arguments: str) -> str:
        answer: str = await getattr(tools_of(runtime), f"a{name}")(arguments[_ARGUMENTS[name]])
        return answer

    return StructuredTool(
        name=name,
        description=described.description,
        args_schema=described.args_schema,
        func=call,
        coroutine=acall,
    )
