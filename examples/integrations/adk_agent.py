"""An agent of Google ADK that remembers its user; lines marked `memory` are all that adds it.

The model is a script; put `model="gemini-..."` in its place.
The deadline is long so that this runs on a busy machine too: leave it out.
"""

import asyncio
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool  # memory
from google.genai import types

from perdure import Perdure  # memory
from perdure.contrib.frameworks.adk import PerdureMemoryService  # memory

requests: list[Any] = []


class Script(BaseLlm):
    """Answers "Noted." and keeps what it was sent."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        requests.append(llm_request.contents)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Noted.")]))


async def keep(callback_context: Any) -> None:  # memory
    """Retain the session after each turn."""
    await callback_context.add_session_to_memory()  # memory


async def main() -> None:
    with Perdure.open("memory.db") as memory:  # memory
        agent = LlmAgent(
            name="clerk",
            model=Script(model="script"),
            tools=[PreloadMemoryTool()],  # memory
            after_agent_callback=keep,  # memory
        )
        sessions = InMemorySessionService()
        runner = Runner(
            app_name="shop",
            agent=agent,
            session_service=sessions,
            memory_service=PerdureMemoryService(memory, deadline=60.0),  # memory
        )
        for thread, said in (("monday", "I am allergic to walnuts."), ("friday", "What am I allergic to?")):
            await sessions.create_session(app_name="shop", user_id="ann", session_id=thread)
            message = types.Content(role="user", parts=[types.Part(text=said)])
            async for event in runner.run_async(user_id="ann", session_id=thread, new_message=message):
                print(f"{said} -> {event.content.parts[0].text}")
            for operation in memory.operations.list("shop.ann"):  # a server would just go on
                memory.operations.get("shop.ann", operation.id, wait=120)

        recalled = requests[-1][0].parts[0].text
        print(recalled)
        assert "walnuts" in recalled


asyncio.run(main())
