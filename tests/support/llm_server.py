"""A server on loopback that speaks OpenAI's protocol of chat completions and answers by a script, faults included."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        """The texts of its messages."""
        return [str(message.get("content") or "") for message in self.body["messages"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A completion: a text, a value that is sent as JSON text, or calls of tools."""

    text: str = ""
    value: object = None
    calls: Sequence[tuple[str, object]] = ()
    """Name and arguments of each; arguments that are a text are sent as they are."""
    finish: str | None = None
    """`stop` or `tool_calls` unless given."""
    usage: tuple[int, int] | None = (100, 20)
    """Tokens in and out; None leaves the field out."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the protocol."""

    status: int
    message: str = "the server was told to fail"
    retry_after: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the client leaves or the server is closed."""


@dataclass(frozen=True, slots=True)
class CutBody:
    """A body that ends before the length it was announced with."""

    text: str = '{"id": "1", "choices": [{"mess'


@dataclass(frozen=True, slots=True)
class RawBody:
    """Any body, of status 200."""

    text: str
    content_type: str = "application/json"


ServerStep = Answer | Failure | Hang | CutBody | RawBody
Script = Iterable[ServerStep] | Callable[[ServerRequest], ServerStep]


@dataclass(slots=True)
class _State:
    answer: Callable[[ServerRequest], ServerStep]
    requests: list[ServerRequest] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    def next_step(self, request: ServerRequest) -> ServerStep:
        with self.lock:
            self.requests.append(request)
            return self.answer(request)


class LlmServer:
    """Answers each request by the next step of its script, or by a function of the request, on a free port of loopback.

        with LlmServer([Failure(429, retry_after="1"), Answer(text="Hello.")]) as server:
            Perdure.open("memory.db", llm="any-name", llm_url=server.url)

    When the script is over it answers with status 503.
    """

    def __init__(self, script: Script) -> None:
        self._state = _State(script if callable(script) else _in_order(script))
        handler = type("Handler", (_Handler,), {"state": self._state})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The base URL, as the setting `llm_url` takes it."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def requests(self) -> list[ServerRequest]:
        """The requests so far."""
        with self._state.lock:
            return list(self._state.requests)

    def close(self) -> None:
        """Stop answering."""
        self._state.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _in_order(steps: Iterable[ServerStep]) -> Callable[[ServerRequest], ServerStep]:
    remaining = iter(steps)
    return lambda _: next(remaining, Failure(503, "the script is over"))


class _Handler(BaseHTTPRequestHandler):
    state: _State
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.path != PATH:
            self._send(404, {"error": {"message": f"no route {self.path}"}})
            return
        step = self.state.next_step(ServerRequest(self.path, headers, body))
        match step:
            case Answer():
                self._send(200, _completion(step, str(body.get("model"))))
            case Failure():
                error = {"message": step.message, "type": "error", "code": step.code, "param": None}
                extra = {} if step.retry_after is None else {"Retry-After": step.retry_after}
                self._send(step.status, {"error": error}, extra)
            case Hang():
                self.state.closing.wait()
                self.close_connection = True
            case CutBody():
                self._send_text(200, step.text, "application/json", len(step.text) + 100)
                self.close_connection = True
            case RawBody():
                self._send_text(200, step.text, step.content_type)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def _send(self, status: int, body: object, extra: Mapping[str, str] | None = None) -> None:
        self._send_text(status, json.dumps(body), "application/json", extra=extra)

    def _send_text(
        self,
        status: int,
        text: str,
        content_type: str,
        announced: int | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        payload = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload) if announced is None else announced))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)


def _completion(answer: Answer, model: str) -> dict[str, object]:
    text = answer.text if answer.value is None else json.dumps(answer.value)
    message: dict[str, object] = {"role": "assistant", "content": text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for number, (name, arguments) in enumerate(answer.calls)
        ]
    finish = answer.finish or ("tool_calls" if answer.calls else "stop")
    body: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if answer.usage is not None:
        sent, written = answer.usage
        body["usage"] = {
            "prompt_tokens": sent,
            "completion_tokens": written,
            "total_tokens": sent + written,
        }
    return body
