"""An agent of Microsoft Agent Framework that remembers; its chat client is a stand-in, so that this runs anywhere."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, InMemoryHistoryProvider, Message

from perdure import Perdure  # memory
from perdure.contrib.frameworks.agent_framework import PerdureProvider  # memory

BANK = "shop.ann"


class StandIn(BaseChatClient):
    """A model that knows nothing but what stands in the request."""

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        told = "\n".join(message.text for message in messages)
        answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"

        async def respond() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [answer])])

        return respond()


async def main() -> None:
    memory = Perdure.open("memory.db")  # memory
    agent = Agent(
        StandIn(),
        context_providers=[
            InMemoryHistoryProvider(),
            PerdureProvider(memory, bank=BANK, deadline=30),  # memory
        ],
    )
    await agent.run("Hello! I am allergic to peanuts.", session=agent.create_session())
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)

    answer = await agent.run("What am I allergic to?", session=agent.create_session())
    print(answer.text)
    assert answer.text == "No peanuts for you."
    memory.close()


if __name__ == "__main__":
    asyncio.run(main())
