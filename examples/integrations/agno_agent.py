"""An Agno agent that remembers; its model is a stand-in, so that this runs anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse

from perdure import Perdure  # memory
from perdure.contrib.frameworks.agno import PerdureMemory  # memory

BANK = "shop.ann"


class StandIn(Model):
    """A model that knows nothing but what stands in the request."""

    def invoke(self, *args: Any, **options: Any) -> ModelResponse:
        messages = options.get("messages") or args[0]
        told = "\n".join(str(message.content) for message in messages)
        answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
        return ModelResponse(role="assistant", content=answer)

    async def ainvoke(self, *args: Any, **options: Any) -> ModelResponse:
        return self.invoke(*args, **options)

    def invoke_stream(self, *args: Any, **options: Any) -> Iterator[ModelResponse]:
        yield self.invoke(*args, **options)

    async def ainvoke_stream(self, *args: Any, **options: Any) -> AsyncIterator[ModelResponse]:
        yield self.invoke(*args, **options)

    def _parse_provider_response(self, response: Any, **options: Any) -> ModelResponse:
        return ModelResponse(content=response)

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return ModelResponse(content=response)


def main() -> None:
    memory = Perdure.open("memory.db")  # memory
    agent = Agent(
        model=StandIn(id="stand-in"),
        telemetry=False,
        **PerdureMemory(memory, bank=BANK, deadline=30).hooks(),  # memory
    )
    agent.run("Hello! I am allergic to peanuts.", session_id="monday")
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)

    answer = agent.run("What am I allergic to?", session_id="tuesday").content
    print(answer)
    assert answer == "No peanuts for you."
    memory.close()


if __name__ == "__main__":
    main()
