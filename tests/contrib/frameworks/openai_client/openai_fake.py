"""A stand-in for OpenAI's servers, behind the client's own HTTP: chat completions and responses, whole or streamed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.contrib.frameworks.checklist import LOOKUP


@dataclass
class FakeOpenAI:
    """Replies in order; each is a text, or None for a call of the tool. Notes the bodies of all requests."""

    replies: list[str | None] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        reply = self.replies.pop(0)
        answer = chat_answer(reply) if "messages" in body else response_answer(reply, len(self.bodies))
        if not body.get("stream"):
            return httpx2.Response(200, json=answer)
        events = chat_chunks(reply) if "messages" in body else response_events(reply, answer)
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=text.encode())

    def transport(self) -> httpx2.MockTransport:
        return httpx2.MockTransport(self)


def chat_answer(reply: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply}
    if reply is None:
        message["tool_calls"] = [
            {"id": "call_1", "type": "function", "function": {"name": LOOKUP, "arguments": "{}"}}
        ]
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chat_chunks(reply: str | None) -> list[dict[str, Any]]:
    deltas = [{"content": piece} for piece in _pieces(reply or "")]
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    told = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [*told, last, {**chunk, "choices": []}]


def response_answer(reply: str | None, number: int) -> dict[str, Any]:
    if reply is None:
        item: dict[str, Any] = {
            "type": "function_call", "id": "f", "call_id": "call_1", "name": LOOKUP, "arguments": "{}",
        }  # fmt: skip
    else:
        text = {"type": "output_text", "text": reply, "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1, "model": "m", "status": "completed",
        "output": [item], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def response_events(reply: str | None, answer: dict[str, Any]) -> list[dict[str, Any]]:
    place = {"item_id": "m", "output_index": 0, "content_index": 0, "logprobs": []}
    deltas = [
        {"type": "response.output_text.delta", "sequence_number": 1, "delta": piece, **place}
        for piece in _pieces(reply or "")
    ]
    item = answer["output"][0]
    return [
        {"type": "response.created", "sequence_number": 0, "response": {**answer, "output": []}},
        {"type": "response.output_item.added", "sequence_number": 0, "output_index": 0,
         "item": {**item, "content": []}},
        {"type": "response.content_part.added", "sequence_number": 0, "item_id": "m", "output_index": 0,
         "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}},
        *deltas,
        {"type": "response.completed", "sequence_number": 9, "response": answer},
    ]  # fmt: skip


def _pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]
