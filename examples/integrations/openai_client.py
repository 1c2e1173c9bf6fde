"""An OpenAI client that remembers; here it talks to a stand-in for the server, so that this runs anywhere."""

from __future__ import annotations

import json

import httpx2
from openai import OpenAI

from perdure import Perdure  # memory
from perdure.contrib.frameworks.openai_client import wrap_openai  # memory

BANK = "shop.ann"


def serve(request: httpx2.Request) -> httpx2.Response:
    """A model that knows nothing but what stands in the request."""
    told = json.loads(request.content)["messages"][-1]["content"]
    answer = "No peanuts for you." if "allergic to peanuts" in told else "What do you like?"
    message = {"role": "assistant", "content": answer}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return httpx2.Response(200, json=body)


def main() -> None:
    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(serve)))
    memory = Perdure.open("memory.db")  # memory
    client = wrap_openai(client, memory, bank=BANK, deadline=30)  # memory

    ask(client, "Hello! I am allergic to peanuts.")
    # Turns are retained in the background; only this script is in a hurry.
    for operation in memory.operations.list(BANK):
        memory.operations.get(BANK, operation.id, wait=120)
    assert ask(client, "What am I allergic to?") == "No peanuts for you."
    memory.close()


def ask(client: OpenAI, question: str) -> str:
    """A conversation of one turn: what happened before is in memory alone."""
    completion = client.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
    answer = completion.choices[0].message.content or ""
    print(f"> {question}\n{answer}")
    return answer


if __name__ == "__main__":
    main()
