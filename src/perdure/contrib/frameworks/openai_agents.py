"""OpenAI Agents SDK: recall in the input filter of a run, retain in a session, and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import DEADLINE, MAX_TOKENS, AgentMemory, MemoryTools
from perdure.contrib.frameworks.turns import ASSISTANT, last_user_prompt, said_turns
from perdure.contrib.frameworks.versions import require
from perdure.domain.bank import check_bank_id

require("openai-agents", "0.24", "openai-agents")

from agents import FunctionTool, RunContextWrapper, TResponseInputItem, function_tool  # noqa: E402
from agents.memory import Session  # noqa: E402
from agents.run import CallModelData, ModelInputData  # noqa: E402

__all__ = ["PerdureSession", "perdure_input_filter", "perdure_tools"]

BankOfContext = str | Callable[[Any], str]
"""A bank, or how to find it from the context of a run: `lambda context: bank_of("shop", context.user_id)`."""


def perdure_input_filter(
    memory: Perdure | AsyncPerdure,
    bank: BankOfContext,
    *,
    max_tokens: int = MAX_TOKENS,
    deadline: float = DEADLINE,
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """For `RunConfig(call_model_input_filter=...)`: recalled text before the user's last message, in the request alone."""
    agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
    checked = check_bank_id(bank) if isinstance(bank, str) else bank

    async def recall_into_request(data: CallModelData[Any]) -> ModelInputData:
        items = data.model_data.input
        text = await agent.acontext(_bank(checked, data.context), items)
        prompt = last_user_prompt(items)
        if not text or prompt is None:
            return data.model_data
        recalled: TResponseInputItem = {"role": "user", "content": text}
        return ModelInputData(
            input=[*items[: prompt.index], recalled, *items[prompt.index :]],
            instructions=data.model_data.instructions,
        )

    return recall_into_request


class PerdureSession:
    """A session that also retains what user and agent say: `PerdureSession(SQLiteSession("thread-1"), memory, bank)`.

    The history is the inner session's, verbatim. A turn is retained when the agent has answered, so that no recall of the turn
    finds the words that it is made for; a run that ends without an answer is retained with the next one. An item that is popped is taken out of the memory too, and a session that is
    cleared is forgotten, unless `forget_on_clear` says otherwise. Everything else that the inner session has is had by this one.
    """

    def __init__(
        self,
        inner: Session,
        memory: Perdure | AsyncPerdure,
        bank: str,
        *,
        deadline: float = DEADLINE,
        forget_on_clear: bool = True,
    ) -> None:
        self._inner = inner
        self._agent = AgentMemory(memory, deadline=deadline)
        self._bank = check_bank_id(bank)
        self._forget_on_clear = forget_on_clear
        self._unanswered: list[TResponseInputItem] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def session_id(self) -> str:
        """The inner session's id, which is that of the document too."""
        return str(self._inner.session_id)

    @property
    def session_settings(self) -> Any:
        """The inner session's settings."""
        return self._inner.session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last items, oldest first, as they were added."""
        items: list[TResponseInputItem] = await self._inner.get_items(limit)
        return items

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add to the history, and retain what user and agent say in them."""
        await self._inner.add_items(items)
        self._unanswered += items
        if any(turn.role == ASSISTANT for turn in said_turns(items)):
            new, self._unanswered = self._unanswered, []
            await self._agent.aretain_turns(self._bank, new, document_id=self.session_id)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back the last item; where it was retained, memory keeps only what is left."""
        item: TResponseInputItem | None = await self._inner.pop_item()
        if self._unanswered:
            self._unanswered.pop()
        elif item is not None and said_turns([item]):
            await self._retain_rest()
        return item

    async def clear_session(self) -> None:
        """Empty the history, and forget what was retained of it."""
        await self._inner.clear_session()
        self._unanswered.clear()
        if self._forget_on_clear:
            await self._forget()

    async def _retain_rest(self) -> None:
        rest = await self._inner.get_items()
        if said_turns(rest):
            await self._agent.aretain_turns(self._bank, rest, document_id=self.session_id, replace=True)
        else:
            await self._forget()

    async def _forget(self) -> None:
        """Erase the session's document; that it could not be erased is the program's to know."""
        await self._agent.run_async(
            lambda: self._agent.forget_conversation(self._bank, self.session_id), self._agent.tool_deadline
        )


def perdure_tools(
    memory: Perdure | AsyncPerdure, bank: BankOfContext, *, max_tokens: int = MAX_TOKENS
) -> list[FunctionTool]:
    """Return the tools retain, recall, reflect and forget for `Agent(tools=...)`; the bank is the program's, never an argument."""
    agent = AgentMemory(memory, max_tokens=max_tokens)
    checked = check_bank_id(bank) if isinstance(bank, str) else bank

    def tools_of(wrapper: RunContextWrapper[Any]) -> MemoryTools:
        return agent.tools(_bank(checked, wrapper.context))

    async def retain(wrapper: RunContextWrapper[Any], content: str) -> str:
        return await tools_of(wrapper).aretain(content)

    async def recall(wrapper: RunContextWrapper[Any], query: str) -> str:
        return await tools_of(wrapper).arecall(query)

    async def reflect(wrapper: RunContextWrapper[Any], question: str) -> str:
        return await tools_of(wrapper).areflect(question)

    async def forget(wrapper: RunContextWrapper[Any], fact_id: str) -> str:
        return await tools_of(wrapper).aforget(fact_id)

    functions: list[Callable[..., Awaitable[str]]] = [retain, recall, reflect, forget]
    for function, described in zip(functions, agent.tools("described").functions(), strict=True):
        function.__doc__ = described.__doc__
    return [function_tool(function) for function in functions]


def _bank(bank: BankOfContext, context: Any) -> str | Callable[[], str]:
    return bank if isinstance(bank, str) else lambda: bank(context)
