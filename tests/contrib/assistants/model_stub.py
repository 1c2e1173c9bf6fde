"""A model's API on loopback for real assistants: it answers OpenAI's responses and Anthropic's messages, and keeps what was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPLY = "Understood."
WHILE_WORKING = "I will look at the hippopotamus first."
"""What the model says beside the call of a tool."""
SHELLS = {"Bash": "command", "exec_command": "cmd", "shell_command": "command"}
"""Tools that run a command, and the argument that holds it."""


class ModelStub:
    """What was asked, in order, and what to answer."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[dict[str, Any]] = []
        """Bodies of requests for an answer to a conversation."""
        self.reply = REPLY
        self.command = ""
        """A command of the shell that the model has run before it answers, in words of its own."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def texts(self, containing: str) -> list[str]:
        """The last request that has these words, as one text per message or instruction."""
        for body in reversed(self.asked):
            texts = list(_texts(body.get("messages") or body.get("input") or []))
            if any(containing in text for text in texts):
                return texts
        return []

    def asks_for_tool(self, body: Mapping[str, Any]) -> str:
        """The name of the assistant's shell, where the command is still to be run."""
        names = [tool.get("name") for tool in body.get("tools") or []]
        messages = json.dumps(body.get("messages") or body.get("input") or [])
        has_run = "tool_result" in messages or "function_call_output" in messages
        return next((name for name in SHELLS if name in names), "") if self.command and not has_run else ""


def _texts(messages: list[Any]) -> Iterator[str]:
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _events(path: str, reply: str) -> list[tuple[str, Mapping[str, object]]]:
    if "/responses" in path:
        item = {
            "type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": reply, "annotations": []}],
        }  # fmt: skip
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        return [
            ("response.created", {"response": {"id": "r1"}}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": {"id": "r1", "usage": usage, "output": [item]}}),
        ]
    message = {
        "id": "m1", "type": "message", "role": "assistant", "model": "stub", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1},
    }  # fmt: skip
    return [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": reply}}),
        ("content_block_stop", {"index": 0}),
        (
            "message_delta",
            {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 5}},
        ),
        ("message_stop", {}),
    ]


def _tool_events(path: str, shell: str, command: str) -> list[tuple[str, Mapping[str, object]]]:
    arguments = json.dumps({SHELLS[shell]: command})
    if "/responses" in path:
        said = {
            "type": "message", "role": "assistant", "id": "m0",
            "content": [{"type": "output_text", "text": WHILE_WORKING, "annotations": []}],
        }  # fmt: skip
        call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": shell, "arguments": arguments}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        return [
            ("response.created", {"response": {"id": "r0"}}),
            ("response.output_item.done", {"output_index": 0, "item": said}),
            ("response.output_item.done", {"output_index": 1, "item": call}),
            ("response.completed", {"response": {"id": "r0", "usage": usage, "output": [said, call]}}),
        ]
    *begun, _, ended = _events(path, WHILE_WORKING)
    use = {"type": "tool_use", "id": "toolu_1", "name": shell, "input": {}}
    return [
        *begun,
        ("content_block_start", {"index": 1, "content_block": use}),
        (
            "content_block_delta",
            {"index": 1, "delta": {"type": "input_json_delta", "partial_json": arguments}},
        ),
        ("content_block_stop", {"index": 1}),
        (
            "message_delta",
            {"delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 5}},
        ),
        ended,
    ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: ModelStub

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send(404, "application/json", b'{"error": {"message": "not here"}}')

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self._send(200, "application/json", b'{"input_tokens": 10}')
            return
        if "/responses" not in self.path and "/messages" not in self.path:
            self.do_GET()
            return
        self.stub.asked.append(body)
        shell = self.stub.asks_for_tool(body) if body.get("stream") else ""
        if shell:
            events = _tool_events(self.path, shell, self.stub.command)
        else:
            events = _events(self.path, self.stub.reply)
        if body.get("stream"):
            lines = [
                f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events
            ]
            self._send(200, "text/event-stream", "".join(lines).encode())
        else:
            whole = {**events[0][1]["message"], "content": [{"type": "text", "text": self.stub.reply}]}  # type: ignore[dict-item]
            self._send(200, "application/json", json.dumps({**whole, "stop_reason": "end_turn"}).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def running_model() -> Iterator[ModelStub]:
    """A stub that listens until the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    stub = handler.stub = ModelStub(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
