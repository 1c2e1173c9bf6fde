"""A Strands agent that remembers; its model is a stand-in, so that this runs anywhere."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from strands import Agent
from strands.models import Model

from perdure import Perdure  # memory
from perdure.contrib.frameworks.strands import PerdureMemory, PerdureStore  # memory

BANK = "shop.ann"


class StandIn(Model):
    """A model that knows nothing but what stands in the request."""

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {}

    async def structured_output(self, *args: Any, **options: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError
        yield

    async def stream(self, messages: Any, *args: Any, **options: Any) -> AsyncGenerator[Any, None]:
        told = str(messages[-1]["content"])
        answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": answer}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def main() -> None:
    memory = Perdure.open("memory.db")  # memory
    store = PerdureStore(memory, bank=BANK, deadline=30)  # memory

    Agent(
        model=StandIn(),
        callback_handler=None,
        memory_manager=PerdureMemory(store),  # memory
    )("Hello! I am allergic to peanuts.")
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)

    answer = Agent(model=StandIn(), callback_handler=None, memory_manager=PerdureMemory(store))(
        "What am I allergic to?"
    )
    print(answer)
    assert str(answer).strip() == "No peanuts for you."
    memory.close()


if __name__ == "__main__":
    main()
