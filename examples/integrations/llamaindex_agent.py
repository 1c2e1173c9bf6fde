"""A LlamaIndex agent that remembers; its model is the framework's own mock, so that this runs anywhere."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM

from perdure import Perdure  # memory
from perdure.contrib.frameworks.llamaindex import PerdureMemory  # memory

BANK = "shop.ann"


def respond(messages: list[ChatMessage], **options: Any) -> ChatMessage:
    """A model that knows nothing but what stands in the request."""
    told = "\n".join(message.content or "" for message in messages)
    answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
    return ChatMessage(role="assistant", content=answer)


async def main() -> None:
    agent = FunctionAgent(tools=[], llm=MockFunctionCallingLLM(response_generator=respond), streaming=False)
    memory = Perdure.open("memory.db")  # memory
    first = PerdureMemory.around(memory, bank=BANK, session_id="monday", deadline=30)  # memory
    await agent.run(
        "Hello! I am allergic to peanuts.",
        memory=first,  # memory
    )
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)

    second = PerdureMemory.around(memory, bank=BANK, session_id="tuesday", deadline=30)
    answer = str(await agent.run("What am I allergic to?", memory=second))
    print(answer)
    assert answer == "No peanuts for you."
    memory.close()


if __name__ == "__main__":
    asyncio.run(main())
