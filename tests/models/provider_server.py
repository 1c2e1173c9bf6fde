"""A model provider on loopback: answers from a queue first, then as the real protocols do."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 16


@dataclass
class Reply:
    """An answer to give instead of the right one."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Provider:
    """What was asked, and what to answer next."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


def words(text: str) -> set[str]:
    return {word.strip(".,?!").lower() for word in text.split()}


def vector(text: str) -> list[float]:
    """Not of unit length, so that a client that forgets to normalise is caught."""
    total = [0.5] * DIMENSIONS
    for word in words(text):
        digest = hashlib.sha256(word.encode()).digest()
        total = [value + (byte - 127.5) / 16 for value, byte in zip(total, digest, strict=False)]
    return total


def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """What the real server would say."""
    match path:
        case "/v1/embeddings":
            data = [
                {"object": "embedding", "index": number, "embedding": vector(text)}
                for number, text in enumerate(body["input"])
            ]
            return 200, {
                "object": "list",
                "model": body["model"],
                "data": data[::-1],
                "usage": {"total_tokens": 1},
            }
        case "/api/embed":
            return 200, {"model": body["model"], "embeddings": [vector(text) for text in body["input"]]}
        case _:
            return 404, {"error": "no such path"}


@contextmanager
def running() -> Iterator[Provider]:
    """The provider, answering on a free port of loopback."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            body = json.loads(raw)
            provider.requests.append((self.path, dict(self.headers), body))
            if provider.replies:
                reply = provider.replies.pop(0)
                time.sleep(reply.delay)
                self._send(reply.status, reply.body, reply.headers)
                return
            status, found = answer(self.path, body)
            self._send(status, json.dumps(found).encode(), {"content-type": "application/json"})

        def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the client gave up waiting

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
