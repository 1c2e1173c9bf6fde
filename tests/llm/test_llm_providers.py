"""Anthropic's and Google's own protocols, by canned answers on loopback: the adapter sends and reads them like OpenAI's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from perdure.errors import LlmBusy, LlmRefused
from perdure.models.pydantic_ai_llm import PydanticAiLlm
from perdure.models.tokens import ApproximateTokens
from perdure.ports.llm import ChatMessage, Finish, LlmReply, LlmRequest, TokenUsage, Tool, ToolCall

KEY = "sk-ant-very-secret-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
}
ANSWER = '{"facts": ["a"]}'
ANTHROPIC = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": ANSWER}],
    "stop_reason": "max_tokens",
    "stop_sequence": None,
    "usage": {"input_tokens": 7, "output_tokens": 3},
}
GOOGLE = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "MAX_TOKENS", "index": 0}
    ],
    "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10},
}
CASES = {"anthropic:claude-haiku-5-5": ANTHROPIC, "google:gemini-3.8-flash": GOOGLE}


class Canned:
    """Answers every request by the next of its steps: a status and a body."""

    def __init__(self) -> None:
        canned = self
        self.steps: list[tuple[int, object]] = []
        self.bodies: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                canned.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                status, body = canned.steps.pop(0)
                payload = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.send_header("Retry-After", "3")
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canned]:
    one = Canned()
    url = f"http://127.0.0.1:{one.server.server_port}"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
    yield one
    one.server.shutdown()
    one.server.server_close()
    one.thread.join()


def send(name: str, request: LlmRequest) -> LlmReply:
    llm = PydanticAiLlm(name, tokens=ApproximateTokens(), key=KEY)
    try:
        return llm.complete(request)
    finally:
        llm.close()


def asked(**options: Any) -> LlmRequest:
    messages = [ChatMessage(role="system", text="Be short."), ChatMessage(role="user", text="Which facts?")]
    return LlmRequest(messages=options.pop("messages", messages), max_tokens=99, timeout=10.0, **options)


@pytest.mark.parametrize("name", CASES)
def test_a_structured_answer_is_asked_for_and_read(canned: Canned, name: str) -> None:
    canned.steps = [(200, CASES[name])]
    reply = send(name, asked(schema=SCHEMA))
    assert (reply.text, reply.usage, reply.finish) == (ANSWER, TokenUsage(7, 3), Finish.LENGTH)
    sent = json.dumps(canned.bodies[0])
    assert "Be short." in sent
    assert '"facts"' in sent


@pytest.mark.parametrize("name", CASES)
def test_tools_and_their_results_are_sent(canned: Canned, name: str) -> None:
    canned.steps = [(200, CASES[name])]
    tool = Tool(name="recall", description="Search.", parameters={"type": "object", "properties": {}})
    call = ToolCall(id="c1", name="recall", arguments={"query": "Lisbon"})
    messages = [
        ChatMessage(role="user", text="Where?"),
        ChatMessage(role="assistant", text="", calls=(call,)),
        ChatMessage(role="tool", text="In Lisbon.", call_id="c1", tool="recall"),
    ]
    send(name, asked(messages=messages, tools=[tool], must_call_tool=True))
    sent = json.dumps(canned.bodies[0])
    assert "In Lisbon." in sent
    assert '"any"' in sent.lower()


@pytest.mark.parametrize("name", CASES)
def test_errors_are_told_apart_and_have_no_key(canned: Canned, name: str) -> None:
    wrong = {
        "type": "error",
        "error": {"type": "authentication_error", "message": f"bad key {KEY}", "code": 401},
    }
    canned.steps = [
        (429, {"type": "error", "error": {"type": "rate_limit_error", "message": "slow", "code": 429}})
    ]
    with pytest.raises(LlmBusy) as busy:
        send(name, asked())
    assert (busy.value.status, busy.value.retry_after, canned.steps) == (429, 3.0, [])
    canned.steps = [(401, wrong)]
    with pytest.raises(LlmRefused) as refused:
        send(name, asked())
    assert refused.value.status == 401
    assert KEY not in repr([refused.value, refused.value.__context__, refused.value.__cause__])
