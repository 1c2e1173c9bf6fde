"""An Anthropic client that remembers; here it talks to a stand-in for the server, so that this runs anywhere."""

from __future__ import annotations

import json

import httpx2
from anthropic import Anthropic

from perdure import Perdure  # memory
from perdure.contrib.frameworks.anthropic_client import wrap_anthropic  # memory

BANK = "shop.ann"


def serve(request: httpx2.Request) -> httpx2.Response:
    """A model that knows nothing but what stands in the request."""
    told = str(json.loads(request.content)["messages"][-1]["content"])
    answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
    body = {
        "id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": answer}], "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    return httpx2.Response(200, json=body)


def main() -> None:
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(serve)))
    memory = Perdure.open("memory.db")  # memory
    client = wrap_anthropic(client, memory, bank=BANK, deadline=30)  # memory

    ask(client, "Hello! I am allergic to peanuts.")
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)
    assert ask(client, "What am I allergic to?") == "No peanuts for you."
    memory.close()


def ask(client: Anthropic, question: str) -> str:
    """A conversation of one turn: what happened before is in memory alone."""
    reply = client.messages.create(
        model="m", max_tokens=100, messages=[{"role": "user", "content": question}]
    )
    answer = "".join(block.text for block in reply.content if block.type == "text")
    print(f"> {question}\n{answer}")
    return answer


if __name__ == "__main__":
    main()
