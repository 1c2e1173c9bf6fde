"""An agent of Pydantic AI that remembers its user; lines marked `memory` are all that adds it.

The model is Pydantic AI's function model; put `Agent("openai:...")` in its place.
The deadline is long so that this runs on a busy machine too: leave it out.
"""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from perdure import Perdure  # memory
from perdure.contrib.frameworks.agent_memory import bank_of  # memory
from perdure.contrib.frameworks.pydantic_ai import PerdureMemory  # memory

requests: list[list[ModelMessage]] = []


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer "Noted." and keep what was sent."""
    requests.append(messages)
    return ModelResponse(parts=[TextPart("Noted.")])


with Perdure.open("memory.db") as memory:  # memory
    bank = bank_of("shop", "ann")  # memory
    agent = Agent(
        FunctionModel(answer),
        capabilities=[PerdureMemory(memory, bank, deadline=60.0, tools=True)],  # memory
    )
    for thread, said in (("monday", "I am allergic to walnuts."), ("friday", "What am I allergic to?")):
        result = agent.run_sync(said, conversation_id=thread)
        print(f"{said} -> {result.output}")
        for operation in memory.operations.list(bank):  # a server would just go on
            memory.operations.get(bank, operation.id, wait=120)

    recalled = str(requests[-1][-1].parts[0])
    print(recalled)
    assert "walnuts" in recalled
