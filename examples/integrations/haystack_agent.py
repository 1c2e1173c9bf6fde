"""A Haystack agent that remembers; its chat generator is a stand-in, so that this runs anywhere."""

from __future__ import annotations

from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage

from perdure import Perdure  # memory
from perdure.contrib.frameworks.haystack import memory_hooks  # memory

BANK = "shop.ann"


@component
class StandIn:
    """A model that knows nothing but what stands in the request."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **options: Any) -> dict[str, Any]:
        told = "\n".join(message.text or "" for message in messages)
        answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
        return {"replies": [ChatMessage.from_assistant(answer)]}


def main() -> None:
    memory = Perdure.open("memory.db")  # memory
    agent = Agent(
        chat_generator=StandIn(),
        hooks=memory_hooks(memory, bank=BANK, deadline=30),  # memory
    )
    agent.run(messages=[ChatMessage.from_user("Hello! I am allergic to peanuts.")])
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)

    answer = agent.run(messages=[ChatMessage.from_user("What am I allergic to?")])["last_message"].text
    print(answer)
    assert answer == "No peanuts for you."
    memory.close()


if __name__ == "__main__":
    main()
