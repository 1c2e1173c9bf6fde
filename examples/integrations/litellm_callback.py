"""LiteLLM with memory by a callback; its provider is a stand-in, so that this runs anywhere."""

from __future__ import annotations

import asyncio
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from litellm import CustomLLM
from litellm.types.utils import ModelResponse

from perdure import Perdure  # memory
from perdure.contrib.frameworks.litellm import PerdureLogger  # memory

BANK = "shop.ann"


class StandIn(CustomLLM):
    """A provider that knows nothing but what stands in the request."""

    async def acompletion(self, *args: Any, **options: Any) -> ModelResponse:
        told = str(options["messages"])
        answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
        message = {"role": "assistant", "content": answer}
        return ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": message}])


async def ask(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    answer = await litellm.acompletion(model="standin/m", messages=messages)
    return str(answer.choices[0].message.content)


async def main() -> None:
    litellm.custom_provider_map = [{"provider": "standin", "custom_handler": StandIn()}]
    memory = Perdure.open("memory.db")  # memory
    litellm.callbacks = [PerdureLogger(memory, bank=BANK, deadline=30)]  # memory

    await ask("Hello! I am allergic to peanuts.")
    while not memory.operations.list(
        BANK
    ):  # LiteLLM calls back in the background, and turns are retained there too;
        await asyncio.sleep(0.05)  # only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)
    answer = await ask("What am I allergic to?")
    print(answer)
    assert answer == "No peanuts for you."
    await asyncio.sleep(1)
    memory.close()


if __name__ == "__main__":
    asyncio.run(main())
