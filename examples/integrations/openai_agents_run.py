"""Runs of the OpenAI Agents SDK that remember their user; lines marked `memory` are all that adds it.

The model is the SDK's own scripted one; leave `model=` out for a real one.
The deadline is long so that this runs on a busy machine too: leave it out.
"""

import asyncio

from agents import Agent, RunConfig, Runner, SQLiteSession
from agents.testing import ScriptedModel, assistant_message

from perdure import Perdure  # memory
from perdure.contrib.frameworks.agent_memory import bank_of  # memory
from perdure.contrib.frameworks.openai_agents import (  # memory
    PerdureSession,
    perdure_input_filter,
    perdure_tools,
)


async def main() -> None:
    with Perdure.open("memory.db") as memory:  # memory
        bank = bank_of("shop", "ann")  # memory
        model = ScriptedModel([[assistant_message("Noted.")], [assistant_message("Walnuts.")]])
        agent = Agent(
            name="clerk",
            model=model,
            tools=[*perdure_tools(memory, bank)],  # memory
        )
        config = RunConfig(
            tracing_disabled=True,
            call_model_input_filter=perdure_input_filter(memory, bank, deadline=60.0),  # memory
        )
        for thread, said in (("monday", "I am allergic to walnuts."), ("friday", "What am I allergic to?")):
            session = PerdureSession(SQLiteSession(thread), memory, bank, deadline=60.0)  # memory
            result = await Runner.run(agent, said, session=session, run_config=config)
            print(f"{said} -> {result.final_output}")
            for operation in memory.operations.list(bank):  # a server would just go on
                memory.operations.get(bank, operation.id, wait=120)

        recalled = model.calls[-1].input[0]
        print(recalled["content"])
        assert "walnuts" in recalled["content"]


asyncio.run(main())
