"""A crew that remembers; its language model is a stand-in, so that this runs anywhere."""

from __future__ import annotations

import os
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_STORAGE_DIR="crewai")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from perdure import Perdure  # memory
from perdure.contrib.frameworks.crewai import PerdureMemory  # memory


class StandIn(BaseLLM):
    """A model that knows nothing but what stands in the prompt."""

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        is_told = "Ann is allergic to peanuts" in str(messages)
        answer = "No peanuts for Ann." if is_told else "I asked her: Ann is allergic to peanuts."
        return f"Thought: I now can give a great answer\nFinal Answer: {answer}"

    def supports_function_calling(self) -> bool:
        return False


def run(memory: PerdureMemory, question: str) -> str:
    clerk = Agent(role="Clerk", goal="Help Ann", backstory="Of the shop.", llm=StandIn(model="none"))
    task = Task(description=question, expected_output="A sentence.", agent=clerk)
    crew = Crew(
        agents=[clerk],
        tasks=[task],
        memory=memory,  # memory
    )
    return str(crew.kickoff().raw)


def main() -> None:
    memory = Perdure.open("memory.db")  # memory
    crew_memory = PerdureMemory(memory, bank="shop.ann", deadline=30)  # memory
    run(crew_memory, "Find out what Ann must not eat.")
    answer = run(crew_memory, "What is Ann allergic to?")
    print(answer)
    assert answer == "No peanuts for Ann."
    crew_memory.close()
    memory.close()


if __name__ == "__main__":
    main()
